/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Requests are prepared once and sent as they are, many in one message; answers are taken from a
 * buffer that is kept, as libnl's receiving allocates for each. The kernel answers within the call
 * that asks, so that there is nothing to wait for.
 *
 * References: Documentation/accounting/taskstats.rst, delay-accounting.rst.
 */

#include "edge/kernel/delays.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/sorted.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>

/* Answers to so many fit in the socket's buffer: one takes about 1 KiB of it. */
#define BATCH 32
#define ANSWER_MAX 1024
#define SYSCTL "/proc/sys/kernel/task_delayacct"

struct sg_delays_process {
        pid_t pid;  /* first: they are sorted by it */
        bool there; /* in this update */
        struct sg_delays_usec last;
};

/* As the kernel wants it: a header each of netlink and of generic netlink, and one attribute. */
struct request {
        struct nlmsghdr head;
        struct genlmsghdr generic;
        struct nlattr attr;
        uint32_t tgid;
};

struct sg_taskstats {
        struct nl_sock *socket;
        int sysctl; /* −1: this kernel always counts (before 5.14) */
        uint32_t sequence;
        struct request requests[BATCH];
        char answer[ANSWER_MAX] __attribute__((aligned(NLMSG_ALIGNTO)));
};

/* --- processes */

static size_t place_of(const struct sg_delays *d, pid_t pid)
{
        return sg_sorted_place(d->known, d->n_known, sizeof(*d->known), pid);
}

/* NULL: no memory. */
static struct sg_delays_process *get(struct sg_delays *d, pid_t pid)
{
        size_t at = place_of(d, pid);
        struct sg_delays_process *p;

        if (at < d->n_known && d->known[at].pid == pid)
                return &d->known[at];
        if (d->n_known == d->n_room) {
                size_t room = d->n_room ? d->n_room * 2 : 1;

                p = reallocarray(d->known, room, sizeof(*p));
                if (!p)
                        return NULL;
                d->known = p;
                d->n_room = room;
        }
        p = &d->known[at];
        memmove(p + 1, p, (d->n_known++ - at) * sizeof(*p));
        *p = (struct sg_delays_process){.pid = pid};
        return p;
}

static void drop_gone(struct sg_delays *d)
{
        size_t kept = 0;

        for (size_t i = 0; i < d->n_known; i++)
                if (d->known[i].there)
                        d->known[kept++] = d->known[i];
        d->n_known = kept;
}

/* A figure that is less than before is of another process with the same pid, which counts from its
 * start. */
static void add(uint64_t *sum, uint64_t *last, uint64_t nsec)
{
        uint64_t usec = nsec / 1000;

        *sum += usec >= *last ? usec - *last : usec;
        *last = usec;
}

static int take(struct sg_delays *d, pid_t pid, const struct taskstats *s)
{
        struct sg_delays_process *p;

        if (!d)
                return 0;
        p = get(d, pid);
        if (!p)
                return -ENOMEM;
        p->there = true;
        add(&d->sums.cpu, &p->last.cpu, s->cpu_delay_total);
        add(&d->sums.io, &p->last.io, s->blkio_delay_total);
        add(&d->sums.swap, &p->last.swap, s->swapin_delay_total);
        return 0;
}

/* --- questions and answers */

static int take_answer(struct nlmsghdr *m, pid_t pid, struct sg_delays *d)
{
        struct nlattr *group, *attr;
        struct taskstats s = {};
        size_t size;

        if (m->nlmsg_type == NLMSG_ERROR) {
                const struct nlmsgerr *e = nlmsg_data(m);

                if (!nlmsg_valid_hdr(m, sizeof(*e)))
                        return -EBADMSG;
                return e->error == -ESRCH ? 0 : e->error;
        }
        if (!nlmsg_valid_hdr(m, GENL_HDRLEN))
                return -EBADMSG;
        group = nlmsg_find_attr(m, GENL_HDRLEN, TASKSTATS_TYPE_AGGR_TGID);
        attr = group ? nla_find(nla_data(group), nla_len(group), TASKSTATS_TYPE_STATS) : NULL;
        if (!attr)
                return -EBADMSG;
        /* Older kernels know less, newer ones more: what is needed is in all of them. */
        size = (size_t)nla_len(attr);
        if (size < offsetof(struct taskstats, cpu_run_real_total))
                return -EBADMSG;
        memcpy(&s, nla_data(attr), size < sizeof(s) ? size : sizeof(s));
        return take(d, pid, &s);
}

/* There is one answer to each question, in their order; what is left of an earlier, failed call is
 * passed over. */
static int receive(struct sg_taskstats *t, uint32_t first, const pid_t *tgids, size_t n,
                   struct sg_delays *d)
{
        struct nlmsghdr *m = (struct nlmsghdr *)t->answer;
        size_t answered = 0;
        int r = 0;

        while (r >= 0 && answered < n) {
                ssize_t size = recv(nl_socket_get_fd(t->socket), t->answer, sizeof(t->answer),
                                    MSG_DONTWAIT);

                if (size < 0 && errno == EINTR)
                        continue;
                if (size < 0)
                        return -errno;
                if (!nlmsg_ok(m, (int)size))
                        return -EBADMSG;
                if (m->nlmsg_seq - first >= n)
                        continue;
                answered++;
                r = take_answer(m, tgids[m->nlmsg_seq - first], d);
        }
        return r;
}

/* At most BATCH. */
static int ask(struct sg_taskstats *t, const pid_t *tgids, size_t n, struct sg_delays *d)
{
        uint32_t first = t->sequence;

        for (size_t i = 0; i < n; i++) {
                t->requests[i].head.nlmsg_seq = t->sequence++;
                t->requests[i].tgid = (uint32_t)tgids[i];
        }
        if (send(nl_socket_get_fd(t->socket), t->requests, n * sizeof(t->requests[0]),
                 MSG_DONTWAIT) < 0)
                return -errno;
        return receive(t, first, tgids, n, d);
}

/* --- opening */

static const char *explain(int nl_error)
{
        switch (-nl_error) {
        case NLE_OBJ_NOTFOUND:
                return "this kernel has no taskstats";
        case NLE_PERM:
        case NLE_NOACCESS:
                return "taskstats take CAP_NET_ADMIN, which root has";
        case NLE_AF_NOSUPPORT:
                return "netlink sockets are not allowed here (RestrictAddressFamilies=AF_NETLINK?)";
        }
        return "the kernel doesn't answer about taskstats";
}

static void prepare(struct sg_taskstats *t, int family)
{
        for (size_t i = 0; i < BATCH; i++)
                t->requests[i] = (struct request){
                        .head = {.nlmsg_len = sizeof(struct request),
                                 .nlmsg_type = (uint16_t)family,
                                 .nlmsg_flags = NLM_F_REQUEST},
                        .generic = {.cmd = TASKSTATS_CMD_GET, .version = TASKSTATS_GENL_VERSION},
                        .attr = {.nla_len = NLA_HDRLEN + sizeof(uint32_t),
                                 .nla_type = TASKSTATS_CMD_ATTR_TGID},
                };
}

static int try(struct sg_taskstats *t)
{
        pid_t self = getpid();
        int r = ask(t, &self, 1, NULL);

        return r == -EPERM || r == -EACCES ? -NLE_PERM : r < 0 ? -NLE_FAILURE : 0;
}

static int open_socket(struct sg_taskstats *t)
{
        int r;

        t->socket = nl_socket_alloc();
        if (!t->socket)
                return -NLE_NOMEM;
        r = genl_connect(t->socket);
        if (r >= 0)
                r = genl_ctrl_resolve(t->socket, TASKSTATS_GENL_NAME);
        if (r >= 0)
                prepare(t, r);
        return r < 0 ? r : try(t);
}

int sg_taskstats_new(struct sg_taskstats **ret, const char **ret_why)
{
        struct sg_taskstats *t = calloc(1, sizeof(*t));
        int r;

        if (!t)
                return -ENOMEM;
        t->sysctl = open(SYSCTL, O_RDONLY | O_CLOEXEC);
        r = open_socket(t);
        if (r >= 0) {
                *ret = t;
                return 0;
        }
        sg_taskstats_free(t);
        if (r == -NLE_NOMEM)
                return -ENOMEM;
        *ret = NULL;
        *ret_why = explain(r);
        return 1;
}

struct sg_taskstats *sg_taskstats_free(struct sg_taskstats *t)
{
        if (!t)
                return NULL;
        nl_socket_free(t->socket);
        (void)sg_close(t->sysctl);
        free(t);
        return NULL;
}

bool sg_taskstats_counts_io(struct sg_taskstats *t, const char **ret_why)
{
        char value = '1';

        if (t && (t->sysctl < 0 || (pread(t->sysctl, &value, 1, 0) == 1 && value != '0')))
                return true;
        *ret_why = t ? "waits for I/O and swap are not counted: kernel.task_delayacct is 0"
                     : "taskstats are not available";
        return false;
}

/* --- groups of processes */

void sg_delays_init(struct sg_delays *d)
{
        *d = (struct sg_delays){
                .cpu_usec = SG_UNLIMITED, .io_usec = SG_UNLIMITED, .swap_usec = SG_UNLIMITED};
}

void sg_delays_deinit(struct sg_delays *d)
{
        free(d->known);
        *d = (struct sg_delays){};
}

int sg_delays_update(struct sg_delays *d, struct sg_taskstats *t, const pid_t *tgids, size_t n)
{
        const char *why;
        int r = 0;

        if (!t)
                return 0;
        for (size_t i = 0; i < d->n_known; i++)
                d->known[i].there = false;
        for (size_t i = 0; r >= 0 && i < n; i += BATCH)
                r = ask(t, tgids + i, n - i < BATCH ? n - i : BATCH, d);
        if (r < 0)
                return r;
        drop_gone(d);
        d->cpu_usec = d->sums.cpu;
        d->io_usec = d->swap_usec = SG_UNLIMITED;
        if (sg_taskstats_counts_io(t, &why)) {
                d->io_usec = d->sums.io;
                d->swap_usec = d->sums.swap;
        }
        return 0;
}
