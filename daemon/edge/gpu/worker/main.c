/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * schedgov-gpu: asks the driver of the GPUs for schedgovd, which can't wait for one that hangs.
 * systemd starts it with a connection of schedgovd's, or schedgovd itself does with --fd.
 */
#include "base/cleanup.h"
#include "base/parse.h"
#include "edge/gpu/worker/serve.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACTIVATION_FD 3 /* sd_listen_fds(3) */

static const char usage[] =
        "usage: schedgov-gpu --once [--library FILE] [--driver-root DIRECTORY]\n"
        "       schedgov-gpu [--fd NUMBER]\n"
        "\n"
        "Asks the driver of this node's GPUs what they are and do. With --once it is printed;\n"
        "otherwise schedgovd is told, which starts this program by itself.\n"
        "\n"
        "--library FILE           the driver's management library; else it is looked for\n"
        "--driver-root DIRECTORY  where the driver's files are, of one in a container\n";

struct arguments {
        bool once, help;
        uint32_t fd; /* 0: that of systemd */
        const char *library, *root;
};

static int parse(struct arguments *a, int argc, char **argv)
{
        *a = (struct arguments){.library = "", .root = "/"};
        for (int i = 1; i < argc; i++) {
                const char *value = i + 1 < argc ? argv[i + 1] : NULL;

                if (strcmp(argv[i], "--once") == 0)
                        a->once = true;
                else if (strcmp(argv[i], "--help") == 0)
                        a->help = true;
                else if (strcmp(argv[i], "--library") == 0 && value && value[0] == '/')
                        a->library = argv[++i];
                else if (strcmp(argv[i], "--driver-root") == 0 && value && value[0] == '/')
                        a->root = argv[++i];
                else if (strcmp(argv[i], "--fd") == 0 && value &&
                         sg_parse_u32(value, &a->fd) >= 0 && a->fd >= 3 && a->fd < 1U << 20)
                        i++;
                else
                        return -EINVAL;
        }
        if (strlen(a->library) >= SG_GPU_PATH_MAX || strlen(a->root) >= SG_GPU_PATH_MAX ||
            (!a->once && (*a->library || strcmp(a->root, "/") != 0)))
                return -EINVAL;
        return 0;
}

static bool variable_is(const char *name, uint32_t wanted)
{
        const char *value = getenv(name);
        uint32_t n;

        return value && sg_parse_u32(value, &n) >= 0 && n == wanted;
}

static bool is_stream(int fd)
{
        int type;
        socklen_t size = sizeof(type);

        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

static int take_socket(const struct arguments *a)
{
        int fd = a->fd ? (int)a->fd : ACTIVATION_FD;

        if (!a->fd &&
            (!variable_is("LISTEN_PID", (uint32_t)getpid()) || !variable_is("LISTEN_FDS", 1)))
                return -ENOTCONN;
        if (!is_stream(fd))
                return -ENOTSOCK;
        return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : fd;
}

static int watch_signals(void)
{
        sigset_t set;
        int fd;

        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGTERM);
        (void)sigaddset(&set, SIGINT);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;
        fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return fd < 0 ? -errno : fd;
}

static int complain(const char *what, int error)
{
        dprintf(STDERR_FILENO, "schedgov-gpu: %s%s%s\n", what, error ? ": " : "",
                error ? strerror(-error) : "");
        return EXIT_FAILURE;
}

static int serve(const struct arguments *a)
{
        _cleanup_close_ int signals = -1, fd = -1;
        int r;

        fd = take_socket(a);
        if (fd < 0)
                return complain("it is started by schedgovd, not by hand (but see --help)", 0);
        signals = watch_signals();
        if (signals < 0)
                return complain("cannot wait for signals", signals);
        if (chdir("/") < 0)
                return complain("cannot go to /", -errno);
        r = sg_gpu_serve(fd, signals, &sg_nvml_driver);
        if (r == -EPROTO)
                return complain("schedgovd is of another version", 0);
        return r < 0 ? complain("cannot go on", r) : EXIT_SUCCESS;
}

static int once(const struct arguments *a)
{
        struct sg_gpu_order order = {.every_usec = SG_GPU_EVERY_MAX_USEC};
        int r;

        (void)strcpy(order.library, a->library);
        (void)strcpy(order.root, a->root);
        r = sg_gpu_print_once(stdout, &sg_nvml_driver, &order);
        return r < 0 ? complain("cannot look", r) : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
        struct arguments a;

        if (parse(&a, argc, argv) < 0) {
                (void)fputs(usage, stderr);
                return 2;
        }
        if (a.help)
                return fputs(usage, stdout) < 0 || fflush(stdout) != 0;
        return a.once ? once(&a) : serve(&a);
}
