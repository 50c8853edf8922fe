/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * schedgov-launch --state-dir DIR --peer-unit UNIT [--shim PROGRAM]
 *
 * Starts the shims of jobs for schedgovd. What a hardened service forks inherits its sandbox, while
 * a job must see what its user's own command would see; so this is a unit of its own, without any,
 * and so small that it needs none. systemd starts it when somebody connects, and passes the socket.
 */

#include "base/parse.h"
#include "launcher/server.h"
#include "proto/names.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef SG_LIBDIR
#define SG_LIBDIR "/usr/local/lib/schedgov"
#endif

#define LISTEN_FD 3 /* sd_listen_fds(3) */

static int parse_options(struct sg_server *s, int argc, char **argv)
{
        s->starter.shim = SG_LIBDIR "/schedgov-shim";
        for (int i = 1; i + 1 < argc; i += 2) {
                if (strcmp(argv[i], "--state-dir") == 0)
                        s->starter.state_dir = argv[i + 1];
                else if (strcmp(argv[i], "--peer-unit") == 0)
                        s->peer_unit = argv[i + 1];
                else if (strcmp(argv[i], "--shim") == 0)
                        s->starter.shim = argv[i + 1];
                else
                        return -EINVAL;
        }
        if (argc % 2 == 0 || !s->peer_unit || !*s->peer_unit || !s->starter.state_dir ||
            s->starter.state_dir[0] != '/' || s->starter.shim[0] != '/')
                return -EINVAL;
        return 0;
}

static bool variable_is(const char *name, uint32_t wanted)
{
        const char *value = getenv(name);
        uint32_t n;

        return value && sg_parse_u32(value, &n) >= 0 && n == wanted;
}

static bool listener_has(int option, int wanted)
{
        int value;
        socklen_t size = sizeof(value);

        return getsockopt(LISTEN_FD, SOL_SOCKET, option, &value, &size) == 0 && value == wanted;
}

static int take_listener(void)
{
        if (!variable_is("LISTEN_PID", (uint32_t)getpid()) || !variable_is("LISTEN_FDS", 1))
                return -ENOTCONN;
        if (!listener_has(SO_TYPE, SOCK_SEQPACKET) || !listener_has(SO_ACCEPTCONN, 1) ||
            !listener_has(SO_PASSCRED, 1))
                return -EPROTOTYPE;
        if (fcntl(LISTEN_FD, F_SETFD, FD_CLOEXEC) < 0 ||
            fcntl(LISTEN_FD, F_SETFL, O_RDWR | O_NONBLOCK) < 0)
                return -errno;
        return LISTEN_FD;
}

static int watch_children(void)
{
        sigset_t set;
        int fd;

        /* With SIGCHLD ignored children would not be ours to reap, and a pid could be another
         * process's before we looked. */
        (void)signal(SIGCHLD, SIG_DFL);
        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGCHLD);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd < 0 ? -errno : fd;
}

int main(int argc, char **argv)
{
        struct sg_server s;

        sg_server_init(&s);
        if (parse_options(&s, argc, argv) < 0) {
                sg_complain("it is started by systemd for schedgovd, not by hand", NULL, 0);
                return SG_EXIT_OWN_FAILURE;
        }
        s.listener = take_listener();
        s.signals = s.listener < 0 ? s.listener : watch_children();
        if (s.signals < 0) {
                sg_complain("cannot take over its socket", NULL, -s.signals);
                return SG_EXIT_OWN_FAILURE;
        }
        (void)umask(022);
        if (chdir("/") < 0)
                return SG_EXIT_OWN_FAILURE;
        sg_complain("cannot wait for requests", NULL, -sg_server_run(&s));
        return SG_EXIT_OWN_FAILURE;
}
