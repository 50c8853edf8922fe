/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a connection doesn't take at once is kept by sd-bus, and sent here when there is room; so
 * are calls that were put back, to be handled once more. Attached to the event loop sd-bus would do
 * so itself, but then it looks at every connection before every event, and at each for long: with
 * all places taken that was most of what the daemon did.
 */
#include "base/cleanup.h"
#include "edge/bus/server-internal.h"
#include <fcntl.h>

static bool is_behind(const struct sg_peer *p)
{
        uint64_t out = 0, again = 0;

        (void)sd_bus_get_n_queued_write(p->client.bus, &out);
        (void)sd_bus_get_n_queued_read(p->client.bus, &again);
        return out > 0 || again > 0;
}

static int on_writable(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_peer *p = userdata;

        (void)source;
        (void)fd;
        (void)revents;
        if (sg_peer_process(p) && !is_behind(p))
                sg_outbox_remove(p);
        return 0;
}

/* By a descriptor of its own: one is watched already for what comes, and sd-bus closes its own when
 * it likes. Without one it is tried again before the next event. */
static void watch(struct sg_peer *p)
{
        _cleanup_close_ int fd = fcntl(p->client.fd, F_DUPFD_CLOEXEC, 3);

        if (fd < 0 ||
            sd_event_add_io(p->server->event, &p->output, fd, EPOLLOUT, on_writable, p) < 0)
                return;
        (void)sd_event_source_set_io_fd_own(p->output, 1);
        (void)TAKE_FD(fd);
}

int sg_outbox_prepare(sd_event_source *source, void *userdata)
{
        struct sg_bus_server *s = userdata;
        struct sg_client *c;

        (void)source;
        sg_list_foreach (c, &s->places.clients, link) {
                struct sg_peer *p = (struct sg_peer *)c;

                if (!p->output && is_behind(p))
                        watch(p);
        }
        return 0;
}

void sg_outbox_remove(struct sg_peer *p)
{
        p->output = sd_event_source_disable_unref(p->output);
}
