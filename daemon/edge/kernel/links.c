/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libnl-route keeps the kernel's objects by its events; of them a plain list is kept here, as
 * callers look at it far more often than it changes. Counters come by a socket of their own and
 * into a buffer that is kept: libnl's receiving allocates for each message.
 *
 * A dump of netlink is made by the kernel as it is received, so that there is nothing to wait for.
 * References: rtnetlink(7), linux/if_link.h (struct if_stats_msg), linux/ethtool.h.
 */

#include "edge/kernel/links.h"
#include "base/cleanup.h"
#include "base/parse.h"
#include "base/sorted.h"
#include "edge/common/log.h"
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netlink/cache.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <syslog.h>

/* As much as the kernel fills at once. */
#define BUFFER_SIZE 32768
/* For bursts of events, as when many containers start. */
#define EVENTS_SIZE 131072
/* In a row, while others go on changing things. */
#define LOSSES_MAX 16

struct sg_links {
        struct nl_sock *events, *counters;
        struct nl_cache_mngr *manager; /* of `cache`, fed by `events` */
        struct nl_cache *cache;
        sd_event_source *source;
        sg_links_changed_cb changed;
        void *userdata;
        struct sg_link *links; /* by index */
        size_t n, room;
        struct nl_msg *request;
        uint32_t sequence;
        bool interrupted; /* an earlier dump isn't fully read */
        char buffer[BUFFER_SIZE] __attribute__((aligned(NLMSG_ALIGNTO)));
};

SG_DEFINE_CLEANUP(struct nl_sock *, nl_socket_free)

static int errno_of(int nl_error)
{
        switch (-nl_error) {
        case NLE_NOMEM:
                return -ENOMEM;
        case NLE_PERM:
        case NLE_NOACCESS:
                return -EPERM;
        case NLE_AF_NOSUPPORT:
        case NLE_PROTO_MISMATCH:
                return -EAFNOSUPPORT;
        }
        return nl_error < 0 ? -EIO : 0;
}

/* --- the list */

static size_t place_of(const struct sg_links *l, int index)
{
        return sg_sorted_place(l->links, l->n, sizeof(*l->links), index);
}

static struct sg_link *find(const struct sg_links *l, int index)
{
        size_t at = place_of(l, index);

        return at < l->n && l->links[at].index == index ? &l->links[at] : NULL;
}

static void forget_counters(struct sg_link *link)
{
        link->rx_bytes = link->tx_bytes = link->rx_packets = link->tx_packets = SG_UNLIMITED;
        link->rx_errors = link->tx_errors = link->rx_dropped = link->tx_dropped = SG_UNLIMITED;
}

/* NULL: no memory. */
static struct sg_link *add(struct sg_links *l, int index)
{
        size_t at = place_of(l, index);

        if (l->n == l->room) {
                size_t room = l->room ? l->room * 2 : 8;
                struct sg_link *links = reallocarray(l->links, room, sizeof(*links));

                if (!links)
                        return NULL;
                l->links = links;
                l->room = room;
        }
        memmove(l->links + at + 1, l->links + at, (l->n - at) * sizeof(*l->links));
        l->n++;
        l->links[at] = (struct sg_link){.index = index, .speed_mbit = SG_UNLIMITED};
        forget_counters(&l->links[at]);
        return &l->links[at];
}

static void drop(struct sg_links *l, struct sg_link *link)
{
        size_t at = (size_t)(link - l->links);

        l->n--;
        memmove(link, link + 1, (l->n - at) * sizeof(*link));
}

/* --- state */

/* Works on any socket, and in the network namespace that that belongs to. */
static uint64_t speed_of(const struct sg_links *l, const char *name)
{
        /* the words of three bitmaps follow; their number is first asked for */
        union {
                struct ethtool_link_settings head;
                uint32_t words[sizeof(struct ethtool_link_settings) / 4 + 3 * 127];
        } u = {.head.cmd = ETHTOOL_GLINKSETTINGS};
        struct ifreq req = {.ifr_data = (void *)&u};
        int fd = nl_socket_get_fd(l->counters);

        memcpy(req.ifr_name, name, IF_NAMESIZE);
        if (ioctl(fd, SIOCETHTOOL, &req) < 0 || u.head.link_mode_masks_nwords >= 0)
                return SG_UNLIMITED;
        u.head.cmd = ETHTOOL_GLINKSETTINGS;
        u.head.link_mode_masks_nwords = (int8_t)-u.head.link_mode_masks_nwords;
        if (ioctl(fd, SIOCETHTOOL, &req) < 0 || u.head.speed == 0 ||
            u.head.speed == (uint32_t)SPEED_UNKNOWN)
                return SG_UNLIMITED;
        return u.head.speed;
}

static void copy_name(char *to, size_t size, const char *from)
{
        (void)snprintf(to, size, "%s", from ? from : "");
}

/* True: it is worth telling. */
static bool take_state(const struct sg_links *l, struct sg_link *link, struct rtnl_link *now)
{
        const struct sg_link old = *link;
        unsigned flags = rtnl_link_get_flags(now);

        copy_name(link->name, sizeof(link->name), rtnl_link_get_name(now));
        copy_name(link->kind, sizeof(link->kind), rtnl_link_get_type(now));
        link->up = flags & IFF_UP;
        link->carrier = link->up && rtnl_link_get_carrier(now) > 0;
        link->loopback = flags & IFF_LOOPBACK;
        if (!link->carrier)
                link->speed_mbit = SG_UNLIMITED;
        else if (!old.carrier)
                link->speed_mbit = speed_of(l, link->name);
        return old.up != link->up || old.carrier != link->carrier ||
               strcmp(old.name, link->name) != 0;
}

static void tell(const struct sg_links *l, const struct sg_link *link, bool gone)
{
        if (l->changed)
                l->changed(link, gone, l->userdata);
}

/* A bridge's view of a port is an object of its own beside the port's, of the bridges' family, as
 * bridges themselves are. */
static bool is_interface(struct rtnl_link *object)
{
        return rtnl_link_get_family(object) == AF_UNSPEC || rtnl_link_get_type(object);
}

static void on_change(struct nl_cache *cache, struct nl_object *object, int action, void *userdata)
{
        struct rtnl_link *now = (struct rtnl_link *)object;
        struct sg_links *l = userdata;
        struct sg_link *link, gone;

        (void)cache;
        if (!is_interface(now))
                return;
        link = find(l, rtnl_link_get_ifindex(now));
        if (action == NL_ACT_DEL) {
                if (!link)
                        return;
                gone = *link;
                drop(l, link);
                tell(l, &gone, true);
                return;
        }
        if (!link)
                link = add(l, rtnl_link_get_ifindex(now));
        if (link && take_state(l, link, now))
                tell(l, link, false);
}

static void add_present(struct nl_object *object, void *userdata)
{
        struct rtnl_link *now = (struct rtnl_link *)object;
        struct sg_links *l = userdata;
        struct sg_link *link;

        if (!is_interface(now))
                return;
        link = add(l, rtnl_link_get_ifindex(now));
        if (link)
                (void)take_state(l, link, now);
}

/* Events were lost: what has changed meanwhile is found by looking. Those that were queued before
 * the loss are taken first, lest they bring back what has gone by now. */
static int look_again(struct sg_links *l)
{
        _cleanup_(nl_socket_freep) struct nl_sock *sock = nl_socket_alloc();
        int r;

        if (!sock)
                return -ENOMEM;
        for (unsigned i = 0; i < LOSSES_MAX && nl_cache_mngr_data_ready(l->manager) < 0; i++)
                ;
        r = nl_connect(sock, NETLINK_ROUTE);
        if (r >= 0)
                r = nl_cache_resync(sock, l->cache, on_change, l);
        return errno_of(r);
}

static int on_events(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_links *l = userdata;
        int r;

        (void)source;
        (void)fd;
        (void)revents;
        r = nl_cache_mngr_data_ready(l->manager);
        if (r < 0)
                r = look_again(l);
        if (r < 0)
                sg_log(LOG_WARNING, "network interfaces: events were lost: %s", strerror(-r));
        return 0;
}

/* --- counters */

static void take_counters(struct sg_links *l, const struct nlmsghdr *m)
{
        const struct if_stats_msg *head = nlmsg_data(m);
        struct rtnl_link_stats64 s = {};
        struct sg_link *link;
        struct nlattr *attr;
        int size;

        if (!nlmsg_valid_hdr(m, sizeof(*head)))
                return;
        link = find(l, (int)head->ifindex);
        attr = nlmsg_find_attr((struct nlmsghdr *)m, sizeof(*head), IFLA_STATS_LINK_64);
        size = attr ? nla_len(attr) : 0;
        /* Newer kernels append to the struct. */
        if (!link || size < (int)offsetof(struct rtnl_link_stats64, multicast))
                return;
        memcpy(&s, nla_data(attr), (size_t)size < sizeof(s) ? (size_t)size : sizeof(s));
        link->rx_bytes = s.rx_bytes;
        link->tx_bytes = s.tx_bytes;
        link->rx_packets = s.rx_packets;
        link->tx_packets = s.tx_packets;
        link->rx_errors = s.rx_errors;
        link->tx_errors = s.tx_errors;
        link->rx_dropped = s.rx_dropped;
        link->tx_dropped = s.tx_dropped;
}

/* 1: that was the last of the dump. */
static int take_messages(struct sg_links *l, int size)
{
        struct nlmsghdr *m = (struct nlmsghdr *)l->buffer;

        for (; nlmsg_ok(m, size); m = nlmsg_next(m, &size)) {
                if (m->nlmsg_seq != l->sequence)
                        continue;
                if (m->nlmsg_type == NLMSG_DONE)
                        return 1;
                if (m->nlmsg_type == NLMSG_ERROR)
                        return nlmsg_valid_hdr(m, sizeof(struct nlmsgerr))
                                       ? ((struct nlmsgerr *)nlmsg_data(m))->error
                                       : -EBADMSG;
                if (m->nlmsg_type == RTM_NEWSTATS)
                        take_counters(l, m);
        }
        return 0;
}

static int receive(struct sg_links *l)
{
        ssize_t n = recv(nl_socket_get_fd(l->counters), l->buffer, sizeof(l->buffer),
                         MSG_DONTWAIT | MSG_TRUNC);

        if (n < 0)
                return -errno;
        return (size_t)n > sizeof(l->buffer) ? -EMSGSIZE : (int)n;
}

/* The kernel takes no second request before the first is answered in full: the rest of an earlier
 * answer is read away. */
static void finish_earlier(struct sg_links *l)
{
        while (l->interrupted && receive(l) >= 0)
                ;
        l->interrupted = false;
}

int sg_links_read_counters(struct sg_links *l)
{
        struct nlmsghdr *request;
        int r;

        if (!l)
                return 0;
        finish_earlier(l);
        request = nlmsg_hdr(l->request);
        request->nlmsg_seq = ++l->sequence;
        if (send(nl_socket_get_fd(l->counters), request, request->nlmsg_len, MSG_DONTWAIT) < 0)
                return -errno;
        do {
                r = receive(l);
                if (r >= 0)
                        r = take_messages(l, r);
        } while (r == 0 || r == -EINTR);
        l->interrupted = r < 0;
        return r < 0 ? r : 0;
}

static int prepare_counters(struct sg_links *l)
{
        struct if_stats_msg head = {.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64)};
        int r;

        l->request = nlmsg_alloc_simple(RTM_GETSTATS, NLM_F_REQUEST | NLM_F_DUMP);
        l->counters = nl_socket_alloc();
        if (!l->request || !l->counters)
                return -ENOMEM;
        r = nlmsg_append(l->request, &head, sizeof(head), NLMSG_ALIGNTO);
        if (r >= 0)
                r = nl_connect(l->counters, NETLINK_ROUTE);
        return errno_of(r);
}

/* --- opening */

static int prepare_events(struct sg_links *l)
{
        int r;

        l->events = nl_socket_alloc();
        if (!l->events)
                return -ENOMEM;
        r = nl_cache_mngr_alloc(l->events, NETLINK_ROUTE, 0, &l->manager);
        if (r >= 0)
                (void)nl_socket_set_buffer_size(l->events, EVENTS_SIZE, 0);
        if (r >= 0)
                r = nl_cache_mngr_add(l->manager, "route/link", on_change, l, &l->cache);
        return errno_of(r);
}

static const char *explain(int r)
{
        return r == -EAFNOSUPPORT || r == -EPERM
                       ? "netlink sockets are not allowed here "
                         "(RestrictAddressFamilies=AF_NETLINK?)"
                       : "the kernel's list of network interfaces can't be read";
}

int sg_links_new(struct sg_links **ret, sd_event *event, sg_links_changed_cb changed,
                 void *userdata, const char **ret_why)
{
        struct sg_links *l = calloc(1, sizeof(*l));
        int r;

        if (!l)
                return -ENOMEM;
        l->changed = changed;
        l->userdata = userdata;
        r = prepare_counters(l);
        if (r >= 0)
                r = prepare_events(l);
        if (r >= 0) {
                nl_cache_foreach(l->cache, add_present, l);
                r = sd_event_add_io(event, &l->source, nl_cache_mngr_get_fd(l->manager), EPOLLIN,
                                    on_events, l);
        }
        if (r >= 0) {
                *ret = l;
                return 0;
        }
        sg_links_free(l);
        if (r == -ENOMEM)
                return r;
        *ret = NULL;
        *ret_why = explain(r);
        return 1;
}

struct sg_links *sg_links_free(struct sg_links *l)
{
        if (!l)
                return NULL;
        sd_event_source_disable_unref(l->source);
        if (l->manager)
                nl_cache_mngr_free(l->manager); /* and the cache */
        nl_socket_free(l->events);
        nl_socket_free(l->counters);
        nlmsg_free(l->request);
        free(l->links);
        free(l);
        return NULL;
}

const struct sg_link *sg_links_get(const struct sg_links *l, size_t *ret_n)
{
        *ret_n = l ? l->n : 0;
        return l ? l->links : NULL;
}

const struct sg_link *sg_links_find(const struct sg_links *l, const char *name)
{
        for (size_t i = 0; l && i < l->n; i++)
                if (strcmp(l->links[i].name, name) == 0)
                        return &l->links[i];
        return NULL;
}
