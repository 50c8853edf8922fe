/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/store/writer/attempt.h"
#include "base/file.h"
#include "core/job/freeze.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_IN_ATTEMPT_MAX (SG_ATTEMPT_NAME_MAX + 16)
/* More than jobs end between two batches. */
#define SPARES_MAX 64U
#define SPARE_NAME_MAX 32

/* "N-ORIGIN-ATTEMPT/name", for calls relative to jobs_fd. */
static void path_in(char buf[PATH_IN_ATTEMPT_MAX], const struct sg_job_key *key, const char *name)
{
        size_t length;

        sg_attempt_name_format(buf, key);
        length = strlen(buf);
        (void)snprintf(buf + length, PATH_IN_ATTEMPT_MAX - length, "/%s", name);
}

static int make_fate(int state_fd, const char *path, const char *word)
{
        char line[8];

        /* A record is put there whole, by a rename, so that its being there is enough. */
        if (faccessat(state_fd, path, F_OK, 0) == 0)
                return 0;
        (void)snprintf(line, sizeof(line), "%s\n", word);
        return sg_write_file_atomic(state_fd, path, line, strlen(line), 0600);
}

static int make_dir(int state_fd, const char *path, mode_t mode)
{
        if (mkdirat(state_fd, path, mode) < 0)
                return errno == EEXIST ? 0 : -errno;
        /* past the umask */
        return fchmodat(state_fd, path, mode, 0) < 0 ? -errno : 0;
}

static void spare_name(char buf[SPARE_NAME_MAX], unsigned i, const char *file)
{
        (void)snprintf(buf, SPARE_NAME_MAX, ".spare-%u%s%s", i, file ? "/" : "", file ?: "");
}

static void remove_spares(struct sg_attempts *a)
{
        char name[SPARE_NAME_MAX];

        for (unsigned i = 0; i < SPARES_MAX; i++) {
                spare_name(name, i, NULL);
                (void)sg_remove_tree(a->jobs_fd, name);
        }
        a->n_spares = 0;
}

int sg_attempts_open(struct sg_attempts *a, const char *state_dir, const char **ret_what)
{
        const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
        int r;

        *ret_what = ".";
        a->state_fd = open(state_dir, flags);
        if (a->state_fd < 0)
                return -errno;
        *ret_what = "jobs";
        r = make_dir(a->state_fd, "jobs", 0700);
        if (r < 0)
                return r;
        a->jobs_fd = openat(a->state_fd, "jobs", flags | O_NOFOLLOW);
        if (a->jobs_fd < 0)
                return -errno;
        remove_spares(a);
        *ret_what = "logs"; /* to be passed through by users to what is theirs */
        r = make_dir(a->state_fd, "logs", 0711);
        if (r < 0)
                return r;
        *ret_what = "fate.run";
        r = make_fate(a->state_fd, "fate.run", SG_FATE_RUN);
        if (r < 0)
                return r;
        *ret_what = "fate.void";
        r = make_fate(a->state_fd, "fate.void", SG_FATE_VOID);
        if (r < 0)
                return r;
        return fsync(a->state_fd) < 0 ? -errno : 0;
}

void sg_attempts_close(struct sg_attempts *a)
{
        a->jobs_fd = sg_close(a->jobs_fd);
        a->state_fd = sg_close(a->state_fd);
}

int sg_attempts_sync(struct sg_attempts *a)
{
        return fsync(a->jobs_fd) < 0 ? -errno : 0;
}

int sg_attempts_each(struct sg_attempts *a, sg_attempts_cb cb, void *userdata)
{
        _cleanup_closedir_ DIR *dir = NULL;
        int fd, r = 0;

        fd = openat(a->jobs_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        dir = fdopendir(fd);
        if (!dir) {
                r = -errno;
                (void)sg_close(fd);
                return r;
        }
        while (r >= 0) {
                struct sg_job_key key;
                const struct dirent *e;

                errno = 0;
                e = readdir(dir);
                if (!e)
                        return -errno;
                if (sg_attempt_name_parse(e->d_name, &key) >= 0)
                        r = cb(&key, userdata);
        }
        return r;
}

static int make_file(struct sg_attempts *a, const struct sg_job_key *key, const char *name,
                     const void *data, size_t size)
{
        char path[PATH_IN_ATTEMPT_MAX];

        path_in(path, key, name);
        _cleanup_close_ int fd = openat(a->jobs_fd, path,
                                        O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        if (data)
                return sg_write_all(fd, data, size);
        /* A disk that is full when the job ends has still room for how it ended. */
        return size > 0 ? -posix_fallocate(fd, 0, (off_t)size) : 0;
}

/* The shim holds a POSIX lock on the whole file. Locks of that kind belong to a process, so opening
 * and closing the file here is harmless only because the writer itself never holds one. */
static int read_holder(struct sg_attempts *a, const struct sg_job_key *key, pid_t *ret)
{
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        char path[PATH_IN_ATTEMPT_MAX];

        path_in(path, key, "lock");
        _cleanup_close_ int fd = openat(a->jobs_fd, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno != ENOENT)
                return -errno;
        if (fd >= 0 && fcntl(fd, F_GETLK, &lock) < 0)
                return -errno;
        *ret = fd >= 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
        return 0;
}

/* --- spare directories ------------------------------------------------------------------------ */

static int replace(struct sg_attempts *a, const struct sg_job_key *key, const char *old,
                   const char *new, size_t size)
{
        char path[PATH_IN_ATTEMPT_MAX];

        path_in(path, key, old);
        if (unlinkat(a->jobs_fd, path, 0) < 0)
                return -errno;
        return make_file(a, key, new, NULL, size);
}

/* A new file takes the record's place: zeroes over the old one might not be on disk yet when the
 * power fails, and then the next attempt would have ended as this one did. Blocks that are only
 * allocated can't be read as old ones. The lock of `run` may be open for as long as its user likes,
 * who could lock the next job's, too, if it were the same file. */
static int renew(struct sg_attempts *a, const struct sg_job_key *key, bool foreground)
{
        int r = replace(a, key, "exit", "exit.tmp", SG_EXIT_SIZE);

        return r >= 0 && foreground ? replace(a, key, "lock", "lock", 0) : r;
}

/* 0: the directory is a spare now; < 0: it isn't fit to be one. It is fit when its shim has done
 * all that it does there: the record has its name, and the lock is free. */
static int keep_as_spare(struct sg_attempts *a, const struct sg_job_key *key, bool foreground)
{
        char from[PATH_IN_ATTEMPT_MAX], spare[SPARE_NAME_MAX];
        pid_t holder;
        int r;

        if (a->n_spares == SPARES_MAX)
                return -EXFULL;
        r = read_holder(a, key, &holder);
        if (r < 0 || holder > 0)
                return r < 0 ? r : -EBUSY;
        r = renew(a, key, foreground);
        if (r < 0)
                return r;
        path_in(from, key, "fate");
        if (unlinkat(a->jobs_fd, from, 0) < 0)
                return -errno;
        path_in(from, key, "frozen");
        if (unlinkat(a->jobs_fd, from, 0) < 0 && errno != ENOENT)
                return -errno;
        path_in(from, key, "spec"); /* what was submitted is not kept */
        _cleanup_close_ int spec =
                openat(a->jobs_fd, from, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW);
        if (spec < 0)
                return -errno;
        sg_attempt_name_format(from, key);
        spare_name(spare, a->n_spares, NULL);
        if (renameat(a->jobs_fd, from, a->jobs_fd, spare) < 0)
                return -errno;
        a->n_spares++;
        return 0;
}

static int use_spare(struct sg_attempts *a, const char *name, const void *spec, size_t spec_size)
{
        char spare[SPARE_NAME_MAX];
        int r;

        if (a->n_spares == 0)
                return -ENOENT;
        spare_name(spare, a->n_spares - 1, "spec");
        _cleanup_close_ int fd = openat(a->jobs_fd, spare, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        r = fd < 0 ? -errno : sg_write_all(fd, spec, spec_size);
        spare_name(spare, --a->n_spares, NULL);
        if (r >= 0 && renameat2(a->jobs_fd, spare, a->jobs_fd, name, RENAME_NOREPLACE) < 0)
                r = -errno;
        if (r < 0)
                (void)sg_remove_tree(a->jobs_fd, spare);
        return r;
}

/* --- one attempt ------------------------------------------------------------------------------ */

static int make_new(struct sg_attempts *a, const struct sg_job_key *key, const char *name,
                    const void *spec, size_t spec_size)
{
        int r;

        if (mkdirat(a->jobs_fd, name, 0700) < 0)
                return -errno;
        r = make_file(a, key, "spec", spec, spec_size);
        if (r >= 0)
                r = make_file(a, key, "lock", NULL, 0);
        if (r >= 0)
                r = make_file(a, key, "exit.tmp", NULL, SG_EXIT_SIZE);
        if (r < 0)
                (void)sg_attempt_remove(a, key);
        return r;
}

int sg_attempt_make(struct sg_attempts *a, const struct sg_job_key *key, const void *spec,
                    size_t spec_size)
{
        char name[SG_ATTEMPT_NAME_MAX];
        int r;

        sg_attempt_name_format(name, key);
        r = use_spare(a, name, spec, spec_size);
        return r >= 0 || r == -EEXIST ? r : make_new(a, key, name, spec, spec_size);
}

int sg_attempt_remove(struct sg_attempts *a, const struct sg_job_key *key)
{
        char name[SG_ATTEMPT_NAME_MAX];

        sg_attempt_name_format(name, key);
        return sg_remove_tree(a->jobs_fd, name);
}

int sg_attempt_retire(struct sg_attempts *a, const struct sg_job_key *key, bool foreground)
{
        if (keep_as_spare(a, key, foreground) >= 0)
                return 0;
        return sg_attempt_remove(a, key);
}

/* The record first, which takes its name along where a file system keeps a journal: then there is
 * nothing left to be written for the directory. */
static int sync_record(struct sg_attempts *a, const struct sg_job_key *key, int fd)
{
        return fsync(fd) < 0 ? -errno : sg_attempt_sync(a, key);
}

static int sync_old_record(struct sg_attempts *a, const struct sg_job_key *key, const char *exit)
{
        _cleanup_close_ int fd = openat(a->jobs_fd, exit, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

        return fd < 0 ? -errno : sync_record(a, key, fd);
}

int sg_attempt_record(struct sg_attempts *a, const struct sg_job_key *key, const struct sg_exit *e)
{
        char exit[PATH_IN_ATTEMPT_MAX], tmp[PATH_IN_ATTEMPT_MAX];
        uint8_t buf[SG_EXIT_SIZE];
        int r;

        path_in(exit, key, "exit");
        path_in(tmp, key, "exit.tmp");
        if (faccessat(a->jobs_fd, exit, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
                return sync_old_record(a, key, exit); /* whose answer was lost */
        _cleanup_close_ int fd = openat(a->jobs_fd, tmp, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
                return -errno;
        sg_exit_pack(e, buf);
        r = sg_write_all(fd, buf, sizeof(buf));
        if (r < 0)
                return r;
        /* If the power fails now, what has the name may not be whole: its checksum tells. */
        if (renameat(a->jobs_fd, tmp, a->jobs_fd, exit) < 0)
                return -errno;
        return sync_record(a, key, fd);
}

int sg_attempt_publish(struct sg_attempts *a, const struct sg_job_key *key, enum sg_publish publish)
{
        char path[PATH_IN_ATTEMPT_MAX];

        if (publish == SG_PUBLISH_NONE)
                return 0;
        path_in(path, key, "fate");
        if (linkat(a->state_fd, publish == SG_PUBLISH_RUN ? "fate.run" : "fate.void", a->jobs_fd,
                   path, 0) < 0 &&
            errno != EEXIST && errno != ENOENT)
                return -errno;
        return 0;
}

int sg_attempt_sync(struct sg_attempts *a, const struct sg_job_key *key)
{
        char name[SG_ATTEMPT_NAME_MAX];
        int r;

        sg_attempt_name_format(name, key);
        r = sg_fsync_dir(a->jobs_fd, name);
        return r == -ENOENT ? 0 : r;
}

static int read_frozen(struct sg_attempts *a, const struct sg_job_key *key, uint64_t *ret)
{
        char path[PATH_IN_ATTEMPT_MAX], text[SG_FREEZE_TEXT_MAX];
        int r;

        path_in(path, key, "frozen");
        r = sg_read_line_file(a->jobs_fd, path, text, sizeof(text));
        if (r == -ENOENT)
                *ret = 0;
        else if (r < 0)
                return r;
        else if (sg_freeze_parse(text, ret) < 0)
                return -EBADMSG;
        return 0;
}

static int write_frozen(struct sg_attempts *a, const struct sg_job_key *key, uint64_t reasons)
{
        char path[PATH_IN_ATTEMPT_MAX], name[SG_ATTEMPT_NAME_MAX], text[SG_FREEZE_TEXT_MAX + 1];

        path_in(path, key, "frozen");
        if (reasons != 0) {
                sg_freeze_format(text, reasons);
                strcat(text, "\n");
                return sg_write_file_atomic(a->jobs_fd, path, text, strlen(text), 0600);
        }
        if (unlinkat(a->jobs_fd, path, 0) < 0 && errno != ENOENT)
                return -errno;
        sg_attempt_name_format(name, key);
        return sg_fsync_dir(a->jobs_fd, name);
}

int sg_attempt_freeze(struct sg_attempts *a, const struct sg_job_key *key, uint64_t reasons,
                      bool on)
{
        uint64_t before;
        int r;

        r = read_frozen(a, key, &before);
        if (r < 0)
                return r;
        r = write_frozen(a, key, sg_freeze_change(before, reasons, on));
        if (r < 0) /* the directory may be there, but who asked is told that it isn't */
                (void)write_frozen(a, key, before);
        return r;
}

static int read_fate(struct sg_attempts *a, const struct sg_job_key *key, enum sg_fate *ret)
{
        char path[PATH_IN_ATTEMPT_MAX], word[16];
        int r;

        path_in(path, key, "fate");
        r = sg_read_line_file(a->jobs_fd, path, word, sizeof(word));
        if (r == -ENOENT)
                *ret = SG_ATTEMPT_NO_FATE;
        else if (r < 0)
                return r;
        else if (strcmp(word, SG_FATE_RUN) == 0)
                *ret = SG_ATTEMPT_RUN;
        else if (strcmp(word, SG_FATE_VOID) == 0)
                *ret = SG_ATTEMPT_VOID;
        else
                return -EBADMSG;
        return 0;
}

static int read_exit(struct sg_attempts *a, const struct sg_job_key *key, const char *name,
                     struct sg_attempt_info *info)
{
        char path[PATH_IN_ATTEMPT_MAX];
        _cleanup_free_ char *data = NULL;
        size_t size;
        int r;

        path_in(path, key, name);
        r = sg_read_file(a->jobs_fd, path, SG_EXIT_SIZE, &data, &size);
        if (r == -ENOENT || r == -EFBIG)
                return 0;
        if (r < 0)
                return r;
        info->have_exit = sg_exit_unpack(&info->exit, data, size) >= 0;
        return 0;
}

int sg_attempt_inspect(struct sg_attempts *a, const struct sg_job_key *key,
                       struct sg_attempt_info *ret)
{
        struct sg_attempt_info info = {0};
        char name[SG_ATTEMPT_NAME_MAX];
        int r;

        sg_attempt_name_format(name, key);
        if (faccessat(a->jobs_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
                if (errno != ENOENT)
                        return -errno;
                info.fate = SG_ATTEMPT_NO_DIR;
                *ret = info;
                return 0;
        }
        /* The lock first: a shim that ends in between has left its record before. */
        r = read_holder(a, key, &info.shim);
        if (r >= 0)
                r = read_fate(a, key, &info.fate);
        if (r >= 0)
                r = read_exit(a, key, "exit", &info);
        if (r >= 0)
                r = read_frozen(a, key, &info.frozen);
        /* A shim may be killed between writing and renaming; and one of the foreground that a
         * daemon of before has started writes its own, and can't rename it. */
        if (r >= 0 && !info.have_exit && info.shim == 0) {
                r = read_exit(a, key, "exit.tmp", &info);
                info.exit_unnamed = info.have_exit;
        }
        if (r >= 0)
                *ret = info;
        return r;
}

void sg_attempts_remove_kept(struct sg_attempts *a, const struct sg_job_key *key)
{
        char path[SG_ATTEMPT_NAME_MAX + 48];
        int n;

        (void)snprintf(path, sizeof(path), "series/%" PRIu64 "-%s", key->n, key->origin);
        (void)unlinkat(a->state_fd, path, 0);
        n = snprintf(path, sizeof(path), "logs/%" PRIu64 "-%s.log", key->n, key->origin);
        (void)unlinkat(a->state_fd, path, 0);
        for (unsigned i = 1;; i++) { /* .1, .2 …: rotation leaves no gaps */
                (void)snprintf(path + n, sizeof(path) - (size_t)n, ".%u", i);
                if (unlinkat(a->state_fd, path, 0) < 0)
                        return;
        }
}
