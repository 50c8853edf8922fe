/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Waiting for a job. As a subreaper we inherit every orphan of the job, so that "no child left"
 * (ECHILD) means that nothing of it lives, daemonised processes included.
 */

#include "shim/supervise.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

/*
 * A job that writes line by line, 10,000 times a second, must not wake us as often: a drain that
 * comes right behind another one leaves the pipe alone for this long. Nobody who follows the log
 * sees 5 ms; a drain that took a quarter of the pipe is never followed by a pause, so that the
 * throughput of a busy writer isn't bounded by pipe size / pause.
 */
#define BATCH_USEC (5 * SG_USEC_PER_MSEC)
#define BATCH_ENOUGH (16 * 1024)

static void close_output(struct sg_supervisor *s)
{
        s->child.output = sg_close(s->child.output);
}

static void drain(struct sg_supervisor *s)
{
        ssize_t n = sg_joblog_drain(s->log, s->child.output);
        uint64_t now;

        if (n == -EAGAIN)
                return;
        if (n <= 0) {
                close_output(s);
                return;
        }
        now = sg_now_monotonic_usec();
        if (n < BATCH_ENOUGH && now < s->drained_usec + BATCH_USEC)
                s->quiet_until_usec = now + BATCH_USEC;
        s->drained_usec = now;
}

static void read_channel(struct sg_supervisor *s)
{
        if (!sg_child_read_failure(&s->child, &s->failure) && s->started)
                s->started(s->userdata);
        s->child.channel = sg_close(s->child.channel);
}

static void reap(struct sg_supervisor *s)
{
        struct signalfd_siginfo info[8];
        int status;
        pid_t pid;

        /* Signals merge: what is read here only says that there is something to be looked at. */
        if (read(s->signals, info, sizeof(info)) < 0 && errno != EINTR)
                return;
        while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
                if (pid != s->child.pid)
                        continue;
                s->over = true;
                s->wait_status = status;
        }
        if (pid < 0 && errno == ECHILD)
                s->alone = true;
}

/* The end of what poll() may sleep: the caller's deadline or the end of a pause; 0 = for ever. */
static struct timespec *sleep_until(uint64_t now, uint64_t a, uint64_t b, struct timespec *buf)
{
        uint64_t until = a && (!b || a < b) ? a : b;
        uint64_t usec = until > now ? until - now : 0;

        if (!until)
                return NULL;
        buf->tv_sec = (time_t)(usec / SG_USEC_PER_SEC);
        buf->tv_nsec = (long)(usec % SG_USEC_PER_SEC * 1000);
        return buf;
}

/* One wake-up; deadline_usec 0 = none. */
static void step(struct sg_supervisor *s, uint64_t deadline_usec)
{
        struct timespec buf, *timeout = NULL;
        struct pollfd fds[] = {
                {.fd = s->child.channel, .events = POLLIN},
                {.fd = s->signals, .events = POLLIN},
                {.fd = s->child.output, .events = POLLIN},
        };

        if (s->quiet_until_usec || deadline_usec) {
                uint64_t now = sg_now_monotonic_usec();

                if (s->quiet_until_usec <= now)
                        s->quiet_until_usec = 0;
                else
                        fds[2].fd = -1;
                timeout = sleep_until(now, deadline_usec, s->quiet_until_usec, &buf);
        }
        if (ppoll(fds, SG_ELEMENTSOF(fds), timeout, NULL) <= 0)
                return;
        if (fds[0].revents)
                read_channel(s);
        if (fds[1].revents)
                reap(s);
        if (fds[2].revents)
                drain(s);
}

static void finish(struct sg_supervisor *s)
{
        /* It may have failed and ended between two wake-ups. */
        if (s->child.channel >= 0)
                read_channel(s);
        if (s->child.output >= 0)
                sg_joblog_drain_rest(s->log, s->child.output);
        close_output(s);
}

void sg_supervise_all(struct sg_supervisor *s)
{
        while (!s->alone)
                step(s, 0);
        finish(s);
}

void sg_supervise_main(struct sg_supervisor *s, uint64_t timeout_usec)
{
        uint64_t deadline = sg_now_monotonic_usec() + timeout_usec;

        while (!s->over) {
                if (deadline && sg_now_monotonic_usec() >= deadline) {
                        (void)kill(-s->child.pid, SIGKILL);
                        deadline = 0;
                }
                step(s, deadline);
        }
        finish(s);
}
