/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/metrics/textfile.h"
#include "base/file.h"
#include "edge/common/log.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NAME "schedgov.prom"
/* Not *.prom, or node_exporter would read it half-written. */
#define TEMPORARY ".schedgov.prom.new"
#define END_MSEC 1000

struct sg_textfile {
        sd_event *event;
        sd_event_source *source;
        char *dir;
        pid_t child; /* 0 = none */
        int pidfd;
        int outcome; /* of the last write, as errno; −1 = there was none */
};

/* In a child: 0, or an errno, which is what it exits with */

static int write_temporary(int dir, const void *data, size_t size)
{
        _cleanup_close_ int fd =
                openat(dir, TEMPORARY, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

        if (fd < 0 || fchmod(fd, 0644) < 0)
                return -errno;
        return sg_write_all(fd, data, size);
}

static int replace(const char *path, const void *data, size_t size)
{
        _cleanup_close_ int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (dir < 0)
                return errno;
        (void)unlinkat(dir, TEMPORARY, 0);
        r = write_temporary(dir, data, size);
        if (r >= 0 && renameat(dir, TEMPORARY, dir, NAME) < 0)
                r = -errno;
        if (r < 0)
                (void)unlinkat(dir, TEMPORARY, 0);
        return -r;
}

static int remove_file(const char *path, const void *data, size_t size)
{
        _cleanup_close_ int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

        (void)data;
        (void)size;
        if (dir < 0)
                return errno;
        (void)unlinkat(dir, TEMPORARY, 0);
        return unlinkat(dir, NAME, 0) < 0 ? errno : 0;
}

/* The parent */

static int start(struct sg_textfile *t, int (*work)(const char *, const void *, size_t),
                 const void *data, size_t size)
{
        t->child = fork();
        if (t->child == 0) {
                /* The daemon's locks and connections must not live as long as a disk that hangs. */
                (void)close_range(3, ~0U, 0);
                _exit(work(t->dir, data, size));
        }
        if (t->child < 0) {
                t->child = 0;
                return -errno;
        }
        t->pidfd = (int)syscall(SYS_pidfd_open, t->child, 0);
        return t->pidfd < 0 ? -errno : 0;
}

static void forget_child(struct sg_textfile *t)
{
        t->source = sd_event_source_disable_unref(t->source);
        t->pidfd = sg_close(t->pidfd);
        t->child = 0;
}

/* Waits for it, though not for long. */
static void wait_for_child(struct sg_textfile *t)
{
        struct pollfd p = {.fd = t->pidfd, .events = POLLIN};

        (void)poll(&p, 1, END_MSEC);
        if (waitpid(t->child, NULL, WNOHANG) == t->child)
                forget_child(t);
}

static void end_child(struct sg_textfile *t)
{
        if (t->child == 0)
                return;
        (void)kill(t->child, SIGKILL);
        wait_for_child(t);
        forget_child(t);
}

static void report(struct sg_textfile *t, int outcome)
{
        if (outcome == t->outcome)
                return;
        if (outcome != 0)
                sg_log(LOG_WARNING, "cannot write %s/" NAME ": %s", t->dir, strerror(outcome));
        else if (t->outcome > 0)
                sg_log(LOG_NOTICE, "%s/" NAME " can be written again", t->dir);
        t->outcome = outcome;
}

static int on_child(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_textfile *t = userdata;
        int status = 0;

        (void)source;
        (void)fd;
        (void)revents;
        if (waitpid(t->child, &status, WNOHANG) != t->child)
                return 0;
        forget_child(t);
        report(t, WIFEXITED(status) ? WEXITSTATUS(status) : EINTR);
        return 0;
}

/* The object */

int sg_textfile_new(struct sg_textfile **ret, sd_event *event, const char *dir)
{
        _cleanup_(sg_textfile_freep) struct sg_textfile *t = calloc(1, sizeof(*t));

        if (!t)
                return -ENOMEM;
        t->pidfd = -1;
        t->outcome = -1;
        t->event = sd_event_ref(event);
        t->dir = strdup(dir);
        if (!t->dir)
                return -ENOMEM;
        *ret = TAKE_PTR(t);
        return 0;
}

int sg_textfile_put(struct sg_textfile *t, const void *data, size_t size)
{
        int r;

        if (t->child > 0)
                return -EBUSY;
        r = start(t, replace, data, size);
        if (r >= 0)
                r = sd_event_add_io(t->event, &t->source, t->pidfd, EPOLLIN, on_child, t);
        if (r < 0)
                end_child(t);
        return r;
}

struct sg_textfile *sg_textfile_free(struct sg_textfile *t)
{
        if (!t)
                return NULL;
        end_child(t);
        if (t->dir && start(t, remove_file, NULL, 0) >= 0)
                wait_for_child(t);
        end_child(t);
        free(t->dir);
        sd_event_unref(t->event);
        free(t);
        return NULL;
}
