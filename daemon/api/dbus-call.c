/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls that came as messages of D-Bus. */
#include "api/dbus.h"
#include "api/internal.h"
#include "edge/bus/answer.h"
#include "edge/bus/reply.h"
#include "edge/bus/request.h"
#include <errno.h>

struct bus_call {
        struct sg_call call; /* first, so that either is found from the other */
        unsigned n_refs;
        sd_bus_message *message;
        struct sg_bus_reply reply;
};

static struct bus_call *of(const struct sg_call *c)
{
        return (struct bus_call *)c;
}

int sg_dbus_call_new(struct sg_call **ret, struct sg_manager *m, enum sg_request_verb verb,
                     sd_bus_message *message)
{
        struct bus_call *c = calloc(1, sizeof(*c));

        if (!c)
                return -ENOMEM;
        c->call = (struct sg_call){m, verb};
        c->n_refs = 1;
        c->message = sd_bus_message_ref(message);
        *ret = &c->call;
        return 0;
}

struct sg_call *sg_call_ref(struct sg_call *c)
{
        of(c)->n_refs++;
        return c;
}

struct sg_call *sg_call_unref(struct sg_call *c)
{
        if (!c || --of(c)->n_refs > 0)
                return NULL;
        sg_bus_reply_deinit(&of(c)->reply);
        sd_bus_message_unref(of(c)->message);
        free(of(c));
        return NULL;
}

struct sg_client *sg_dbus_client(struct sg_manager *m, sd_bus_message *message)
{
        struct sg_client *c = NULL;

        if (m->server)
                c = sg_bus_server_find(m->server, sd_bus_message_get_bus(message));
        if (!c && m->service)
                c = sg_bus_service_find(m->service, message);
        return c;
}

struct sg_client *sg_call_client(const struct sg_call *c)
{
        return sg_dbus_client(c->manager, of(c)->message);
}

int sg_call_read(struct sg_call *c, struct sg_request *q, struct sg_answer *a)
{
        return sg_bus_read_request(of(c)->message, q, a);
}

bool sg_call_may_prompt(const struct sg_call *c)
{
        return sd_bus_message_get_allow_interactive_authorization(of(c)->message) > 0;
}

int sg_call_again(struct sg_call *c)
{
        sd_bus_message *message = of(c)->message;

        return sd_bus_enqueue_for_read(sd_bus_message_get_bus(message), message);
}

bool sg_call_is_same(const struct sg_call *a, const struct sg_call *b)
{
        return of(a)->message == of(b)->message;
}

/* --- answers */

void sg_call_refuse(struct sg_call *c, const struct sg_answer *a, int error)
{
        sg_bus_reply_refusal(of(c)->message, a, error);
}

void sg_call_done(struct sg_call *c)
{
        (void)sd_bus_reply_method_return(of(c)->message, NULL);
}

struct sg_reply *sg_call_reply(struct sg_call *c)
{
        struct sg_bus_reply *b = &of(c)->reply;

        if (!b->message && b->reply.error >= 0)
                b->reply.error = sg_bus_reply_init(b, of(c)->message);
        return &b->reply;
}

int sg_call_send(struct sg_call *c)
{
        const struct sg_reply *r = sg_call_reply(c);

        return r->error < 0 ? r->error : sd_bus_send(NULL, of(c)->reply.message, NULL);
}

int sg_call_send_large(struct sg_call *c, uint64_t bytes)
{
        const struct sg_reply *r = sg_call_reply(c);
        struct sg_client *client = sg_call_client(c);

        if (r->error < 0 || !client)
                return r->error < 0 ? r->error : 1;
        return sg_client_reply(client, of(c)->reply.message, bytes);
}
