/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shim/report.h"
#include "base/cleanup.h"
#include "base/datagram.h"
#include "shim/shim.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Between two attempts to reach the daemon: one that is restarted is back within a second or so. */
#define PAUSE_FIRST_MSEC 20
#define PAUSE_LONGEST_MSEC 1000
/* A disk may be slow; then it is asked again, over another gate. */
#define SEEN_MSEC 30000

static void send_end(int gate, const struct sg_exit *e)
{
        struct sg_gate_end m = {.head = {.kind = SG_GATE_ENDED, .pid = e->pid}};

        sg_exit_pack(e, m.record);
        (void)send(gate, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The attempt's directory is gone, and with it whoever would want to know. */
static bool is_forgotten(int lock)
{
        struct stat st;

        return fstat(lock, &st) < 0 || st.st_nlink == 0;
}

static void keep(struct sg_report *r, const struct sg_exit *e)
{
        int pause = PAUSE_FIRST_MSEC;
        struct sg_verdict unheard;

        while (!sg_gate_wait_seen(r->gate, SEEN_MSEC, &unheard)) {
                r->gate = sg_close(r->gate);
                if (is_forgotten(r->lock))
                        return;
                (void)poll(NULL, 0, pause);
                pause = pause * 2 < PAUSE_LONGEST_MSEC ? pause * 2 : PAUSE_LONGEST_MSEC;
                r->gate = sg_socket_connect(r->comeback);
                if (r->gate >= 0)
                        send_end(r->gate, e);
        }
}

static void close_between(int after, int before)
{
        if (after + 1 < before)
                (void)syscall(SYS_close_range, after + 1, before - 1, 0);
}

/* Lets go of the output, whose end somebody may wait for, and of the working directory, which
 * somebody may want to unmount. The lock keeps its descriptor: a POSIX lock goes when any
 * descriptor of the file is closed. */
static void let_go(const struct sg_report *r)
{
        int a = r->gate < r->lock ? r->gate : r->lock, b = r->gate < r->lock ? r->lock : r->gate;

        for (int fd = 0; fd <= STDERR_FILENO; fd++)
                (void)close(fd);
        (void)sg_process_fill_stdio();
        close_between(STDERR_FILENO, a);
        close_between(a > STDERR_FILENO ? a : STDERR_FILENO, b);
        close_between(b, INT_MAX);
        (void)!chdir("/");
}

static _Noreturn void live_on(struct sg_report *r, const struct sg_exit *e)
{
        sigset_t all;

        sigfillset(&all);
        (void)sigprocmask(SIG_SETMASK, &all, NULL);
        (void)sg_process_lock_shared(r->lock);
        (void)setsid();
        let_go(r); /* and our parent's pipe, by which it sees that we have the lock */
        keep(r, e);
        _exit(EXIT_SUCCESS);
}

/* -errno: no child could be made that goes on in our place. */
static int leave_it_to_a_child(struct sg_report *r, const struct sg_exit *e)
{
        int fds[2];
        pid_t pid;
        char c;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        pid = fork();
        if (pid == 0)
                live_on(r, e);
        (void)close(fds[1]);
        if (pid > 0)
                (void)!read(fds[0], &c, 1);
        (void)close(fds[0]);
        return pid < 0 ? -EAGAIN : 0;
}

void sg_report(struct sg_report *r, const struct sg_exit *e, struct sg_verdict *ret)
{
        send_end(r->gate, e);
        if (!sg_gate_wait_seen(r->gate, SG_REPORT_PATIENCE_MSEC, ret) &&
            leave_it_to_a_child(r, e) < 0)
                keep(r, e);
}
