/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/textfile.h"
#include "base/file.h"
#include "edge/log.h"
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

/* The child: 0, or an errno, which is what it exits with */

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

/* The parent */

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

static void forget_child(struct sg_textfile *t)
{
        t->source = sd_event_source_disable_unref(t->source);
        t->pidfd = sg_close(t->pidfd);
        t->child = 0;
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

static int watch(struct sg_textfile *t)
{
        t->pidfd = (int)syscall(SYS_pidfd_open, t->child, 0);
        if (t->pidfd < 0)
                return -errno;
        return sd_event_add_io(t->event, &t->source, t->pidfd, EPOLLIN, on_child, t);
}

static void end_child(struct sg_textfile *t)
{
        struct pollfd p = {.fd = t->pidfd, .events = POLLIN};

        if (t->child == 0)
                return;
        (void)kill(t->child, SIGKILL);
        (void)poll(&p, 1, END_MSEC);
        (void)waitpid(t->child, NULL, WNOHANG);
        forget_child(t);
}

int sg_textfile_put(struct sg_textfile *t, const void *data, size_t size)
{
        int r;

        if (t->child > 0)
                return -EBUSY;
        t->child = fork();
        if (t->child == 0) {
                /* The daemon's locks and connections must not live as long as a write that hangs.
                 */
                (void)close_range(3, ~0U, 0);
                _exit(replace(t->dir, data, size));
        }
        if (t->child < 0) {
                t->child = 0;
                return -errno;
        }
        r = watch(t);
        if (r < 0)
                end_child(t);
        return r;
}

struct sg_textfile *sg_textfile_free(struct sg_textfile *t)
{
        if (!t)
                return NULL;
        end_child(t);
        if (t->dir) {
                _cleanup_close_ int dir = open(t->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

                if (dir >= 0) {
                        (void)unlinkat(dir, TEMPORARY, 0);
                        (void)unlinkat(dir, NAME, 0);
                }
        }
        free(t->dir);
        sd_event_unref(t->event);
        free(t);
        return NULL;
}
