/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/listen.h"
#include "base/cleanup.h"
#include "base/datagram.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

#define BACKLOG 512
#define FD_NAME "bus"

static void free_names(char **names, int n)
{
        for (int i = 0; i < n; i++)
                free(names[i]);
        free(names);
}

/* Whether a connection to the path gets here: somebody may have taken the path away, or another
 * daemon may have put a socket of its own there in the time between. */
static bool is_reached_by(int fd, const char *path)
{
        struct stat st;

        return sd_is_socket_unix(fd, SOCK_STREAM, 1, path, 0) > 0 && lstat(path, &st) == 0 &&
               S_ISSOCK(st.st_mode);
}

static int take_kept(const char *path)
{
        char **names = NULL;
        int n = sd_listen_fds_with_names(1, &names), found = -1;

        for (int i = 0; i < n; i++) {
                int fd = SD_LISTEN_FDS_START + i;

                if (found < 0 && strcmp(names[i], FD_NAME) == 0 && is_reached_by(fd, path))
                        found = fd;
                else
                        (void)sg_close(fd);
        }
        free_names(names, n);
        return found;
}

static int make_new(const char *path)
{
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        int r;

        if (fd < 0)
                return -errno;
        r = sg_socket_bind(fd, path);
        if (r < 0)
                return r;
        if (chmod(path, 0666) < 0)
                return -errno;
        if (listen(fd, BACKLOG) < 0)
                return -errno;
        return TAKE_FD(fd);
}

int sg_bus_listen(const char *path, bool *ret_kept)
{
        int fd = take_kept(path);

        if (fd >= 0) {
                *ret_kept = true;
                return fd;
        }
        fd = make_new(path);
        if (fd < 0)
                return fd;
        (void)sd_notify(0,
                        "FDSTOREREMOVE=1\nFDNAME=" FD_NAME); /* one that isn't reached any more */
        *ret_kept = sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=" FD_NAME, &fd, 1) > 0;
        return fd;
}
