/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The network interfaces of our network namespace. Their state is kept up to date by the kernel's
 * events (libnl-route); their counters are asked for in one go, in messages that carry nothing else
 * (RTM_GETSTATS). Nothing here waits for anybody but the kernel's own lock on its interfaces.
 *
 * Needs AF_NETLINK and no capability.
 */

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

struct sg_links;

struct sg_link {
        int index; /* first: they are sorted by it */
        char name[IF_NAMESIZE];
        char kind[16]; /* "veth", "bridge" …; "" = hardware, and lo */
        bool up;       /* as somebody set it */
        bool carrier;  /* the other end is there */
        bool loopback;
        uint64_t speed_mbit; /* SG_UNLIMITED = not known */
        /* Since the interface is there; SG_UNLIMITED until they have been read. */
        uint64_t rx_bytes, tx_bytes, rx_packets, tx_packets;
        uint64_t rx_errors, tx_errors, rx_dropped, tx_dropped;
};

/* What has become of an interface: `now` is valid for the call; gone: it is no longer in the list.
 * Must not free the list. */
typedef void (*sg_links_changed_cb)(const struct sg_link *now, bool gone, void *userdata);

/* changed: on coming, going, a new name, up or carrier; may be NULL, and isn't called for those
 * that are there already. Positive: the kernel gives us no netlink (then *ret is NULL, which all
 * functions here take for an empty list), *ret_why (static) says why. */
int sg_links_new(struct sg_links **ret, sd_event *event, sg_links_changed_cb changed,
                 void *userdata, const char **ret_why);
struct sg_links *sg_links_free(struct sg_links *l);

/* Brings the counters up to date; allocates nothing. < 0: they are as they were. */
int sg_links_read_counters(struct sg_links *l);

/* By index, which is the order in which they were made; valid until the event loop runs again. */
const struct sg_link *sg_links_get(const struct sg_links *l, size_t *ret_n);
const struct sg_link *sg_links_find(const struct sg_links *l, const char *name); /* or NULL */
