/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/metrics/textfile.h"
#include "base/file.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/common/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define NAME "schedgov.prom"
/* Not *.prom, or node_exporter would read it half-written. */
#define TEMPORARY ".schedgov.prom.new"

struct sg_textfile {
        struct sg_worker *worker; /* one process for each write */
        char *dir;
        const void *data; /* NULL: the file is to go */
        size_t size;
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

static int remove_file(const char *path)
{
        _cleanup_close_ int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (dir < 0)
                return errno;
        (void)unlinkat(dir, TEMPORARY, 0);
        return unlinkat(dir, NAME, 0) < 0 ? errno : 0;
}

static int write_or_remove(int fd, void *userdata)
{
        const struct sg_textfile *t = userdata;

        (void)fd;
        return t->data ? replace(t->dir, t->data, t->size) : remove_file(t->dir);
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

static void on_buried(int status, void *userdata)
{
        report(userdata, WIFEXITED(status) ? WEXITSTATUS(status) : EINTR);
}

static const struct sg_worker_kind writer_kind = {
        .name = "schedgov-text",
        .title = "who writes " NAME,
        .end_usec = SG_USEC_PER_SEC,
        .main = write_or_remove,
        .buried = on_buried,
};

/* The object */

int sg_textfile_new(struct sg_textfile **ret, sd_event *event, const char *dir)
{
        _cleanup_(sg_textfile_freep) struct sg_textfile *t = calloc(1, sizeof(*t));
        int r;

        if (!t)
                return -ENOMEM;
        t->outcome = -1;
        t->dir = strdup(dir);
        if (!t->dir)
                return -ENOMEM;
        r = sg_worker_new(&t->worker, &writer_kind, t);
        if (r >= 0)
                r = sg_worker_attach(t->worker, event);
        if (r >= 0)
                *ret = TAKE_PTR(t);
        return r;
}

int sg_textfile_put(struct sg_textfile *t, const void *data, size_t size)
{
        if (sg_worker_is_running(t->worker))
                return -EBUSY;
        /* In the memory that the child is born with. */
        t->data = data;
        t->size = size;
        return sg_worker_start(t->worker, -1);
}

static void remove_in_child(struct sg_textfile *t)
{
        t->data = NULL;
        if (sg_worker_new(&t->worker, &writer_kind, t) >= 0)
                (void)sg_worker_start(t->worker, -1);
        t->worker = sg_worker_free(t->worker);
}

struct sg_textfile *sg_textfile_free(struct sg_textfile *t)
{
        if (!t)
                return NULL;
        if (t->worker) {
                sg_worker_stop(t->worker);
                t->worker = sg_worker_free(t->worker); /* has ended, if it can */
                remove_in_child(t);
        }
        free(t->dir);
        free(t);
        return NULL;
}
