/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/channel/allocation.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "proto/team.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define ALLOCATION "allocation"
#define SOCKET "notify"
#define SCRIPT "script"

struct sg_allocations {
        int fd;
        char *root;
};

struct sg_allocations *sg_allocations_close(struct sg_allocations *a)
{
        if (!a)
                return NULL;
        (void)sg_close(a->fd);
        free(a->root);
        free(a);
        return NULL;
}

SG_DEFINE_CLEANUP(struct sg_allocations *, sg_allocations_close)

/* Everybody may pass through this directory by a name that they know, and nobody may list it: it
 * has the names of all users' jobs. This holds whatever the umask is, and whoever made it before
 * us. */
static int open_root(const char *root)
{
        int r = sg_mkdir_p(root, 0711);

        if (r < 0)
                return r;
        _cleanup_close_ int fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 || fchmod(fd, 0711) < 0)
                return -errno;
        return TAKE_FD(fd);
}

int sg_allocations_open(struct sg_allocations **ret, const char *root)
{
        _cleanup_(sg_allocations_closep) struct sg_allocations *a = calloc(1, sizeof(*a));

        if (!a)
                return -ENOMEM;
        a->fd = -1;
        a->root = strdup(root);
        if (!a->root)
                return -ENOMEM;
        a->fd = open_root(root);
        if (a->fd < 0)
                return a->fd;
        *ret = TAKE_PTR(a);
        return 0;
}

/* "N-ORIGIN-ATTEMPT/allocation" */
#define NAME_MAX_HERE (SG_ATTEMPT_NAME_MAX + sizeof(ALLOCATION) + 1)

static void name_of(char buf[NAME_MAX_HERE], const struct sg_job_key *key, const char *what)
{
        char attempt[SG_ATTEMPT_NAME_MAX];

        sg_attempt_name_format(attempt, key);
        (void)snprintf(buf, NAME_MAX_HERE, "%s/%s", attempt, what);
}

static int path_of(const struct sg_allocations *a, const struct sg_job_key *key, const char *what,
                   char *buf, size_t size)
{
        char name[NAME_MAX_HERE];

        name_of(name, key, what);
        return sg_path_join(buf, size, a->root, name);
}

int sg_allocations_path(const struct sg_allocations *a, const struct sg_job_key *key, char *buf,
                        size_t size)
{
        return path_of(a, key, ALLOCATION, buf, size);
}

int sg_allocations_socket_path(const struct sg_allocations *a, const struct sg_job_key *key,
                               char *buf, size_t size)
{
        return path_of(a, key, SOCKET, buf, size);
}

int sg_allocations_script_path(const struct sg_allocations *a, const struct sg_job_key *key,
                               char *buf, size_t size)
{
        return path_of(a, key, SCRIPT, buf, size);
}

int sg_allocations_prepare(const struct sg_allocations *a, const struct sg_job_key *key)
{
        char attempt[SG_ATTEMPT_NAME_MAX];

        sg_attempt_name_format(attempt, key);
        if (mkdirat(a->fd, attempt, 0755) < 0)
                return errno == EEXIST ? 0 : -errno;
        return fchmodat(a->fd, attempt, 0755, 0) < 0 ? -errno : 0;
}

static int replace(const struct sg_allocations *a, const struct sg_job_key *key, const char *name,
                   const char *text, size_t size)
{
        int r = sg_replace_file(a->fd, name, text, size, 0644);

        if (r != -ENOENT)
                return r;
        r = sg_allocations_prepare(a, key);
        return r < 0 ? r : sg_replace_file(a->fd, name, text, size, 0644);
}

int sg_allocations_publish(const struct sg_allocations *a, const struct sg_job_key *key,
                           struct sg_allocation *io)
{
        char name[NAME_MAX_HERE], text[SG_ALLOCATION_TEXT_MAX];
        _cleanup_free_ char *old = NULL;
        struct sg_allocation next = *io;
        int r, size;

        name_of(name, key, ALLOCATION);
        r = sg_read_file(a->fd, name, sizeof(text), &old, NULL);
        if (r == -ENOMEM)
                return r; /* with any other error it is written anew */
        next.seq = old ? sg_allocation_text_seq(old) : io->seq;
        size = sg_allocation_format(&next, text, sizeof(text));
        if (size < 0)
                return size;
        if (!old || strcmp(old, text) != 0) {
                next.seq++;
                size = sg_allocation_format(&next, text, sizeof(text));
                if (size < 0)
                        return size;
                r = replace(a, key, name, text, (size_t)size);
                if (r < 0)
                        return r;
                r = 1;
        }
        io->seq = next.seq;
        return r;
}

/* Removes what the job's processes have made in /dev/shm, where everybody may make files. Whoever
 * made it, the name is of no use to anybody else: no link is followed, and no directory removed. */
static void remove_team(const struct sg_allocations *a, const char *attempt)
{
        char path[PATH_MAX], name[SG_TEAM_NAME_MAX];
        struct stat st;

        if (snprintf(path, sizeof(path), "%s/%s/" ALLOCATION, a->root, attempt) >= PATH_MAX)
                return;
        sg_team_name(name, path);
        _cleanup_close_ int fd = open(SG_TEAM_DIR, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
                (void)unlinkat(fd, name, 0);
}

static int remove_attempt(const struct sg_allocations *a, const char *attempt)
{
        remove_team(a, attempt);
        return sg_remove_tree(a->fd, attempt);
}

int sg_allocations_remove(const struct sg_allocations *a, const struct sg_job_key *key)
{
        char attempt[SG_ATTEMPT_NAME_MAX];

        sg_attempt_name_format(attempt, key);
        return remove_attempt(a, attempt);
}

/* A failure with one doesn't keep the others from being removed; the first is returned. */
static int sweep(const struct sg_allocations *a, DIR *dir, sg_allocations_live_cb is_live,
                 void *userdata)
{
        int result = 0;

        for (;;) {
                struct sg_job_key key;

                errno = 0;
                const struct dirent *e = readdir(dir);
                if (!e)
                        return errno ? -errno : result;
                if (sg_attempt_name_parse(e->d_name, &key) < 0 || is_live(&key, userdata))
                        continue;

                int r = remove_attempt(a, e->d_name);
                if (r < 0 && result == 0)
                        result = r;
        }
}

int sg_allocations_sweep(const struct sg_allocations *a, sg_allocations_live_cb is_live,
                         void *userdata)
{
        _cleanup_close_ int fd = openat(a->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;

        _cleanup_closedir_ DIR *dir = fdopendir(fd);
        if (!dir)
                return -errno;
        fd = -1; /* the DIR owns it now */
        return sweep(a, dir, is_live, userdata);
}
