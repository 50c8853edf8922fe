/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/service.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/bus-connection.h"
#include "edge/common/log.h"
#include <errno.h>
#include <string.h>
#include <syslog.h>

/* Names whose owner is being asked for, and calls of one that wait for that. */
#define STRANGERS_MAX 64U
#define HELD_MAX 8U
#define CREDENTIALS_USEC (10 * SG_USEC_PER_SEC)

struct sg_bus_service {
        struct sg_bus_connection *connection;
        char *name;
        struct sg_places places; /* of those that are known */
        struct sg_list strangers;
        unsigned n_strangers;
        const struct sg_bus_service_ops *ops;
        void *userdata;
        bool complained; /* of the name */
};

/* A stranger until `known`. Calls stay in `held` until they come by again, so that those of one
 * caller keep their order. */
struct visitor {
        struct sg_client client; /* first, so that either is found from the other */
        struct sg_bus_service *service;
        sd_bus_slot *owner_slot, *credentials_slot;
        sd_bus_message *held[HELD_MAX];
        bool known;
};

/* Visitors */

static void visitor_drop(struct visitor *v)
{
        struct sg_bus_service *s = v->service;

        if (v->known)
                s->ops->disconnected(&v->client, s->userdata);
        else
                s->n_strangers--;
        sg_places_give(&s->places, &v->client);
        sd_bus_slot_unref(v->owner_slot);
        sd_bus_slot_unref(v->credentials_slot);
        for (unsigned i = 0; i < v->client.n_held; i++)
                sd_bus_message_unref(v->held[i]);
        sd_bus_unref(v->client.bus);
        sg_client_deinit(&v->client);
        free(v);
}

static void visitor_refuse(struct visitor *v, const char *error, const char *what)
{
        for (unsigned i = 0; i < v->client.n_held; i++)
                (void)sd_bus_reply_method_errorf(v->held[i], error, "%s", what);
        visitor_drop(v);
}

static void drop(struct sg_client *c)
{
        visitor_drop((struct visitor *)c);
}

/* The calls of a caller who is known now go to the end of what the bus has read, and come by
 * on_message() again. */
static void visitor_admit(struct visitor *v)
{
        struct sg_bus_service *s = v->service;

        v->known = true;
        s->n_strangers--;
        for (unsigned i = 0; i < v->client.n_held; i++)
                if (sd_bus_enqueue_for_read(v->client.bus, v->held[i]) < 0) {
                        visitor_refuse(v, SD_BUS_ERROR_NO_MEMORY, "out of memory");
                        return;
                }
}

static int on_credentials(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        struct visitor *v = userdata;
        int r;

        (void)error;
        v->credentials_slot = sd_bus_slot_unref(v->credentials_slot);
        if (sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NAME_HAS_NO_OWNER)) {
                visitor_drop(v);
                return 0;
        }
        r = sd_bus_message_get_errno(reply);
        r = r > 0 ? -r : sg_caller_from_credentials(&v->client.caller, reply);
        if (r < 0)
                visitor_refuse(v, SD_BUS_ERROR_ACCESS_DENIED,
                               r == -ESRCH ? "cannot find out who asks: the process has gone"
                                           : "cannot find out who is calling");
        else if (sg_places_take(&v->service->places, &v->client) < 0)
                visitor_refuse(v, SD_BUS_ERROR_LIMITS_EXCEEDED,
                               "too many connections of this user ask at once");
        else
                visitor_admit(v);
        return 0;
}

static int on_owner_gone(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        (void)m;
        (void)error;
        visitor_drop(userdata);
        return 0;
}

/* A caller isn't served if we wouldn't hear when its name goes. */
static int on_match_installed(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        (void)error;
        if (sd_bus_message_is_method_error(reply, NULL))
                visitor_refuse(userdata, SD_BUS_ERROR_LIMITS_EXCEEDED,
                               "the message bus allows no more callers");
        return 0;
}

/* The match is asked for before the credentials: a name that goes away in between is reported by
 * one of the two. */
static int visitor_ask(struct visitor *v)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *ask = NULL;
        sd_bus *bus = v->client.bus;
        char match[256];
        int r;

        (void)snprintf(match, sizeof(match),
                       "type='signal',sender='org.freedesktop.DBus',"
                       "interface='org.freedesktop.DBus',member='NameOwnerChanged',"
                       "path='/org/freedesktop/DBus',arg0='%s',arg2=''",
                       v->client.name);
        r = sd_bus_add_match_async(bus, &v->owner_slot, match, on_owner_gone, on_match_installed,
                                   v);
        if (r >= 0)
                r = sd_bus_message_new_method_call(bus, &ask, "org.freedesktop.DBus",
                                                   "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                                   "GetConnectionCredentials");
        if (r >= 0)
                r = sd_bus_message_append(ask, "s", v->client.name);
        if (r >= 0)
                r = sd_bus_call_async(bus, &v->credentials_slot, ask, on_credentials, v,
                                      CREDENTIALS_USEC);
        return r;
}

static int visitor_new(struct sg_bus_service *s, sd_bus *bus, const char *name,
                       struct visitor **ret)
{
        struct visitor *v;
        int r;

        if (s->n_strangers >= STRANGERS_MAX)
                return -EBUSY;
        v = calloc(1, sizeof(*v));
        if (!v)
                return -ENOMEM;
        v->service = s;
        sg_client_init(&v->client);
        v->client.drop = drop;
        v->client.bus = sd_bus_ref(bus);
        sg_list_append(&s->strangers, &v->client.link);
        s->n_strangers++;
        v->client.name = strdup(name);
        r = v->client.name ? visitor_ask(v) : -ENOMEM;
        if (r < 0) {
                visitor_drop(v);
                return r;
        }
        *ret = v;
        return 0;
}

static struct visitor *find_in(struct sg_list *list, const char *name)
{
        struct sg_client *c;

        sg_list_foreach (c, list, link)
                if (strcmp(c->name, name) == 0)
                        return (struct visitor *)c;
        return NULL;
}

/* Calls */

static int refuse(sd_bus_message *call, int error)
{
        (void)sd_bus_reply_method_errorf(call, SD_BUS_ERROR_LIMITS_EXCEEDED,
                                         error == -EBUSY ? "too many requests at once; try again"
                                                         : "cannot find out who is calling");
        return 1;
}

/* Keeps a call until its caller is known, behind what the caller has asked before. */
static int hold(struct visitor *v, sd_bus_message *call)
{
        if (v->client.n_held == HELD_MAX)
                return refuse(call, -EBUSY);
        if (v->known && sd_bus_enqueue_for_read(v->client.bus, call) < 0)
                return refuse(call, -ENOMEM);
        v->held[v->client.n_held++] = sd_bus_message_ref(call);
        return 1;
}

static void let_through(struct visitor *v)
{
        sd_bus_message_unref(v->held[0]);
        v->client.n_held--;
        memmove(&v->held[0], &v->held[1], v->client.n_held * sizeof(v->held[0]));
}

/* 0: the call goes on to the objects. */
static int on_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct sg_bus_service *s = userdata;
        const char *sender = sd_bus_message_get_sender(m);
        struct visitor *v;
        int r;

        (void)error;
        if (!sender || sd_bus_message_is_method_call(m, NULL, NULL) <= 0)
                return 0;
        v = find_in(&s->places.clients, sender);
        if (!v)
                v = find_in(&s->strangers, sender);
        if (!v) {
                r = visitor_new(s, sd_bus_message_get_bus(m), sender, &v);
                if (r < 0)
                        return refuse(m, r);
        }
        if (v->client.n_held > 0 && v->known && v->held[0] == m)
                let_through(v);
        else if (v->client.n_held > 0 || !v->known)
                return hold(v, m);
        v->client.called_usec = sg_now_monotonic_usec();
        return sg_client_reads(&v->client) ? 0 : 1;
}

/* The bus */

static int on_name(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        struct sg_bus_service *s = userdata;
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        uint32_t result = 0;

        (void)error;
        if (!e && sd_bus_message_read(reply, "u", &result) >= 0 && result == 1) {
                s->complained = false;
                return 0;
        }
        if (!s->complained)
                sg_log(LOG_NOTICE, "cannot be %s on the message bus: %s", s->name,
                       e ? e->message : "somebody else is, and we are next");
        s->complained = true;
        return 0;
}

static int on_up(sd_bus *bus, void *userdata)
{
        struct sg_bus_service *s = userdata;
        int r;

        r = sd_bus_add_filter(bus, NULL, on_message, s);
        if (r >= 0)
                r = s->ops->publish(bus, s->userdata);
        if (r >= 0)
                r = sd_bus_request_name_async(bus, NULL, s->name, SD_BUS_NAME_QUEUE, on_name, s);
        return r;
}

static void on_down(sd_bus *bus, void *userdata)
{
        struct sg_bus_service *s = userdata;
        struct sg_client *c, *next;

        (void)bus;
        sg_list_foreach_safe (c, next, &s->places.clients, link)
                visitor_drop((struct visitor *)c);
        sg_list_foreach_safe (c, next, &s->strangers, link)
                visitor_drop((struct visitor *)c);
}

static const struct sg_bus_connection_ops connection_ops = {
        .purpose = "API on it",
        .up = on_up,
        .down = on_down,
};

int sg_bus_service_new(struct sg_bus_service **ret, const struct sg_bus_host *host, bool user,
                       const char *name, const struct sg_bus_service_ops *ops)
{
        struct sg_bus_service *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        sg_places_init(&s->places, host->ledger, SG_CHARGE_CALLERS);
        sg_list_init(&s->strangers);
        s->ops = ops;
        s->userdata = host->userdata;
        s->name = strdup(name);
        r = s->name ? sg_bus_connection_new(&s->connection, host->event, user, &connection_ops, s)
                    : -ENOMEM;
        if (r < 0) {
                sg_bus_service_free(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct sg_bus_service *sg_bus_service_free(struct sg_bus_service *s)
{
        if (!s)
                return NULL;
        sg_bus_connection_free(s->connection);
        free(s->name);
        free(s);
        return NULL;
}

struct sg_client *sg_bus_service_find(struct sg_bus_service *s, sd_bus_message *call)
{
        const char *sender = sd_bus_message_get_sender(call);
        struct visitor *v;

        if (!sender || !sg_bus_service_bus(s) ||
            sd_bus_message_get_bus(call) != sg_bus_service_bus(s))
                return NULL;
        v = find_in(&s->places.clients, sender);
        return v ? &v->client : NULL;
}

struct sg_list *sg_bus_service_clients(struct sg_bus_service *s)
{
        return &s->places.clients;
}

sd_bus *sg_bus_service_bus(struct sg_bus_service *s)
{
        return s ? sg_bus_connection_get(s->connection) : NULL;
}
