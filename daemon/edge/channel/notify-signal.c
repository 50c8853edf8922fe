/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each wish holds a pidfd, so that a signal never reaches a process that has the same number later.
 * One process has one wish; those whose process has gone are dropped when the next signal, or the
 * lack of room, shows it.
 */
#include "base/cleanup.h"
#include "edge/channel/notify-internal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

static void drop(struct sg_notify_wishes *w, size_t i)
{
        (void)sg_close(w->wishes[i].pidfd);
        w->wishes[i] = w->wishes[--w->n];
}

void sg_notify_wishes_deinit(struct sg_notify_wishes *w)
{
        while (w->n > 0)
                drop(w, w->n - 1);
        free(w->wishes);
        *w = (struct sg_notify_wishes){0};
}

static struct sg_notify_wish *find(struct sg_notify_wishes *w, const struct sg_job_key *key,
                                   pid_t pid)
{
        for (size_t i = 0; i < w->n; i++)
                if (w->wishes[i].pid == pid && sg_notify_same_job(&w->wishes[i].key, key))
                        return &w->wishes[i];
        return NULL;
}

static size_t count(const struct sg_notify_wishes *w, const struct sg_job_key *key)
{
        size_t n = 0;

        for (size_t i = 0; i < w->n; i++)
                n += sg_notify_same_job(&w->wishes[i].key, key);
        return n;
}

static void drop_gone(struct sg_notify_wishes *w)
{
        for (size_t i = w->n; i-- > 0;) {
                struct pollfd p = {.fd = w->wishes[i].pidfd, .events = POLLIN};

                if (poll(&p, 1, 0) > 0)
                        drop(w, i);
        }
}

static bool is_full(const struct sg_notify_wishes *w, const struct sg_job_key *key)
{
        return w->n >= SG_SIGNALLED_MAX || count(w, key) >= SG_SIGNALLED_PER_JOB;
}

static int make_room(struct sg_notify_wishes *w, const struct sg_job_key *key)
{
        size_t n = w->allocated > 0 ? 2 * w->allocated : 4;
        struct sg_notify_wish *p;

        if (is_full(w, key))
                drop_gone(w);
        if (is_full(w, key))
                return -ENOSPC;
        if (w->n < w->allocated)
                return 0;
        p = reallocarray(w->wishes, n, sizeof(*p));
        if (!p)
                return -ENOMEM;
        w->wishes = p;
        w->allocated = n;
        return 0;
}

int sg_notify_wishes_set(struct sg_notify_wishes *w, const struct sg_job_key *key, pid_t pid,
                         int pidfd, int signal)
{
        _cleanup_close_ int fd = pidfd;
        struct sg_notify_wish *wish = find(w, key, pid);
        int r;

        if (wish) /* perhaps of an earlier process of that number */
                drop(w, (size_t)(wish - w->wishes));
        if (signal == 0)
                return 0;
        r = make_room(w, key);
        if (r < 0)
                return r;
        w->wishes[w->n++] = (struct sg_notify_wish){
                .key = *key, .pid = pid, .pidfd = TAKE_FD(fd), .signal = signal};
        return 0;
}

unsigned sg_notify_wishes_fulfil(struct sg_notify_wishes *w, const struct sg_job_key *key)
{
        unsigned n = 0;

        for (size_t i = w->n; i-- > 0;) {
                const struct sg_notify_wish *wish = &w->wishes[i];

                if (!sg_notify_same_job(&wish->key, key))
                        continue;
                if (syscall(SYS_pidfd_send_signal, wish->pidfd, wish->signal, NULL, 0) == 0)
                        n++;
                else
                        drop(w, i);
        }
        return n;
}

void sg_notify_wishes_forget(struct sg_notify_wishes *w, const struct sg_job_key *key)
{
        for (size_t i = w->n; i-- > 0;)
                if (sg_notify_same_job(&w->wishes[i].key, key))
                        drop(w, i);
}
