/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sampler has one file per role: that of the role's first source that is there and has its
 * figure. Which one it is, and its fd, is all that is kept between rounds.
 *
 * Whatever happens to a file, the others are read, and what it alone told becomes unknown. A job
 * has ended, rather than a file gone, when none of its groups is there.
 */

#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/kernel/sampler-internal.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>

/* A line of io.stat takes up to 130 bytes, per device. A file that doesn't fit is refused. */
#define TEXT_MAX 32768
#define READS_UNTIL_RETRY 64

/* Instead of an fd. */
enum { CLOSED = -1, ABSENT = -2 };

struct sg_sampler {
        const struct sg_group_dir *dirs;
        uint8_t n_dirs;
        bool whole;
        uint8_t reads;  /* since what is absent was looked for */
        uint16_t found; /* bits of roles whose `source` is one */
        uint16_t said;  /* of those whose trouble was told */
        int fds[SG_ROLES_MAX];
        uint8_t source[SG_ROLES_MAX];
        uint8_t trouble[SG_ROLES_MAX]; /* errno, 0 = none to tell */
};
_Static_assert(sizeof(struct sg_sampler) <= 128, "there are thousands of them");
_Static_assert(SG_ROLES_MAX <= 16, "a bit for each role");

static void look_again(struct sg_sampler *s)
{
        for (size_t i = 0; i < SG_ROLES_MAX; i++)
                if (s->fds[i] == ABSENT)
                        s->fds[i] = CLOSED;
        s->reads = 0;
}

void sg_sampler_set_dirs(struct sg_sampler *s, const struct sg_group_dir *dirs, size_t n_dirs)
{
        if (s->dirs == dirs && s->n_dirs == n_dirs)
                return;
        s->dirs = dirs;
        s->n_dirs = (uint8_t)(n_dirs < SG_HIER_MAX ? n_dirs : SG_HIER_MAX);
        look_again(s);
}

int sg_sampler_new(struct sg_sampler **ret, const struct sg_group_dir *dirs, size_t n_dirs,
                   bool whole)
{
        struct sg_sampler *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->whole = whole;
        for (size_t i = 0; i < SG_ROLES_MAX; i++)
                s->fds[i] = CLOSED;
        sg_sampler_set_dirs(s, dirs, n_dirs);
        *ret = s;
        return 0;
}

static void close_role(struct sg_sampler *s, size_t role)
{
        if (s->fds[role] >= 0)
                (void)sg_close(s->fds[role]);
        s->fds[role] = CLOSED;
}

struct sg_sampler *sg_sampler_free(struct sg_sampler *s)
{
        if (!s)
                return NULL;
        for (size_t i = 0; i < SG_ROLES_MAX; i++)
                close_role(s, i);
        free(s);
        return NULL;
}

unsigned sg_sampler_fds(const struct sg_sampler *s)
{
        unsigned n = 0;

        for (size_t i = 0; i < SG_ROLES_MAX; i++)
                n += s->fds[i] >= 0;
        return n;
}

/* --- paths */

static const char *dir_of(const struct sg_sampler *s, enum sg_hier hier)
{
        for (size_t i = 0; i < s->n_dirs; i++)
                if (s->dirs[i].hier == hier)
                        return s->dirs[i].path;
        return NULL;
}

static const char *below(const struct sg_sampler *s)
{
        return s->whole ? "" : "/job";
}

static int path_of(const struct sg_sampler *s, const char *dir, const char *file,
                   char path[PATH_MAX])
{
        int n = snprintf(path, PATH_MAX, "%s%s/%s", dir, below(s), file);

        return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 0;
}

static bool groups_gone(const struct sg_sampler *s)
{
        char path[PATH_MAX];

        for (size_t i = 0; i < s->n_dirs; i++)
                if (path_of(s, s->dirs[i].path, "", path) < 0 || access(path, F_OK) == 0 ||
                    errno != ENOENT)
                        return false;
        return s->n_dirs > 0;
}

/* --- one file */

/* open(2) gives the lowest free number, so a high one says how many are taken, whoever has them:
 * the rest is left for connections and children. */
static bool may_keep(int fd)
{
        struct rlimit limit;

        return getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
               (rlim_t)fd < limit.rlim_cur - limit.rlim_cur / 4;
}

static int read_fd(int fd, const struct sg_source *source, struct sg_sampling *to)
{
        static char text[TEXT_MAX]; /* of one call: on the stack each page would be touched */
        ssize_t n;

        do
                n = pread(fd, text, sizeof(text), 0);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        if ((size_t)n == sizeof(text))
                return -EFBIG;
        return sg_source_parse(source, text, (size_t)n, to);
}

static int open_and_read(struct sg_sampler *s, size_t role, const struct sg_source *source,
                         struct sg_sampling *to)
{
        const char *dir = dir_of(s, source->hier);
        _cleanup_close_ int fd = -1;
        char path[PATH_MAX];
        int r;

        if (!dir)
                return -ENOENT;
        r = path_of(s, dir, source->file, path);
        if (r < 0)
                return r;
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return -errno;
        r = read_fd(fd, source, to);
        if (r >= 0 && may_keep(fd))
                s->fds[role] = TAKE_FD(fd);
        return r;
}

/* Another source may have the figure: the controller is elsewhere, or its file is switched off. */
static bool is_absent(int r)
{
        return r == -ENOENT || r == -ENODEV || r == -ENODATA || r == -EOPNOTSUPP;
}

/* --- one role */

static int search(struct sg_sampler *s, size_t role, struct sg_sampling *to)
{
        const struct sg_source *sources = sg_roles[role].sources;
        int r = -ENOENT;

        for (size_t i = 0; i < SG_SOURCES_MAX && sources[i].file && is_absent(r); i++) {
                r = open_and_read(s, role, &sources[i], to);
                if (!is_absent(r))
                        s->source[role] = (uint8_t)i;
                if (r >= 0)
                        s->found |= (uint16_t)(1U << role);
        }
        return r;
}

/* The file that was read before, in the fd that is open or in a new one, or else any. */
static int read_role(struct sg_sampler *s, size_t role, struct sg_sampling *to)
{
        const struct sg_source *source = &sg_roles[role].sources[s->source[role]];
        int r = -ENOENT;

        if (s->fds[role] >= 0) {
                r = read_fd(s->fds[role], source, to);
                if (r >= 0 || r == -EBADMSG)
                        return r;
                close_role(s, role);
        }
        if (s->found & 1U << role)
                r = open_and_read(s, role, source, to);
        return is_absent(r) ? search(s, role, to) : r;
}

/* -ENOENT: the job is gone. What was never there is no trouble. */
static int sample_role(struct sg_sampler *s, size_t role, struct sg_sampling *to)
{
        int r;

        if (s->fds[role] == ABSENT) {
                sg_role_forget(&sg_roles[role], to);
                return 0;
        }
        r = read_role(s, role, to);
        if (r >= 0)
                return 0;
        if (is_absent(r)) {
                if (groups_gone(s))
                        return -ENOENT;
                s->fds[role] = ABSENT;
        }
        if ((!is_absent(r) || s->found & 1U << role) && !(s->said & 1U << role))
                s->trouble[role] = (uint8_t)-r;
        sg_role_forget(&sg_roles[role], to);
        return 0;
}

/* --- all of them */

int sg_sampler_read(struct sg_sampler *s, uint32_t what, struct sg_sample *io)
{
        struct sg_sampling to = {.sample = *io};
        int r;

        if (++s->reads >= READS_UNTIL_RETRY)
                look_again(s);
        to.sample.now_usec = sg_now_monotonic_usec();
        for (size_t i = 0; i < SG_ROLES_MAX; i++) {
                if (!(what & sg_roles[i].tier) || sg_role_known(&sg_roles[i], &to))
                        continue;
                r = sample_role(s, i, &to);
                if (r < 0)
                        return r;
        }
        *io = to.sample;
        return 0;
}

static const char *describe(int error)
{
        return error == EBADMSG                     ? "not in the form that is known"
               : error == EFBIG                     ? "longer than expected"
               : error == EMFILE || error == ENFILE ? "no file descriptor is left"
               : is_absent(-error)                  ? "gone"
                                                    : strerror(error);
}

/* Notes that it was told. A want of descriptors meets all files, and is told for the first only. */
static void told(struct sg_sampler *s, size_t role)
{
        uint8_t error = s->trouble[role];

        for (size_t i = 0; i < SG_ROLES_MAX; i++)
                if (i == role || (s->trouble[i] == error && (error == EMFILE || error == ENFILE))) {
                        s->trouble[i] = 0;
                        s->said |= (uint16_t)(1U << i);
                }
}

bool sg_sampler_trouble(struct sg_sampler *s, char *buf, size_t size)
{
        for (size_t i = 0; i < SG_ROLES_MAX; i++) {
                const struct sg_source *source;
                const char *dir;

                if (s->trouble[i] == 0)
                        continue;
                source = &sg_roles[i].sources[s->source[i]];
                dir = dir_of(s, source->hier);
                (void)snprintf(buf, size, "%s%s/%s: %s", dir ? dir : "", below(s), source->file,
                               describe(s->trouble[i]));
                told(s, i);
                return true;
        }
        return false;
}
