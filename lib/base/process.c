/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/process.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/time-util.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PF_EXITING 0x4U /* include/linux/sched.h; shown since long before cgroup v2 */
#define STATUS_MAX 16384

int sg_process_stat(pid_t pid, struct sg_process_stat *ret)
{
        uint64_t user, sys, child_user, child_sys;
        struct sg_process_stat p;
        unsigned flags;
        char path[32], line[1024];
        const char *rest;
        int r;

        (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        r = sg_read_line_file(AT_FDCWD, path, line, sizeof(line));
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;
        /* proc(5): "pid (comm) S ppid …"; comm may hold anything, so count from its end. */
        rest = strrchr(line, ')');
        if (!rest ||
            sscanf(rest + 1,
                   " %c %d %*d %*d %d %*d %u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %*d %*d %" SCNu64 " %*d %" SCNu64 " %*u %" SCNu64,
                   &p.state, &p.parent, &p.terminal, &flags, &user, &sys, &child_user, &child_sys,
                   &p.threads, &p.start, &p.rss_pages) != 11)
                return -EBADMSG;
        p.exiting = flags & PF_EXITING;
        p.ticks = user + sys;
        p.child_ticks = child_user + child_sys;
        *ret = p;
        return 0;
}

int sg_process_age_usec(pid_t pid, uint64_t *ret)
{
        uint64_t now, begun;
        struct sg_process_stat p;
        int r = sg_process_stat(pid, &p);

        if (r < 0)
                return r;
        now = sg_now_boottime_usec();
        begun = p.start * SG_USEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
        *ret = now > begun ? now - begun : 0;
        return 0;
}

int sg_process_owner(pid_t pid, struct sg_process_owner *ret)
{
        _cleanup_free_ char *text = NULL;
        struct sg_process_owner o;
        char path[32], *line;
        int r;

        (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
        r = sg_read_file(AT_FDCWD, path, STATUS_MAX, &text, NULL);
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;
        line = strstr(text, "\nUid:"); /* (in a name the kernel escapes a newline) */
        if (!line || sscanf(line, "\nUid: %u %u %u", &o.real, &o.effective, &o.saved) != 3)
                return -EBADMSG;
        *ret = o;
        return 0;
}

bool sg_process_is_of(pid_t pid, uid_t uid)
{
        struct sg_process_owner o;

        return sg_process_owner(pid, &o) >= 0 && o.real == uid && o.effective == uid &&
               o.saved == uid;
}

bool sg_process_may_be_signalled(pid_t pid, uid_t uid)
{
        struct sg_process_owner o;

        return sg_process_owner(pid, &o) >= 0 && (uid == 0 || o.real == uid || o.saved == uid);
}
