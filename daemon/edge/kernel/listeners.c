/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* References: sock_diag(7); INET_DIAG_CGROUP_ID since Linux 5.9. */
#include "edge/kernel/listeners.h"
#include "base/cleanup.h"
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdlib.h>

#define TCP_LISTEN                                                                                 \
        10 /* of the kernel's states; <netinet/tcp.h> and the kernel's header exclude              \
              each other */

struct sg_listeners {
        struct nl_sock *socket;
        uint64_t *ids;
        size_t n, room;
        int error;
};

struct sg_listeners *sg_listeners_free(struct sg_listeners *l)
{
        if (!l)
                return NULL;
        nl_socket_free(l->socket);
        free(l->ids);
        free(l);
        return NULL;
}

static void add(struct sg_listeners *l, uint64_t id)
{
        if (l->n == l->room) {
                size_t room = l->room ? 2 * l->room : 32;
                uint64_t *grown = reallocarray(l->ids, room, sizeof(*grown));

                if (!grown) {
                        l->error = -ENOMEM;
                        return;
                }
                l->ids = grown;
                l->room = room;
        }
        l->ids[l->n++] = id;
}

static int on_socket(struct nl_msg *msg, void *userdata)
{
        struct nlattr *id;

        if (nlmsg_datalen(nlmsg_hdr(msg)) < (int)sizeof(struct inet_diag_msg))
                return NL_SKIP;
        id = nlmsg_find_attr(nlmsg_hdr(msg), sizeof(struct inet_diag_msg), INET_DIAG_CGROUP_ID);
        if (id && nla_len(id) == sizeof(uint64_t))
                add(userdata, nla_get_u64(id));
        return NL_OK;
}

static int dump(struct sg_listeners *l, uint8_t family)
{
        struct inet_diag_req_v2 req = {
                .sdiag_family = family,
                .sdiag_protocol = IPPROTO_TCP,
                .idiag_states = UINT32_C(1) << TCP_LISTEN,
        };
        int r = nl_send_simple(l->socket, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &req, sizeof(req));

        if (r >= 0)
                r = nl_recvmsgs_default(l->socket);
        return r < 0 ? -EIO : 0;
}

static int ascending(const void *a, const void *b)
{
        const uint64_t *x = a, *y = b;

        return (*x > *y) - (*x < *y);
}

int sg_listeners_read(struct sg_listeners *l, const uint64_t **ret)
{
        size_t n = 0;
        int r;

        l->n = 0;
        l->error = 0;
        r = dump(l, AF_INET);
        if (r >= 0)
                r = dump(l, AF_INET6);
        if (r >= 0)
                r = l->error;
        if (r < 0)
                return r;
        if (l->n > 1)
                qsort(l->ids, l->n, sizeof(*l->ids), ascending);
        for (size_t i = 0; i < l->n; i++)
                if (i == 0 || l->ids[i] != l->ids[n - 1])
                        l->ids[n++] = l->ids[i];
        l->n = n;
        *ret = l->ids;
        return (int)n;
}

int sg_listeners_new(struct sg_listeners **ret)
{
        struct sg_listeners *l = calloc(1, sizeof(*l));
        int r;

        if (!l)
                return -ENOMEM;
        l->socket = nl_socket_alloc();
        r = l->socket ? nl_connect(l->socket, NETLINK_SOCK_DIAG) : -NLE_NOMEM;
        if (r >= 0)
                r = nl_socket_modify_cb(l->socket, NL_CB_VALID, NL_CB_CUSTOM, on_socket, l);
        if (r < 0) {
                sg_listeners_free(l);
                return r == -NLE_NOMEM ? -ENOMEM : -EOPNOTSUPP;
        }
        *ret = l;
        return 0;
}
