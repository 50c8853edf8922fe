/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See logfile.h. Reads by position: the descriptor's own offset is shared with whoever
 * opened it. */

#include "ctl/ask/logfile.h"
#include "base/cleanup.h"
#include "ctl/show/document.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool is_live(const char *state)
{
        static const char *const live[] = {"queued", "starting", "running", "suspended"};

        for (size_t i = 0; state && i < SG_ELEMENTSOF(live); i++)
                if (strcmp(state, live[i]) == 0)
                        return true;
        return false;
}

static int open_path(const char *path, int *ret)
{
        /* O_NONBLOCK: a FIFO without a writer must not hang us. */
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

        if (fd < 0)
                return -errno;
        *ret = fd;
        return 0;
}

static int look_at_job(struct sg_logfile *l, struct sg_client *c, json_t **ret, struct sg_error *e)
{
        const char *state;
        int r = sg_client_get_job(c, l->id, NULL, ret, e);

        if (r < 0)
                return r;
        state = sg_document_string(*ret, "state");
        l->more = is_live(state);
        l->started = state && strcmp(state, "queued") != 0;
        return 0;
}

static int find_path(struct sg_logfile *l, struct sg_client *c, struct sg_error *e)
{
        _cleanup_json_ json_t *job = NULL;
        const char *path;
        int r;

        r = look_at_job(l, c, &job, e);
        if (r < 0)
                return r;
        path = sg_document_string(job, l->want_stderr ? "error" : "output");
        if (!path)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, l->id, "see schedctl status",
                                    "job %s has no file of its own for %s", l->id,
                                    l->want_stderr ? "stderr" : "stdout");
        l->path = strdup(path);
        return l->path ? 0 : -ENOMEM;
}

static int open_user_file(struct sg_logfile *l, struct sg_error *e)
{
        int r = open_path(l->path, &l->fd);

        if (r < 0 && !(r == -ENOENT && l->more))
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, l->id, NULL, "cannot open %s: %s",
                                    l->path, strerror(-r));
        return 0;
}

static int take_managed(struct sg_logfile *l, sd_bus_message *reply, struct sg_error *e)
{
        int fd, more, r;

        r = sd_bus_message_read(reply, "hb", &fd, &more);
        if (r < 0)
                return sg_error_garbled(e, r);
        l->fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (l->fd < 0)
                return sg_error_errno(e, -errno, "cannot keep a descriptor");
        l->more = more != 0;
        return 0;
}

/* A job without a log is no failure. */
static int nothing_yet(struct sg_logfile *l, struct sg_client *c, struct sg_error *e)
{
        _cleanup_json_ json_t *job = NULL;

        return look_at_job(l, c, &job, e);
}

/* 1: it isn't managed, look for the user's file. */
static int open_managed(struct sg_logfile *l, struct sg_client *c, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        sd_bus_error error = SD_BUS_ERROR_NULL;
        int r;

        r = sg_client_manager(c, "OpenLog", &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "s", l->id);
        if (r < 0)
                return sg_error_errno(e, r, "cannot make the request");
        r = sd_bus_call(c->bus, m, SG_CALL_USEC, &error, &reply);
        if (r >= 0)
                return take_managed(l, reply, e);
        if (sd_bus_error_has_name(&error, SG_ERROR_INVALID) && strstr(error.message, "\n/"))
                r = 1;
        else if (sd_bus_error_has_name(&error, SG_ERROR_WRONG_STATE) ||
                 sd_bus_error_has_name(&error, SG_ERROR_NO_SUCH_JOB))
                r = nothing_yet(l, c, e);
        else
                r = sg_client_failure(c, r, &error, l->id, e);
        sd_bus_error_free(&error);
        return r;
}

int sg_logfile_open(struct sg_logfile *l, struct sg_client *c, struct sg_error *e)
{
        int r = 1;

        l->fd = -1;
        if (!l->want_stderr && !l->path)
                r = open_managed(l, c, e);
        if (r <= 0)
                return r;
        free(l->path);
        l->path = NULL;
        r = find_path(l, c, e);
        return r < 0 ? r : open_user_file(l, e);
}

static bool same_file(int a, int b)
{
        struct stat sa, sb;

        return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
               sa.st_ino == sb.st_ino;
}

int sg_logfile_reopen(struct sg_logfile *l, struct sg_client *c, struct sg_error *e)
{
        _cleanup_close_ int old = TAKE_FD(l->fd);
        int r;

        if (l->path) {
                r = open_path(l->path, &l->fd);
                if (r < 0) /* between the rename and the new file, or gone for good */
                        r = 0;
        } else {
                r = open_managed(l, c, e);
        }
        if (l->fd >= 0 && !same_file(old, l->fd)) {
                l->position = 0;
                return 1;
        }
        (void)sg_close(l->fd);
        l->fd = TAKE_FD(old);
        if (r == -ECONNRESET)
                return r;
        sg_error_clear(e); /* what we have is still readable */
        return 0;
}

int sg_logfile_seek_lines(struct sg_logfile *l, uint64_t n)
{
        char buf[65536];
        struct stat st;
        off_t end;

        if (fstat(l->fd, &st) < 0)
                return -errno;
        end = st.st_size;
        l->position = end;
        for (off_t at = end; n > 0 && at > 0;) {
                size_t size = at < (off_t)sizeof(buf) ? (size_t)at : sizeof(buf);
                ssize_t got = pread(l->fd, buf, size, at - (off_t)size);

                if (got != (ssize_t)size)
                        return got < 0 ? -errno : -EIO;
                for (size_t i = size; i-- > 0;) {
                        off_t here = at - (off_t)size + (off_t)i;

                        /* the newline that ends the file ends a line, it doesn't begin one */
                        if (buf[i] != '\n' || here == end - 1)
                                continue;
                        if (--n == 0) {
                                l->position = here + 1;
                                return 0;
                        }
                }
                at -= (off_t)size;
        }
        if (n > 0)
                l->position = 0;
        return 0;
}

ssize_t sg_logfile_read(struct sg_logfile *l, char *buf, size_t size)
{
        ssize_t n = pread(l->fd, buf, size, l->position);
        struct stat st;

        if (n < 0 && errno == ESPIPE) /* a FIFO or a terminal of the user's */
                n = read(l->fd, buf, size);
        if (n < 0)
                return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        if (n == 0 && fstat(l->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < l->position) {
                l->position = 0;
                return sg_logfile_read(l, buf, size);
        }
        l->position += n;
        return n;
}

void sg_logfile_deinit(struct sg_logfile *l)
{
        l->fd = sg_close(l->fd);
        free(l->path);
        l->path = NULL;
}
