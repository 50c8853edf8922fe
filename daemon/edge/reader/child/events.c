/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/reader/child/events.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "core/reports/metric.h"
#include "edge/reader/child/tail.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define BUFFER_SIZE (64U << 10)
#define LOOK_MAX                                                                                   \
        (8U << 20)       /* bytes of a file; records can't be skipped, so the rest comes later     \
                          */
#define DEPTH_MAX 4      /* run / version / train */
#define ENTRIES_MAX 2000 /* of a scan */
#define RESCAN_LOOKS 16  /* new directories deep below don't change the time of the top */

static uint8_t buffer[BUFFER_SIZE];

int sg_events_init(struct sg_events *e, const char *path, const char *tag, enum sg_goal goal)
{
        *e = (struct sg_events){.goal = goal, .idle = RESCAN_LOOKS};
        for (size_t i = 0; i < SG_EVENTS_FILES_MAX; i++)
                e->files[i].fd = -1;
        e->path = strdup(path);
        e->tag = tag && *tag ? strdup(tag) : NULL;
        return e->path && (e->tag || !tag || !*tag) ? 0 : -ENOMEM;
}

static void file_close(struct sg_events_file *f)
{
        sg_tfevents_deinit(&f->events);
        free(f->path);
        (void)sg_close(f->fd);
        *f = (struct sg_events_file){.fd = -1};
}

void sg_events_deinit(struct sg_events *e)
{
        for (size_t i = 0; i < SG_EVENTS_FILES_MAX; i++)
                file_close(&e->files[i]);
        free(TAKE_PTR(e->path));
        free(TAKE_PTR(e->tag));
}

/* --- which files */

/* runs/validation/events.out.tfevents.…: what it measures is known by its directory. */
static bool is_held_out(const char *path)
{
        static const char *const names[] = {"validation", "val", "valid", "eval", "test", "dev"};
        const char *end = strrchr(path, '/'), *s = end;

        while (s && s > path && s[-1] != '/')
                s--;
        for (size_t i = 0; s && i < SG_ELEMENTSOF(names); i++)
                if (strlen(names[i]) == (size_t)(end - s) &&
                    memcmp(names[i], s, (size_t)(end - s)) == 0)
                        return true;
        return false;
}

/* The place that a file has or gets: a free one, or that of an older file. NULL: all are newer. */
static struct sg_events_file *place_for(struct sg_events *e, const struct stat *st)
{
        struct sg_events_file *oldest = NULL;

        for (size_t i = 0; i < SG_EVENTS_FILES_MAX; i++) {
                struct sg_events_file *f = &e->files[i];

                if (f->path && f->ino == st->st_ino && f->dev == st->st_dev)
                        return f;
                if (!oldest || !f->path ||
                    (oldest->path && f->modified_usec < oldest->modified_usec))
                        oldest = f;
        }
        return !oldest->path || oldest->modified_usec < sg_mtime_usec(st) ? oldest : NULL;
}

static int add_file(struct sg_events *e, int dirfd, const char *name, const char *path)
{
        _cleanup_close_ int fd = -1;
        struct sg_events_file *f;
        struct stat st;

        if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                return -errno;
        if (sg_mtime_usec(&st) < e->since_usec)
                return 0;
        f = place_for(e, &st);
        if (!f)
                return 0;
        if (!f->path || f->ino != st.st_ino || f->dev != st.st_dev) {
                fd = sg_open_own(dirfd, name, e->uid, &st);
                if (fd < 0)
                        return fd;
                file_close(f);
                f->path = strdup(path);
                if (!f->path)
                        return -ENOMEM;
                f->fd = TAKE_FD(fd);
                f->dev = st.st_dev;
                f->ino = st.st_ino;
                f->held_out = is_held_out(path);
        }
        f->modified_usec = sg_mtime_usec(&st);
        return 0;
}

struct scan {
        struct sg_events *e;
        char path[PATH_MAX];
        unsigned entries, depth;
        int trouble;
};

static void scan_directory(struct scan *s, int fd);

static void scan_entry(struct scan *s, int dirfd, const struct dirent *d)
{
        size_t length = strlen(s->path);
        char path[PATH_MAX];
        int fd, r;

        if (sg_path_join(path, sizeof(path), s->path, d->d_name) < 0)
                return;
        if (strstr(d->d_name, "tfevents") && d->d_type != DT_DIR) {
                r = add_file(s->e, dirfd, d->d_name, path);
                if (r < 0 && r != -ENOENT)
                        s->trouble = r;
        } else if ((d->d_type == DT_DIR || d->d_type == DT_UNKNOWN) && s->depth < DEPTH_MAX) {
                fd = openat(dirfd, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd < 0)
                        return;
                memcpy(s->path, path, strlen(path) + 1);
                s->depth++;
                scan_directory(s, fd);
                s->depth--;
                s->path[length] = 0;
        }
}

/* Takes the fd. */
static void scan_directory(struct scan *s, int fd)
{
        _cleanup_closedir_ DIR *dir = fdopendir(fd);

        if (!dir) {
                (void)sg_close(fd);
                return;
        }
        for (const struct dirent *d; s->entries < ENTRIES_MAX && (d = readdir(dir));) {
                s->entries++;
                if (d->d_name[0] != '.')
                        scan_entry(s, dirfd(dir), d);
        }
}

static int scan(struct sg_events *e)
{
        struct scan s = {.e = e};
        int fd;

        if (strlen(e->path) >= sizeof(s.path))
                return -ENAMETOOLONG;
        memcpy(s.path, e->path, strlen(e->path) + 1);
        fd = open(e->path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        scan_directory(&s, fd);
        return s.trouble;
}

/* A directory's time is that of the newest name in it. */
static int look_for_files(struct sg_events *e)
{
        struct stat st;

        if (stat(e->path, &st) < 0)
                return -errno;
        if (e->idle < RESCAN_LOOKS && st.st_mtim.tv_sec == e->scanned.tv_sec &&
            st.st_mtim.tv_nsec == e->scanned.tv_nsec)
                return 0;
        e->idle = 0;
        e->scanned = st.st_mtim;
        return S_ISDIR(st.st_mode) ? scan(e) : add_file(e, AT_FDCWD, e->path, e->path);
}

/* --- what they say */

struct taking {
        struct sg_events *e;
        bool held_out; /* the file is */
        int n;
        struct sg_report *report;
};

static bool is_chosen(const struct taking *t, const struct sg_tfevents_scalar *s)
{
        const char *tag = t->e->tag ? t->e->tag : t->e->chosen;

        return strlen(tag) == s->tag_size && memcmp(tag, s->tag, s->tag_size) == 0 &&
               (t->e->tag || t->held_out == t->e->held_out);
}

/* A scalar that is better known takes over. */
static void choose(struct taking *t, const struct sg_tfevents_scalar *s)
{
        struct sg_metric m;
        uint8_t rank;

        if (t->e->tag || s->tag_size >= SG_EVENTS_TAG_MAX)
                return;
        m = sg_metric_of(s->tag, s->tag_size);
        m.held_out = m.held_out || t->held_out;
        rank = sg_metric_rank(&m, t->e->goal);
        if (rank <= t->e->rank)
                return;
        t->e->rank = rank;
        t->e->held_out = t->held_out;
        memcpy(t->e->chosen, s->tag, s->tag_size);
        t->e->chosen[s->tag_size] = 0;
}

static void on_scalar(const struct sg_tfevents_scalar *s, void *userdata)
{
        struct taking *t = userdata;

        choose(t, s);
        if (!is_chosen(t, s))
                return;
        t->n += t->n < INT_MAX;
        t->report->eval = s->value;
        t->report->has |= SG_REPORT_EVAL;
        if (s->step >= 0) {
                t->report->step = (uint64_t)s->step;
                t->report->has |= SG_REPORT_STEP;
        }
}

static int read_file(struct sg_events_file *f, struct taking *t)
{
        uint64_t end = f->at + LOOK_MAX;
        struct stat st;
        int r = 0;

        if (fstat(f->fd, &st) < 0)
                return -errno;
        if ((uint64_t)st.st_size < end)
                end = (uint64_t)st.st_size;
        t->held_out = f->held_out;
        while (f->at < end && r == 0) {
                uint64_t left = end - f->at;
                ssize_t n = sg_pread(f->fd, buffer, left < BUFFER_SIZE ? (size_t)left : BUFFER_SIZE,
                                     f->at);

                if (n < 0)
                        return (int)n;
                if (n == 0)
                        break;
                f->at += (uint64_t)n;
                r = sg_tfevents_feed(&f->events, buffer, (size_t)n, on_scalar, t);
        }
        f->lost = r != 0;
        return r > 0 ? -EBADMSG : r;
}

int sg_events_look(struct sg_events *e, struct sg_report *ret)
{
        struct sg_report report = {.has = 0};
        struct taking t = {.e = e, .report = &report};
        int trouble = look_for_files(e);

        for (size_t i = 0; i < SG_EVENTS_FILES_MAX; i++)
                if (e->files[i].path && !e->files[i].lost) {
                        int r = read_file(&e->files[i], &t);

                        trouble = r < 0 ? r : trouble;
                }
        e->idle = t.n > 0 ? 0 : e->idle + 1;
        if (t.n == 0)
                return trouble;
        *ret = report;
        return t.n;
}
