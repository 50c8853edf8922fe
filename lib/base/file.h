/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Files, as small helpers with one meaning each. Negative errno on failure; every fd is CLOEXEC. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Writes all of it, over EINTR and short writes. */
int sg_write_all(int fd, const void *data, size_t size);

/* Reads up to size bytes over EINTR: until it has them or at the file's end;
 * what one call gives. */
ssize_t sg_read_full(int fd, void *buf, size_t size);
ssize_t sg_pread(int fd, void *buf, size_t size, uint64_t at);

uint64_t sg_mtime_usec(const struct stat *st);

/* Reads a whole file of at most max bytes (-EFBIG beyond) into a NUL-terminated heap buffer; works
 * on /proc and cgroup files, whose size is not known in advance. dirfd may be AT_FDCWD. */
int sg_read_file(int dirfd, const char *path, size_t max, char **ret, size_t *ret_size);

/* Reads a file of one line into buf without allocating and strips the newline; -EFBIG if it does
 * not fit. */
int sg_read_line_file(int dirfd, const char *path, char *buf, size_t size);

/* One write(2) of str to an existing file: how kernel files are set. */
int sg_write_file(int dirfd, const char *path, const char *str);

/* Creates or replaces path with data: temporary file, fsync, rename, fsync of the directory. */
int sg_write_file_atomic(int dirfd, const char *path, const void *data, size_t size, mode_t mode);

/* The same for files that needn't outlive the boot: nothing is synced. */
int sg_replace_file(int dirfd, const char *path, const void *data, size_t size, mode_t mode);
/* The same for what is replaced again and again: when a file takes another's name, ext4 writes it
 * at once, and who asked for that waits in line with all that others write. Here the disk decides;
 * after a power failure the file may be empty. */
int sg_replace_file_at_leisure(int dirfd, const char *path, const void *data, size_t size,
                               mode_t mode);

/* mkdir -p; the mode is that of the last component, parents get 0755. */
int sg_mkdir_p(const char *path, mode_t mode);

int sg_fsync_dir(int dirfd, const char *path);

/* rm -rf below dirfd, without following links; a name that isn't there is fine. */
int sg_remove_tree(int dirfd, const char *name);

/* Size and free room, in bytes, of the file system that fd is on; UINT64_MAX: only memory bounds
 * it. Free is what this process may fill, by its own rights. */
uint64_t sg_disk_size(int fd);
uint64_t sg_disk_free(int fd);

/* "a/b" with snprintf semantics made safe: -ENAMETOOLONG instead of truncation. */
int sg_path_join(char *buf, size_t size, const char *dir, const char *name);

/* Gives one more user access to a file or directory of ours, by an access control list: from now on
 * its owner may do what `ours` says, this user what `theirs` says (each a digit as of chmod(2)),
 * and nobody else anything. Works also where we may not give files away. -EOPNOTSUPP: the file
 * system has no access control lists (acl(5)). */
int sg_acl_admit(int fd, uid_t uid, unsigned ours, unsigned theirs);
/* The same for what can't be opened, in a directory where nobody else can put a link. */
int sg_acl_admit_path(const char *path, uid_t uid, unsigned ours, unsigned theirs);
