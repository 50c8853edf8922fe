/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/caller.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5; not in Debian 12's headers */
#endif

/* The "Pid:" of a pidfd's fdinfo; −1 once the process has been reaped. */
static pid_t pidfd_pid(int pidfd)
{
        _cleanup_free_ char *text = NULL;
        char path[64], *line;
        int pid;

        (void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
        if (sg_read_file(AT_FDCWD, path, 4096, &text, NULL) < 0)
                return -1;
        line = strstr(text, "\nPid:");
        if (!line || sscanf(line, "\nPid: %d", &pid) != 1)
                return -1;
        return pid;
}

/* Opens a pidfd by pid, where nobody hands us one. A process that started after we began to look is
 * not the one that connected. */
static int open_by_pid(pid_t pid, int *ret)
{
        _cleanup_close_ int fd = -1;
        struct sg_process_stat stat;
        struct timespec now;
        int r;

        (void)clock_gettime(CLOCK_BOOTTIME, &now);
        fd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (fd < 0)
                return -errno;
        r = sg_process_stat(pid, &stat);
        if (r < 0)
                return r;
        if (stat.start > (uint64_t)(now.tv_sec + 1) * (uint64_t)sysconf(_SC_CLK_TCK))
                return -ESRCH;
        *ret = TAKE_FD(fd);
        return 0;
}

static int read_groups(int fd, gid_t **ret, size_t *ret_n)
{
        _cleanup_free_ gid_t *groups = NULL;
        socklen_t size = 64 * sizeof(gid_t);

        for (;;) {
                gid_t *bigger = realloc(groups, size);

                if (!bigger)
                        return -ENOMEM;
                groups = bigger;
                if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) == 0)
                        break;
                if (errno != ERANGE)
                        return -errno;
        }
        *ret_n = size / sizeof(gid_t);
        *ret = TAKE_PTR(groups);
        return 0;
}

int sg_caller_from_socket(struct sg_caller *ret, int fd)
{
        struct sg_caller c = {.pidfd = -1};
        struct ucred cred;
        socklen_t size = sizeof(cred);
        int pidfd, r;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
                return -errno;
        c.uid = cred.uid;
        c.gid = cred.gid;
        c.pid = cred.pid;
        r = read_groups(fd, &c.groups, &c.n_groups);
        if (r < 0)
                return r;
        size = sizeof(pidfd);
        if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &size) == 0)
                c.pidfd = pidfd;
        else if (errno == ENOPROTOOPT && open_by_pid(cred.pid, &pidfd) == 0)
                c.pidfd = pidfd;
        *ret = c;
        return 0;
}

/* From a message bus */

static int read_credential(const char *key, sd_bus_message *m, struct sg_caller *c)
{
        const void *groups;
        size_t size;
        int fd, r;

        if (strcmp(key, "UnixUserID") == 0)
                return sd_bus_message_read(m, "v", "u", &c->uid);
        if (strcmp(key, "ProcessID") == 0)
                return sd_bus_message_read(m, "v", "u", &c->pid);
        if (strcmp(key, "ProcessFD") == 0) {
                r = sd_bus_message_read(m, "v", "h", &fd);
                if (r < 0 || c->pidfd >= 0)
                        return r;
                c->pidfd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
                return c->pidfd < 0 ? -errno : 0;
        }
        if (strcmp(key, "UnixGroupIDs") != 0)
                return sd_bus_message_skip(m, "v");
        r = sd_bus_message_enter_container(m, 'v', "au");
        if (r >= 0)
                r = sd_bus_message_read_array(m, 'u', &groups, &size);
        if (r < 0 || c->groups)
                return r;
        c->groups = malloc(size + 1); /* none is not the same as not told */
        if (!c->groups)
                return -ENOMEM;
        memcpy(c->groups, groups, size);
        c->n_groups = size / sizeof(gid_t);
        return sd_bus_message_exit_container(m);
}

static int read_credentials(sd_bus_message *m, struct sg_caller *c)
{
        const char *key;
        int r;

        r = sd_bus_message_enter_container(m, 'a', "{sv}");
        if (r < 0)
                return r;
        while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                r = sd_bus_message_read(m, "s", &key);
                if (r >= 0)
                        r = read_credential(key, m, c);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
                if (r < 0)
                        return r;
        }
        return r;
}

static int parse_groups(const char *list, struct sg_caller *c)
{
        char *end;

        for (;;) {
                unsigned long gid = strtoul(list, &end, 10);
                gid_t *grown;

                if (end == list)
                        return 0;
                grown = realloc(c->groups, (c->n_groups + 1) * sizeof(gid_t));
                if (!grown)
                        return -ENOMEM;
                c->groups = grown;
                c->groups[c->n_groups++] = (gid_t)gid;
                list = end;
        }
}

/*
 * A bus knows all the groups of a process, but not which of them is its main group: that is read
 * from /proc. It is the real gid that is taken, as a set-group-id program has its user's there,
 * too; and the bus must know it, so that another process that has come by the same pid lends nobody
 * its group.
 */
static int read_own_group(struct sg_caller *c)
{
        _cleanup_free_ char *text = NULL;
        const char *uids, *gids, *groups;
        char path[64];
        uid_t real, effective;
        bool told = c->groups;
        int r;

        (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)c->pid);
        r = sg_read_file(AT_FDCWD, path, 64U * 1024, &text, NULL);
        if (r < 0 || c->pidfd < 0 || pidfd_pid(c->pidfd) != c->pid)
                return r == -ENOMEM ? r : -ESRCH;
        uids = strstr(text, "\nUid:");
        gids = strstr(text, "\nGid:");
        groups = strstr(text, "\nGroups:");
        if (!uids || !gids || !groups || sscanf(uids, "\nUid: %u %u", &real, &effective) != 2 ||
            sscanf(gids, "\nGid: %u", &c->gid) != 1)
                return -EBADMSG;
        if (c->uid != real && c->uid != effective)
                return -EBADMSG;
        if (!told)
                return parse_groups(groups + strlen("\nGroups:"), c);
        for (size_t i = 0; i < c->n_groups; i++)
                if (c->groups[i] == c->gid)
                        return 0;
        return -EBADMSG;
}

int sg_caller_from_credentials(struct sg_caller *ret, sd_bus_message *reply)
{
        struct sg_caller c = {.uid = (uid_t)-1, .gid = (gid_t)-1, .pidfd = -1};
        int r;

        r = read_credentials(reply, &c);
        if (r >= 0 && (c.uid == (uid_t)-1 || c.pid <= 0))
                r = -EBADMSG;
        if (r >= 0 && c.pidfd < 0 && open_by_pid(c.pid, &c.pidfd) < 0)
                r = -ESRCH;
        if (r >= 0)
                r = read_own_group(&c);
        if (r < 0) {
                sg_caller_deinit(&c);
                return r;
        }
        *ret = c;
        return 0;
}

void sg_caller_deinit(struct sg_caller *c)
{
        c->pidfd = sg_close(c->pidfd);
        free(c->groups);
        c->groups = NULL;
        c->n_groups = 0;
}

bool sg_caller_in_group(const struct sg_caller *c, gid_t gid)
{
        if (c->gid == gid)
                return true;
        for (size_t i = 0; i < c->n_groups; i++)
                if (c->groups[i] == gid)
                        return true;
        return false;
}

bool sg_caller_is_process(const struct sg_caller *c, int pidfd)
{
        return c->pidfd >= 0 && c->pid > 0 && pidfd_pid(pidfd) == c->pid &&
               pidfd_pid(c->pidfd) == c->pid;
}

static rlim_t parse_rlimit(const char *word)
{
        return strcmp(word, "unlimited") == 0 ? RLIM_INFINITY : strtoull(word, NULL, 10);
}

/* prlimit(2) on another user's process wants CAP_SYS_RESOURCE, which root in a container often
 * lacks. The file has a heading, then a line for each resource in order, the name in 25 columns. */
int sg_caller_rlimits(const struct sg_caller *c, struct rlimit ret[RLIM_NLIMITS])
{
        _cleanup_free_ char *text = NULL;
        char path[64], *line, *rest = NULL, soft[24], hard[24];
        int r;

        (void)snprintf(path, sizeof(path), "/proc/%d/limits", (int)c->pid);
        r = sg_read_file(AT_FDCWD, path, 16384, &text, NULL);
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;
        if (c->pidfd < 0 || pidfd_pid(c->pidfd) != c->pid)
                return -ESRCH;
        (void)strtok_r(text, "\n", &rest);
        for (int i = 0; i < RLIM_NLIMITS; i++) {
                line = strtok_r(NULL, "\n", &rest);
                if (!line || strlen(line) < 26 || sscanf(line + 25, "%23s %23s", soft, hard) != 2)
                        return -EBADMSG;
                ret[i] = (struct rlimit){parse_rlimit(soft), parse_rlimit(hard)};
        }
        return 0;
}

int sg_caller_start_ticks(const struct sg_caller *c, uint64_t *ret)
{
        struct sg_process_stat stat;
        int r = sg_process_stat(c->pid, &stat);

        if (r < 0 || c->pidfd < 0 || pidfd_pid(c->pidfd) != c->pid)
                return r == -ENOMEM ? r : -ESRCH;
        *ret = stat.start;
        return 0;
}
