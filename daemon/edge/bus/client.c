/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/client.h"
#include "edge/common/log.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <syslog.h>

/* Messages waiting for a client that doesn't read, beyond what the socket holds: 8 MiB, which
 * sd-bus asks for and root gets, else net.core.wmem_max. Most are small and come in bursts, as the
 * 10,000 signals of an array, which a client that reads must survive. A page of job documents is
 * half a megabyte, though: with this many messages unread no more of those are made. */
#define QUEUED_WRITES_MAX 512U
#define QUEUED_REPLIES_MAX 32U
/* A bus daemon reads for all of its clients, and keeps to limits of its own for each. */
#define QUEUED_BUS_WRITES_MAX 16384U

void sg_client_init(struct sg_client *c)
{
        sg_list_init(&c->link);
        sg_list_init(&c->waiters);
        c->caller.pidfd = -1;
}

void sg_client_deinit(struct sg_client *c)
{
        sg_list_remove(&c->link);
        sg_caller_deinit(&c->caller);
        free(c->name);
}

bool sg_client_reads(struct sg_client *c)
{
        uint64_t queued = 0;

        if (c->stuck)
                return false;
        if (sd_bus_get_n_queued_write(c->bus, &queued) < 0 ||
            queued < (c->name ? QUEUED_BUS_WRITES_MAX : QUEUED_WRITES_MAX))
                return true;
        if (c->name)
                sg_log(LOG_WARNING, "leaving a message bus that doesn't read");
        else
                sg_log(LOG_NOTICE, "dropping a client of uid %u (pid %d) that doesn't read",
                       c->caller.uid, (int)c->caller.pid);
        c->stuck = true;
        (void)shutdown(sd_bus_get_fd(c->bus), SHUT_RDWR);
        return false;
}

void sg_client_send(struct sg_client *c, sd_bus_message *m)
{
        if (sg_client_reads(c))
                (void)sd_bus_send_to(c->bus, m, c->name, NULL);
}

int sg_client_reply(struct sg_client *c, sd_bus_message *m)
{
        uint64_t queued = 0;

        if (sd_bus_get_n_queued_write(c->bus, &queued) >= 0 && queued >= QUEUED_REPLIES_MAX)
                return -EBUSY;
        return sd_bus_send(c->bus, m, NULL);
}
