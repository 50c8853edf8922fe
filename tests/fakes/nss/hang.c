/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A directory service that answers when a test wants it to: a module for nsswitch.conf(5), loaded
 * by its name ("passwd: files hang") from $LD_LIBRARY_PATH. A look-up waits until somebody writes a
 * name to the FIFO $SG_TEST_DIRECTORY.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <nss.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)
enum nss_status _nss_hang_getpwuid_r(uid_t uid, struct passwd *ret, char *buf, size_t size,
                                     int *ret_errno);
enum nss_status _nss_hang_getpwnam_r(const char *name, struct passwd *ret, char *buf, size_t size,
                                     int *ret_errno);
#pragma GCC visibility pop

static enum nss_status wait_for_name(struct passwd *ret, char *buf, size_t size, int *ret_errno)
{
        const char *path = getenv("SG_TEST_DIRECTORY");
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        ssize_t n = fd >= 0 ? read(fd, buf, size - 1) : -1;

        (void)close(fd);
        if (n <= 0) {
                *ret_errno = ENOENT;
                return NSS_STATUS_NOTFOUND;
        }
        buf[n] = 0;
        *ret = (struct passwd){
                .pw_name = buf,
                .pw_passwd = (char *)"x",
                .pw_gecos = (char *)"",
                .pw_dir = (char *)"/",
                .pw_shell = (char *)"/bin/sh",
        };
        return NSS_STATUS_SUCCESS;
}

enum nss_status _nss_hang_getpwuid_r(uid_t uid, struct passwd *ret, char *buf, size_t size,
                                     int *ret_errno)
{
        enum nss_status status = wait_for_name(ret, buf, size, ret_errno);

        if (status == NSS_STATUS_SUCCESS)
                ret->pw_uid = ret->pw_gid = uid;
        return status;
}

/* Whom the test names there is; nobody else. What is a number is no name: setpriv(1), by which
 * tests become another user, looks for one all the same. */
enum nss_status _nss_hang_getpwnam_r(const char *name, struct passwd *ret, char *buf, size_t size,
                                     int *ret_errno)
{
        enum nss_status status = isdigit((unsigned char)*name)
                                         ? NSS_STATUS_NOTFOUND
                                         : wait_for_name(ret, buf, size, ret_errno);

        if (status == NSS_STATUS_SUCCESS && strcmp(buf, name) != 0)
                status = NSS_STATUS_NOTFOUND;
        if (status == NSS_STATUS_NOTFOUND)
                *ret_errno = ENOENT;
        return status;
}
