/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is asked of systemd about units that it started for others: all of it is asynchronous, and
 * one question each. */

#include "base/cleanup.h"
#include "edge/cgroup/systemd/call.h"
#include "edge/cgroup/systemd/foreign.h"
#include "edge/cgroup/systemd/internal.h"
#include "edge/common/log.h"
#include <errno.h>
#include <string.h>
#include <syslog.h>

#define UNIT_PREFIX SG_SYSTEMD_PATH "/unit"

/* --- calls */

struct call {
        struct sg_list link; /* unit.calls */
        struct sg_scope *scope;
        sd_bus_slot *slot;
        sg_scope_done_cb done;
        void *userdata;
};

static void call_free(struct call *c)
{
        sg_list_remove(&c->link);
        sd_bus_slot_unref(c->slot);
        free(c);
}

void sg_unit_forget_calls(struct sg_unit *u)
{
        struct call *c, *next;

        sg_list_foreach_safe (c, next, &u->calls, link) {
                sg_scope_done_cb done = c->done;
                void *theirs = c->userdata;

                call_free(c);
                if (done)
                        done(u->scope, -ECANCELED, "it has ended meanwhile", theirs);
        }
}

static int on_called(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        struct call *c = userdata;
        struct sg_scope *s = c->scope;
        sg_scope_done_cb done = c->done;
        void *theirs = c->userdata;

        (void)error;
        call_free(c);
        if (done)
                done(s, e ? -EIO : 0, e ? e->message ?: e->name : NULL, theirs);
        else if (e && !sd_bus_error_has_name(e, SG_SYSTEMD_ERROR("NoSuchUnit")))
                sg_log(LOG_WARNING, "%s: systemd refused a call: %s", s->unit->name,
                       e->message ?: e->name);
        return 0;
}

static int send_call(struct call *c, const char *method, int sig)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        struct sg_systemd *sd = c->scope->unit->systemd;
        int r;

        r = sg_systemd_new_call(sd, &m, method);
        if (r >= 0)
                r = sd_bus_message_append(m, "s", c->scope->unit->name);
        if (r >= 0 && sig > 0)
                r = sd_bus_message_append(m, "si", "all", (int32_t)sig);
        return r < 0 ? r
                     : sd_bus_call_async(sg_bus_connection_get(sd->connection), &c->slot, m,
                                         on_called, c, 0);
}

int sg_unit_call(struct sg_scope *s, const char *method, int sig, sg_scope_done_cb done,
                 void *userdata)
{
        struct call *c;
        int r;

        if (!s->unit)
                return -EOPNOTSUPP;
        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        c->scope = s;
        c->done = done;
        c->userdata = userdata;
        sg_list_append(&s->unit->calls, &c->link);
        r = send_call(c, method, sig);
        if (r < 0)
                call_free(c);
        return r;
}

/* --- questions */

struct sg_unit_question {
        sd_bus_slot *slot;
        sg_unit_facts_cb answered;
        void *userdata;
};

struct sg_unit_question *sg_unit_question_free(struct sg_unit_question *q)
{
        if (!q)
                return NULL;
        sd_bus_slot_unref(q->slot);
        free(q);
        return NULL;
}

static int read_id(sd_bus_message *m, char ret[SG_INVOCATION_ID_MAX])
{
        const uint8_t *id;
        size_t n;
        int r;

        r = sd_bus_message_enter_container(m, 'v', "ay");
        if (r >= 0)
                r = sd_bus_message_read_array(m, 'y', (const void **)&id, &n);
        if (r < 0)
                return r;
        for (size_t i = 0; n == 16 && i < n; i++)
                (void)snprintf(ret + 2 * i, 3, "%02x", id[i]);
        return sd_bus_message_exit_container(m);
}

static int read_text(sd_bus_message *m, char ret[32])
{
        const char *s;
        int r = sd_bus_message_read(m, "v", "s", &s);

        if (r >= 0)
                (void)snprintf(ret, 32, "%s", s);
        return r;
}

static int read_fact(sd_bus_message *m, const char *name, struct sg_unit_facts *f)
{
        const char *s;
        int r;

        if (strcmp(name, "InvocationID") == 0)
                return read_id(m, f->invocation);
        if (strcmp(name, "ActiveState") == 0)
                return read_text(m, f->state);
        if (strcmp(name, "Result") == 0)
                return read_text(m, f->result);
        if (strcmp(name, "ExecMainCode") == 0)
                return sd_bus_message_read(m, "v", "i", &f->main_code);
        if (strcmp(name, "ExecMainStatus") == 0)
                return sd_bus_message_read(m, "v", "i", &f->main_status);
        if (strcmp(name, "ControlGroup") != 0)
                return sd_bus_message_skip(m, "v");
        r = sd_bus_message_read(m, "v", "s", &s);
        if (r < 0 || !*s || f->group)
                return r;
        f->group = strdup(s);
        return f->group ? 0 : -ENOMEM;
}

static int read_facts(sd_bus_message *reply, struct sg_unit_facts *ret)
{
        struct sg_unit_facts f = {.group = NULL};
        int r;

        r = sd_bus_message_enter_container(reply, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
                const char *name;

                r = sd_bus_message_read(reply, "s", &name);
                if (r >= 0)
                        r = read_fact(reply, name, &f);
                if (r >= 0)
                        r = sd_bus_message_exit_container(reply);
        }
        if (r < 0) {
                free(f.group);
                return r;
        }
        *ret = f;
        return 0;
}

/* What called back may have freed the question. */
static int on_facts(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        const struct sg_unit_question *q = userdata;
        struct sg_unit_facts f = {.group = NULL};

        (void)error;
        if (e)
                q->answered(NULL, e->message ?: e->name, q->userdata);
        else
                q->answered(read_facts(reply, &f) >= 0 ? &f : NULL, NULL, q->userdata);
        free(f.group);
        return 0;
}

static int send_question(struct sg_unit_question *q, sd_bus *bus, const char *unit)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        _cleanup_free_ char *path = NULL;
        int r;

        r = sd_bus_path_encode(UNIT_PREFIX, unit, &path);
        if (r >= 0)
                r = sd_bus_message_new_method_call(bus, &m, SG_SYSTEMD_NAME, path,
                                                   "org.freedesktop.DBus.Properties", "GetAll");
        if (r >= 0) /* of all its interfaces: what matters is in two, and this is one call */
                r = sd_bus_message_append(m, "s", "");
        return r < 0 ? r : sd_bus_call_async(bus, &q->slot, m, on_facts, q, 0);
}

int sg_unit_ask(struct sg_unit_question **ret, struct sg_backend *b, const char *unit,
                sg_unit_facts_cb answered, void *userdata)
{
        struct sg_unit_question *q;
        sd_bus *bus;
        int r;

        if (!b->systemd)
                return -EOPNOTSUPP;
        bus = sg_bus_connection_get(b->systemd->connection);
        if (!bus)
                return -ENOTCONN;
        q = malloc(sizeof(*q));
        if (!q)
                return -ENOMEM;
        *q = (struct sg_unit_question){.answered = answered, .userdata = userdata};
        r = send_question(q, bus, unit);
        if (r < 0) {
                sg_unit_question_free(q);
                return r;
        }
        *ret = q;
        return 0;
}
