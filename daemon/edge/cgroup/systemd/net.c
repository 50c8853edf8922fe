/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Network bytes of units, by systemd's IP accounting. PID 1 is asked, as its programs are its own;
 * how often says core/measure/net-count.h. Who reads gets what was answered last.
 */

#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/cgroup/systemd/call.h"
#include "edge/cgroup/systemd/internal.h"
#include <errno.h>
#include <string.h>

static const char *const properties[SG_NET_WAYS] = {"IPIngressBytes", "IPEgressBytes"};

static const char *interface_of(const struct sg_unit *u)
{
        const char *type = strrchr(u->name, '.');

        if (type && strcmp(type, ".scope") == 0)
                return SG_SYSTEMD_NAME ".Scope";
        return type && strcmp(type, ".service") == 0 ? SG_SYSTEMD_NAME ".Service" : NULL;
}

/* Switches accounting on: it counts from here on. Units of ours have it from their making. */
static void switch_on(struct sg_unit *u)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        if (u->scope->ops->scope_place || u->net.switched_on)
                return;
        u->net.switched_on = true;
        r = sg_systemd_new_set(u->systemd, &m, u->name);
        if (r >= 0)
                r = sd_bus_message_append(m, "(sv)", "IPAccounting", "b", 1);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        if (r >= 0)
                (void)sg_systemd_send(u->systemd, m, SG_SYSTEMD_ERROR("NoSuchUnit"));
}

static void ask_next(struct sg_systemd *sd);

static int on_answer(struct sg_unit *u, enum sg_net_way way, sd_bus_message *reply)
{
        struct sg_unit_net *net = &u->net;
        struct sg_systemd *sd = u->systemd;

        net->slots[way] = sd_bus_slot_unref(net->slots[way]);
        if (sd_bus_message_is_method_error(reply, NULL) > 0 ||
            sd_bus_message_read(reply, "v", "t", &net->answer[way]) < 0)
                net->failed = true; /* it is away, or the unit is: nothing was learned */
        if (net->slots[SG_NET_RX] || net->slots[SG_NET_TX])
                return 0;
        sd->net_counts.n_in_flight--;
        if (!net->failed && !sg_net_count_answered(&net->count, net->answer))
                switch_on(u);
        ask_next(sd);
        return 0;
}

static int on_rx(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        (void)error;
        return on_answer(userdata, SG_NET_RX, reply);
}

static int on_tx(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        (void)error;
        return on_answer(userdata, SG_NET_TX, reply);
}

static int ask_for(struct sg_unit *u, sd_bus *bus, const char *path, enum sg_net_way way)
{
        _cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, SG_SYSTEMD_NAME, path,
                                           "org.freedesktop.DBus.Properties", "Get");
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", interface_of(u), properties[way]);
        return r < 0 ? r
                     : sd_bus_call_async(bus, &u->net.slots[way], m,
                                         way == SG_NET_RX ? on_rx : on_tx, u, 0);
}

/* A question that can't be sent now is asked when the figure is read next. */
static int ask(struct sg_unit *u)
{
        sd_bus *bus = sg_bus_connection_get(u->systemd->connection);
        _cleanup_free_ char *path = NULL;
        int r;

        if (!bus)
                return -ENOTCONN;
        r = sd_bus_path_encode(SG_SYSTEMD_PATH "/unit", u->name, &path);
        if (r >= 0)
                r = ask_for(u, bus, path, SG_NET_RX);
        if (r >= 0)
                r = ask_for(u, bus, path, SG_NET_TX);
        if (r < 0) {
                u->net.slots[SG_NET_RX] = sd_bus_slot_unref(u->net.slots[SG_NET_RX]);
                return r;
        }
        u->net.failed = false;
        return 0;
}

static void ask_next(struct sg_systemd *sd)
{
        while (sg_net_counts_may_ask(&sd->net_counts) && !sg_list_empty(&sd->net_waiting)) {
                struct sg_unit *u =
                        sg_list_entry(sd->net_waiting.next, struct sg_unit, net.waiting);

                sg_list_remove(&u->net.waiting);
                sd->net_counts.n_in_flight += ask(u) >= 0;
        }
}

static bool is_being_asked(const struct sg_unit_net *net)
{
        return net->slots[SG_NET_RX] || net->slots[SG_NET_TX] || !sg_list_empty(&net->waiting);
}

static bool is_due(struct sg_unit *u)
{
        return interface_of(u) && !is_being_asked(&u->net) &&
               sg_net_count_due(&u->systemd->net_counts, &u->net.count, sg_now_monotonic_usec());
}

int sg_unit_net(struct sg_scope *s, uint64_t *ret_rx, uint64_t *ret_tx)
{
        struct sg_unit *u = s->unit;

        /* A user's manager has no right to count. */
        if (!u || u->systemd->user)
                return -ENODATA;
        if (s->n_dirs > 0 && is_due(u)) {
                sg_list_append(&u->systemd->net_waiting, &u->net.waiting);
                ask_next(u->systemd);
        }
        if (!u->net.count.known)
                return -ENODATA;
        *ret_rx = u->net.count.sum[SG_NET_RX];
        *ret_tx = u->net.count.sum[SG_NET_TX];
        return 0;
}

void sg_unit_forget_net(struct sg_unit *u)
{
        struct sg_systemd *sd = u->systemd;
        struct sg_unit_net *net = &u->net;

        sg_list_remove(&net->waiting);
        sg_net_count_forget(&sd->net_counts, &net->count);
        if (!net->slots[SG_NET_RX] && !net->slots[SG_NET_TX])
                return;
        net->slots[SG_NET_RX] = sd_bus_slot_unref(net->slots[SG_NET_RX]);
        net->slots[SG_NET_TX] = sd_bus_slot_unref(net->slots[SG_NET_TX]);
        sd->net_counts.n_in_flight--;
        ask_next(sd);
}
