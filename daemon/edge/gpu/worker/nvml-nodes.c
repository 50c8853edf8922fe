/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * On a host without a display nobody makes the driver's device nodes before the first who wants
 * them: NVIDIA's own tool does, which also loads the module. Where it isn't installed, or may not,
 * the driver says what is missing.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/gpu/worker/nvml.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOOL "usr/bin/nvidia-modprobe"
#define TOOL_MSEC 20000 /* a module may take seconds to find its GPUs */

/* Where a driver in a container makes its nodes is its own affair. */
static bool has_node(const char *root, const char *name)
{
        char below[PATH_MAX], path[PATH_MAX];

        (void)snprintf(below, sizeof(below), "%s/dev/%s", root, name);
        (void)snprintf(path, sizeof(path), "/dev/%s", name);
        return access(below, F_OK) == 0 || access(path, F_OK) == 0;
}

static void wait_for(pid_t pid)
{
        struct pollfd p = {.events = POLLIN};
        _cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);

        p.fd = fd;
        if (fd < 0 || poll(&p, 1, TOOL_MSEC) <= 0)
                (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                continue;
}

static void run_tool(const char *path, uint64_t minor)
{
        char number[24];
        char *argv[] = {(char *)path, (char *)"-u", (char *)"-c", number, NULL};
        char *env[] = {(char *)"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
        posix_spawnattr_t attributes;
        sigset_t none;
        pid_t pid;

        (void)snprintf(number, sizeof(number), "%" PRIu64, minor);
        if (posix_spawnattr_init(&attributes) != 0)
                return;
        (void)sigemptyset(&none);
        (void)posix_spawnattr_setsigmask(&attributes, &none);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (posix_spawn(&pid, path, NULL, &attributes, argv, env) == 0)
                wait_for(pid);
        (void)posix_spawnattr_destroy(&attributes);
}

void sg_nvml_make_nodes(const char *root, uint64_t minor)
{
        char path[PATH_MAX], own[32];

        if (minor == SG_GPU_UNKNOWN)
                return;
        (void)snprintf(own, sizeof(own), "nvidia%" PRIu64, minor);
        if (has_node(root, "nvidiactl") && has_node(root, "nvidia-uvm") && has_node(root, own))
                return;
        (void)snprintf(path, sizeof(path), "%s/" TOOL, root);
        if (access(path, X_OK) == 0)
                run_tool(path, minor);
}
