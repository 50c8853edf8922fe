/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "file.h"
#include "cleanup.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#ifndef RENAME_EXCHANGE /* musl has neither that nor renameat2() */
#define RENAME_EXCHANGE (1U << 1)
#endif

/* Deeper trees than this are not ours; the bound is on open directories and on the stack. */
#define TREE_DEPTH_MAX 64

static ssize_t read_retry(int fd, void *buf, size_t size)
{
        for (;;) {
                ssize_t n = read(fd, buf, size);

                if (n >= 0)
                        return n;
                if (errno != EINTR)
                        return -errno;
        }
}

ssize_t sg_read_full(int fd, void *buf, size_t size)
{
        size_t done = 0;

        while (done < size) {
                ssize_t n = read_retry(fd, (char *)buf + done, size - done);

                if (n < 0)
                        return n;
                if (n == 0)
                        break;
                done += (size_t)n;
        }
        return (ssize_t)done;
}

ssize_t sg_pread(int fd, void *buf, size_t size, uint64_t at)
{
        for (;;) {
                ssize_t n = pread(fd, buf, size, (off_t)at);

                if (n >= 0)
                        return n;
                if (errno != EINTR)
                        return -errno;
        }
}

uint64_t sg_mtime_usec(const struct stat *st)
{
        return (uint64_t)st->st_mtim.tv_sec * 1000000 + (uint64_t)st->st_mtim.tv_nsec / 1000;
}

int sg_write_all(int fd, const void *data, size_t size)
{
        const char *p = data;

        while (size > 0) {
                ssize_t n = write(fd, p, size);

                if (n < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                p += n;
                size -= (size_t)n;
        }
        return 0;
}

/* What to read at first: the size of a regular file, one page of those that don't tell. */
static size_t first_guess(int fd, size_t max)
{
        struct stat st;
        size_t guess = 4096;

        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
                guess = (uint64_t)st.st_size < max ? (size_t)st.st_size + 1 : max + 1;
        return guess < max + 1 ? guess : max + 1;
}

int sg_read_file(int dirfd, const char *path, size_t max, char **ret, size_t *ret_size)
{
        _cleanup_free_ char *buf = NULL;
        size_t done = 0, room;

        if (max > SSIZE_MAX - 2)
                max = SSIZE_MAX - 2;

        _cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return -errno;

        /* One byte more than allowed is asked for: getting it is how "too large" shows. */
        room = first_guess(fd, max);
        for (;;) {
                char *p = realloc(buf, room + 1);
                if (!p)
                        return -ENOMEM;
                buf = p;

                ssize_t n = sg_read_full(fd, buf + done, room - done);
                if (n < 0)
                        return (int)n;
                done += (size_t)n;
                if (done > max)
                        return -EFBIG;
                if (done < room)
                        break;
                room = room > max / 2 ? max + 1 : room * 2;
        }

        buf[done] = 0;
        *ret = TAKE_PTR(buf);
        if (ret_size)
                *ret_size = done;
        return 0;
}

int sg_read_line_file(int dirfd, const char *path, char *buf, size_t size)
{
        char more;

        _cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return -errno;

        ssize_t n = sg_read_full(fd, buf, size);
        if (n < 0)
                return (int)n;

        size_t length = (size_t)n;
        if (length > 0 && buf[length - 1] == '\n')
                length--;
        if (length == size)
                return -EFBIG;
        if ((size_t)n == size) {
                n = read_retry(fd, &more, 1);
                if (n != 0)
                        return n < 0 ? (int)n : -EFBIG;
        }
        buf[length] = 0;
        return 0;
}

int sg_write_file(int dirfd, const char *path, const char *str)
{
        size_t size = strlen(str);

        _cleanup_close_ int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        if (fd < 0)
                return -errno;

        for (;;) {
                ssize_t n = write(fd, str, size);

                if (n >= 0)
                        return (size_t)n == size ? 0 : -EIO;
                if (errno != EINTR)
                        return -errno;
        }
}

/* The directory of path, "." for a bare name. */
static int parent_of(const char *path, char *buf, size_t size)
{
        const char *slash = strrchr(path, '/');
        size_t length = slash ? (size_t)(slash - path) : 0;

        if (!slash)
                path = ".", length = 1;
        else if (length == 0)
                length = 1;
        if (length >= size)
                return -ENAMETOOLONG;
        memcpy(buf, path, length);
        buf[length] = 0;
        return 0;
}

static int fill(int fd, const void *data, size_t size, mode_t mode, bool durably)
{
        int r;

        if (fchmod(fd, mode) < 0)
                return -errno;
        r = sg_write_all(fd, data, size);
        if (r < 0)
                return r;
        return durably && fsync(fd) < 0 ? -errno : 0;
}

/* The pid makes the name ours; what an earlier process of this pid left behind is replaced. */
static int create_temporary(int dirfd, const char *path, char *name, size_t size)
{
        const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
        int n = snprintf(name, size, "%s.%d.tmp", path, (int)getpid());

        if (n < 0 || (size_t)n >= size)
                return -ENAMETOOLONG;

        int fd = openat(dirfd, name, flags, 0600);
        if (fd < 0 && errno == EEXIST && unlinkat(dirfd, name, 0) == 0)
                fd = openat(dirfd, name, flags, 0600);
        return fd < 0 ? -errno : fd;
}

enum how { DURABLY, AT_ONCE, AT_LEISURE };

/* Both change names, and the old file is removed, perhaps before anybody has written it. */
static int change_places(int dirfd, const char *temporary, const char *path)
{
        struct stat st;

        if (fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
            syscall(SYS_renameat2, dirfd, temporary, dirfd, path, RENAME_EXCHANGE) < 0)
                return -EOPNOTSUPP;
        return unlinkat(dirfd, temporary, 0) < 0 ? -errno : 0;
}

static int put_in_place(int dirfd, const char *temporary, const char *path, enum how how)
{
        int r = how == AT_LEISURE ? change_places(dirfd, temporary, path) : -EOPNOTSUPP;

        if (r != -EOPNOTSUPP)
                return r;
        return renameat(dirfd, temporary, dirfd, path) < 0 ? -errno : 0;
}

static int replace(int dirfd, const char *path, const void *data, size_t size, mode_t mode,
                   enum how how)
{
        char temporary[PATH_MAX];
        int r;

        _cleanup_close_ int fd = create_temporary(dirfd, path, temporary, sizeof(temporary));
        if (fd < 0)
                return fd;

        r = fill(fd, data, size, mode, how == DURABLY);
        if (r >= 0)
                r = put_in_place(dirfd, temporary, path, how);
        if (r < 0)
                (void)unlinkat(dirfd, temporary, 0);
        return r;
}

int sg_replace_file(int dirfd, const char *path, const void *data, size_t size, mode_t mode)
{
        return replace(dirfd, path, data, size, mode, AT_ONCE);
}

int sg_replace_file_at_leisure(int dirfd, const char *path, const void *data, size_t size,
                               mode_t mode)
{
        return replace(dirfd, path, data, size, mode, AT_LEISURE);
}

int sg_write_file_atomic(int dirfd, const char *path, const void *data, size_t size, mode_t mode)
{
        char parent[PATH_MAX];
        int r;

        r = parent_of(path, parent, sizeof(parent));
        if (r < 0)
                return r;
        r = replace(dirfd, path, data, size, mode, DURABLY);
        return r < 0 ? r : sg_fsync_dir(dirfd, parent);
}

static int make_directory(const char *path, mode_t mode)
{
        struct stat st;

        if (mkdir(path, mode) == 0)
                return 0;
        if (errno != EEXIST)
                return -errno;
        if (stat(path, &st) < 0)
                return -errno;
        return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int sg_mkdir_p(const char *path, mode_t mode)
{
        char buf[PATH_MAX];
        size_t length = strlen(path);
        int r;

        while (length > 1 && path[length - 1] == '/')
                length--;
        if (length == 0)
                return -ENOENT;
        if (length >= sizeof(buf))
                return -ENAMETOOLONG;
        memcpy(buf, path, length);
        buf[length] = 0;

        for (char *slash = strchr(buf + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
                *slash = 0;
                r = make_directory(buf, 0755);
                if (r < 0)
                        return r;
                *slash = '/';
        }
        return make_directory(buf, mode);
}

int sg_fsync_dir(int dirfd, const char *path)
{
        _cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        return fsync(fd) < 0 ? -errno : 0;
}

static int remove_tree(int dirfd, const char *name, unsigned depth);

static int empty_directory(int dirfd, const char *name, unsigned depth)
{
        _cleanup_close_ int fd =
                openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
                return errno == ENOENT ? 0 : -errno;

        _cleanup_closedir_ DIR *dir = fdopendir(fd);
        if (!dir)
                return -errno;
        int inner = TAKE_FD(fd); /* the DIR owns it now */

        for (;;) {
                errno = 0;
                const struct dirent *e = readdir(dir);
                if (!e)
                        return -errno;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;

                int r = remove_tree(inner, e->d_name, depth + 1);
                if (r < 0)
                        return r;
        }
}

static int remove_tree(int dirfd, const char *name, unsigned depth)
{
        int r;

        if (depth > TREE_DEPTH_MAX)
                return -ELOOP;
        if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
                return 0;
        if (errno != EISDIR)
                return -errno;

        r = empty_directory(dirfd, name, depth);
        if (r < 0)
                return r;
        if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
                return -errno;
        return 0;
}

int sg_remove_tree(int dirfd, const char *name)
{
        return remove_tree(dirfd, name, 0);
}

int sg_path_join(char *buf, size_t size, const char *dir, const char *name)
{
        size_t length = strlen(dir);
        const char *slash = length > 0 && dir[length - 1] == '/' ? "" : "/";
        int n = snprintf(buf, size, "%s%s%s", dir, slash, name);

        return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

static bool disk_has_size(int fd, struct statvfs *ret)
{
        return fstatvfs(fd, ret) == 0 && ret->f_blocks > 0;
}

uint64_t sg_disk_size(int fd)
{
        struct statvfs disk;

        return disk_has_size(fd, &disk) ? (uint64_t)disk.f_blocks * disk.f_frsize : UINT64_MAX;
}

uint64_t sg_disk_free(int fd)
{
        struct statvfs disk;

        if (!disk_has_size(fd, &disk))
                return UINT64_MAX;
        return (uint64_t)(geteuid() == 0 ? disk.f_bfree : disk.f_bavail) * disk.f_frsize;
}

/* Access control lists */

/* What the kernel takes, of linux/posix_acl_xattr.h, which musl doesn't bring: entries in the order
 * of their tags, in little endian. */
#define ACL_ATTRIBUTE "system.posix_acl_access"
#define ACL_VERSION 2
#define NO_ID UINT32_MAX

enum acl_tag { USER_OBJ = 1, USER = 2, GROUP_OBJ = 4, MASK = 16, OTHER = 32 };

struct acl_entry {
        uint16_t tag, permissions;
        uint32_t id;
};

struct acl {
        uint32_t version;
        struct acl_entry entries[5];
};

static struct acl_entry acl_entry(enum acl_tag tag, unsigned permissions, uint32_t id)
{
        return (struct acl_entry){htole16(tag), htole16((uint16_t)permissions), htole32(id)};
}

static struct acl acl_of(uid_t uid, unsigned ours, unsigned theirs)
{
        return (struct acl){
                .version = htole32(ACL_VERSION),
                .entries = {acl_entry(USER_OBJ, ours, NO_ID), acl_entry(USER, theirs, uid),
                            acl_entry(GROUP_OBJ, 0, NO_ID), acl_entry(MASK, theirs, NO_ID),
                            acl_entry(OTHER, 0, NO_ID)},
        };
}

int sg_acl_admit(int fd, uid_t uid, unsigned ours, unsigned theirs)
{
        const struct acl acl = acl_of(uid, ours, theirs);

        return fsetxattr(fd, ACL_ATTRIBUTE, &acl, sizeof(acl), 0) < 0 ? -errno : 0;
}

int sg_acl_admit_path(const char *path, uid_t uid, unsigned ours, unsigned theirs)
{
        const struct acl acl = acl_of(uid, ours, theirs);

        return setxattr(path, ACL_ATTRIBUTE, &acl, sizeof(acl), 0) < 0 ? -errno : 0;
}
