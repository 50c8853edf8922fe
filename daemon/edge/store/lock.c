/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/store/lock.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/time-util.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>

/* What a writer may have left to do is a batch of COMMITs; ten seconds is a very slow disk. */
#define WAIT_USEC (10 * SG_USEC_PER_SEC)
/* For a holder that we can't see; the end of one that we see is waited for by pidfd. */
#define RETRY_MSEC 20

struct signature {
        int daemon, writer;
        uint64_t start; /* of the daemon, in ticks since boot: pids are used again */
};

/* When a process was started; -ESRCH if there is none, or only its zombie. */
static int start_time(pid_t pid, uint64_t *ret)
{
        struct sg_process_stat stat;
        int r;

        r = sg_process_stat(pid, &stat);
        if (r < 0)
                return r;
        *ret = stat.start;
        return sg_process_is_alive(&stat) ? 0 : -ESRCH;
}

static bool read_signature(int fd, struct signature *ret)
{
        char line[96];
        ssize_t n;

        n = pread(fd, line, sizeof(line) - 1, 0);
        if (n <= 0)
                return false;
        line[n] = 0;
        return sscanf(line, "%d %" SCNu64 " %d", &ret->daemon, &ret->start, &ret->writer) == 3 &&
               ret->daemon > 0 && ret->writer > 0;
}

/* The signature may be our own, from before an exec. */
static bool daemon_lives(const struct signature *s)
{
        uint64_t start;

        return s->daemon != getpid() && start_time(s->daemon, &start) >= 0 && start == s->start;
}

static void wait_for(pid_t writer)
{
        _cleanup_close_ int pidfd = (int)syscall(SYS_pidfd_open, writer, 0);
        struct pollfd p = {.fd = pidfd, .events = POLLIN};

        (void)poll(&p, pidfd >= 0 ? 1 : 0, RETRY_MSEC);
}

int sg_store_lock(const char *state_dir, int *ret_fd, pid_t *ret_holder)
{
        uint64_t deadline = sg_now_monotonic_usec() + WAIT_USEC;
        _cleanup_close_ int dir = open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int fd = -1;

        if (dir < 0)
                return -errno;
        fd = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                struct signature s = {0};
                bool known, lives;

                if (errno != EWOULDBLOCK && errno != EINTR)
                        return -errno;
                known = read_signature(fd, &s);
                lives = known && daemon_lives(&s);
                if (lives || sg_now_monotonic_usec() > deadline) {
                        *ret_holder = lives ? s.daemon : 0;
                        return -EBUSY;
                }
                wait_for(known ? s.writer : 0);
        }
        *ret_fd = TAKE_FD(fd);
        return 0;
}

void sg_store_lock_sign(int fd, pid_t writer)
{
        uint64_t start;
        char line[96];
        int n;

        if (start_time(getpid(), &start) < 0)
                return;
        n = snprintf(line, sizeof(line), "%d %" PRIu64 " %d\n", (int)getpid(), start, (int)writer);
        if (ftruncate(fd, 0) == 0)
                (void)!pwrite(fd, line, (size_t)n, 0);
}
