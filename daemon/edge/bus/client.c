/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/client.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include <errno.h>
#include <inttypes.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <syslog.h>

/* Messages waiting for a client that doesn't read, beyond what the socket holds: 8 MiB, which
 * sd-bus asks for and root gets, else net.core.wmem_max. */
#define QUEUED_WRITES_MAX 512U
/* Bytes of a message that isn't long, about. */
#define SHORT_BYTES 1024U
/* What a client hasn't read is looked at after so many signals: the 10,000 of an array come at
 * once. */
#define LOOK_SIGNALS 64U
/* A client with no more than this unread isn't the one that uses up what its user may have. */
#define BEHIND_BYTES (128U * 1024)
/* A bus daemon reads for all of its clients, and keeps to limits of its own for each. */
#define QUEUED_BUS_WRITES_MAX 16384U
#define QUEUED_BUS_REPLIES_MAX 32U

void sg_client_init(struct sg_client *c)
{
        sg_list_init(&c->link);
        sg_list_init(&c->waiters);
        sg_list_init(&c->submissions);
        c->caller.pidfd = -1;
        c->fd = -1;
}

void sg_client_deinit(struct sg_client *c)
{
        sg_list_remove(&c->link);
        if (c->ledger)
                sg_ledger_give(c->ledger, c->caller.uid, SG_CHARGE_ANSWERS, c->unread);
        (void)sg_close(c->fd);
        sg_caller_deinit(&c->caller);
        free(c->name);
}

void sg_client_shut(struct sg_client *c)
{
        c->stuck = true;
        (void)shutdown(c->fd >= 0 ? c->fd : sd_bus_get_fd(c->bus), SHUT_RDWR);
}

void sg_client_settle(struct sg_client *c)
{
        uint64_t queued = 0, unread;
        int in_kernel = 0;

        if (!c->ledger || ioctl(c->fd, SIOCOUTQ, &in_kernel) < 0 ||
            sd_bus_get_n_queued_write(c->bus, &queued) < 0)
                return;
        if (queued == 0)
                c->bulk = 0;
        unread = (uint64_t)in_kernel + c->bulk + queued * SHORT_BYTES;
        if (unread < c->unread || c->unread == 0)
                c->unread_since_usec = sg_now_monotonic_usec();
        if (unread < c->unread)
                sg_ledger_give(c->ledger, c->caller.uid, SG_CHARGE_ANSWERS, c->unread - unread);
        else if (sg_ledger_book(c->ledger, c->caller.uid, SG_CHARGE_ANSWERS, unread - c->unread) <
                 0)
                return;
        c->unread = unread;
}

void sg_client_complain(const struct sg_client *c, enum sg_client_fault fault)
{
        static const char *const texts[] = {
                [SG_CLIENT_UNREAD] = "that doesn't read",
                [SG_CLIENT_UNFINISHED] = "whose message doesn't end",
                [SG_CLIENT_OVERSIZED] = "whose message is too large",
        };
        uint64_t unsaid, now = sg_now_monotonic_usec();
        char more[64] = "";

        if (!c->told || !sg_complaints_say(c->told, fault, c->caller.uid, now, &unsaid))
                return;
        if (unsaid > 0)
                (void)snprintf(more, sizeof(more), ", after %" PRIu64 " others", unsaid);
        sg_log(LOG_NOTICE, "dropping a client of uid %u (pid %d) %s%s", c->caller.uid,
               (int)c->caller.pid, texts[fault], more);
}

static void stop_sending(struct sg_client *c)
{
        if (c->name)
                sg_log(LOG_WARNING, "leaving a message bus that doesn't read");
        else
                sg_client_complain(c, SG_CLIENT_UNREAD);
        sg_client_shut(c);
}

/* Signals of a burst are charged while it lasts. */
static bool is_full(struct sg_client *c)
{
        if (!c->ledger || ++c->n_signals < LOOK_SIGNALS)
                return false;
        c->n_signals = 0;
        sg_client_settle(c);
        return c->unread > BEHIND_BYTES &&
               sg_ledger_left(c->ledger, c->caller.uid, SG_CHARGE_ANSWERS) == 0;
}

bool sg_client_reads(struct sg_client *c)
{
        uint64_t queued = 0;

        if (c->stuck)
                return false;
        if (sd_bus_get_n_queued_write(c->bus, &queued) < 0 ||
            queued < (c->name ? QUEUED_BUS_WRITES_MAX : QUEUED_WRITES_MAX))
                return true;
        stop_sending(c);
        return false;
}

void sg_client_send(struct sg_client *c, sd_bus_message *m)
{
        if (!sg_client_reads(c))
                return;
        if (is_full(c))
                stop_sending(c);
        else
                (void)sd_bus_send_to(c->bus, m, c->name, NULL);
}

int sg_client_reply(struct sg_client *c, sd_bus_message *m, uint64_t size)
{
        uint64_t queued = 0;
        int r;

        if (c->name && sd_bus_get_n_queued_write(c->bus, &queued) >= 0 &&
            queued >= QUEUED_BUS_REPLIES_MAX)
                return -EBUSY;
        r = sd_bus_send(c->bus, m, NULL);
        c->bulk += size;
        sg_client_settle(c);
        return r;
}
