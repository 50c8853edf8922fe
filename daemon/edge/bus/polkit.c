/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/polkit.h"
#include "base/cleanup.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define POLKIT "org.freedesktop.PolicyKit1"
#define POLKIT_PATH "/org/freedesktop/PolicyKit1/Authority"
#define POLKIT_AUTHORITY "org.freedesktop.PolicyKit1.Authority"
#define ALLOW_USER_INTERACTION 1U
/* A rule answers in milliseconds, but polkit may have to be started first; people take longer. */
#define ANSWER_USEC (10ULL * 1000000)
#define DIALOGUE_USEC (300ULL * 1000000)

struct sg_polkit_question {
        sd_bus *bus;
        sd_bus_slot *slot;
        char id[32]; /* to cancel it by */
        sg_polkit_cb cb;
        void *userdata;
};

static struct sg_polkit_question *question_free(struct sg_polkit_question *q)
{
        sd_bus_slot_unref(q->slot);
        sd_bus_unref(q->bus);
        free(q);
        return NULL;
}

/* The answer */

static enum sg_polkit_verdict verdict_of_error(sd_bus *bus, const sd_bus_error *e)
{
        static const char *const nobody[] = {
                "org.freedesktop.DBus.Error.ServiceUnknown",
                "org.freedesktop.DBus.Error.NameHasNoOwner",
                "org.freedesktop.systemd1.Masked",
                "org.freedesktop.systemd1.NoSuchUnit",
        };
        static const char unregistered[] = " is not registered";
        size_t n = e->message ? strlen(e->message) : 0;

        for (size_t i = 0; i < SG_ELEMENTSOF(nobody); i++)
                if (strcmp(e->name, nobody[i]) == 0)
                        return SG_POLKIT_ABSENT;
        if (sd_bus_is_open(bus) <= 0) /* the bus went away, and polkit with it */
                return SG_POLKIT_ABSENT;
        if (strcmp(e->name, POLKIT ".Error.Cancelled") == 0)
                return SG_POLKIT_NO;
        /* Our actions aren't installed: it has no error of its own for that. */
        if (strcmp(e->name, POLKIT ".Error.Failed") == 0 && n >= sizeof(unregistered) - 1 &&
            strcmp(e->message + n - (sizeof(unregistered) - 1), unregistered) == 0)
                return SG_POLKIT_ABSENT;
        return SG_POLKIT_SILENT;
}

static int read_answer(sd_bus_message *m, struct sg_polkit_answer *ret)
{
        int authorized, challenge, r;
        const char *key, *value;
        bool temporary = false;

        r = sd_bus_message_enter_container(m, 'r', "bba{ss}");
        if (r >= 0)
                r = sd_bus_message_read(m, "bb", &authorized, &challenge);
        if (r >= 0)
                r = sd_bus_message_enter_container(m, 'a', "{ss}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_read(m, "{ss}", &key, &value)) > 0)
                if (strcmp(key, "polkit.temporary_authorization_id") == 0)
                        temporary = true;
        if (r < 0)
                return r;
        ret->verdict = authorized ? SG_POLKIT_YES : challenge ? SG_POLKIT_ASK : SG_POLKIT_NO;
        ret->lasting = !challenge && !temporary;
        return 0;
}

static int on_answer(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_polkit_question *q = userdata;
        const sd_bus_error *e = sd_bus_message_get_error(m);
        struct sg_polkit_answer answer = {.verdict = SG_POLKIT_SILENT};
        sg_polkit_cb cb = q->cb;

        (void)error;
        userdata = q->userdata;
        if (e)
                answer.verdict = verdict_of_error(q->bus, e);
        else
                (void)read_answer(m, &answer); /* what can't be read is no answer */
        question_free(q);
        cb(answer, userdata);
        return 0;
}

/* The question */

static int append_subject(sd_bus_message *m, sd_bus *bus, const struct sg_client *c)
{
        uint64_t started;
        int r;

        if (c->bus == bus)
                return sd_bus_message_append(m, "(sa{sv})", "system-bus-name", 1, "name", "s",
                                             c->name);
        r = sg_caller_start_ticks(&c->caller, &started);
        if (r < 0)
                return r;
        return sd_bus_message_append(m, "(sa{sv})", "unix-process", 3, "pid", "u",
                                     (uint32_t)c->caller.pid, "start-time", "t", started, "uid",
                                     "i", (int32_t)c->caller.uid);
}

static int append_details(sd_bus_message *m, const struct sg_polkit_details *d)
{
        const char *const details[][2] = {{"verb", d->verb}, {"job", d->job}, {"user", d->user}};
        int r;

        r = sd_bus_message_open_container(m, 'a', "{ss}");
        for (size_t i = 0; r >= 0 && i < SG_ELEMENTSOF(details); i++)
                if (details[i][1])
                        r = sd_bus_message_append(m, "{ss}", details[i][0], details[i][1]);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int send_question(struct sg_polkit_question *q, const struct sg_polkit_request *request)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_method_call(q->bus, &m, POLKIT, POLKIT_PATH, POLKIT_AUTHORITY,
                                           "CheckAuthorization");
        if (r >= 0)
                r = append_subject(m, q->bus, request->client);
        if (r >= 0)
                r = sd_bus_message_append(m, "s", request->action);
        if (r >= 0)
                r = append_details(m, &request->details);
        if (r >= 0)
                r = sd_bus_message_append(
                        m, "us", request->interactive ? ALLOW_USER_INTERACTION : 0U, q->id);
        if (r >= 0)
                r = sd_bus_call_async(q->bus, &q->slot, m, on_answer, q,
                                      request->interactive ? DIALOGUE_USEC : ANSWER_USEC);
        return r;
}

int sg_polkit_ask(struct sg_polkit_question **ret, sd_bus *bus,
                  const struct sg_polkit_request *request, sg_polkit_cb cb, void *userdata)
{
        static uint64_t n;
        struct sg_polkit_question *q = calloc(1, sizeof(*q));
        int r;

        if (!q)
                return -ENOMEM;
        q->bus = sd_bus_ref(bus);
        q->cb = cb;
        q->userdata = userdata;
        (void)snprintf(q->id, sizeof(q->id), "schedgov-%" PRIu64, ++n);
        r = send_question(q, request);
        if (r < 0) {
                question_free(q);
                return r;
        }
        *ret = q;
        return 0;
}

struct sg_polkit_question *sg_polkit_cancel(struct sg_polkit_question *q)
{
        if (!q)
                return NULL;
        (void)sd_bus_call_method_async(q->bus, NULL, POLKIT, POLKIT_PATH, POLKIT_AUTHORITY,
                                       "CancelCheckAuthorization", NULL, NULL, "s", q->id);
        return question_free(q);
}
