/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/start/shim-spawn.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/fork.h"
#include "proto/attempt.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

struct shim {
        const char *program;
        char *const *argv;
        int gate;
};

/* With the daemon's memory: nothing is changed but descriptors. What it inherits is closed on exec,
 * but for these. */
static void become_shim(void *userdata)
{
        static char *const none[] = {NULL};
        const struct shim *s = userdata;
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        for (int fd = 0; fd <= 2; fd++)
                if (null < 0 || dup2(null, fd) < 0)
                        _exit(127);
        if (s->gate == SG_GATE_FD ? fcntl(s->gate, F_SETFD, 0) < 0 : dup2(s->gate, SG_GATE_FD) < 0)
                _exit(127);
        (void)execve(s->program, s->argv, none);
        _exit(127);
}

static pid_t spawn_into(const char *program, char *const *argv, int gate, const char *scope)
{
        struct shim shim = {program, argv, gate};
        _cleanup_close_ int group = -1;
        char path[PATH_MAX];
        int r;

        r = sg_path_join(path, sizeof(path), scope, "keeper");
        if (r < 0)
                return r;
        group = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return group < 0 ? -errno : sg_spawn_into(group, become_shim, &shim);
}

/* Signals need no care: the shim blocks them all, and gives its job the defaults. */
int sg_shim_spawn(const char *program, const char *attempt_dir, int gate, const char *scope,
                  pid_t *ret)
{
        char *argv[] = {(char *)"schedgov-shim", (char *)attempt_dir, (char *)SG_SHIM_IN_KEEPER,
                        NULL};
        pid_t pid;

        if (scope) {
                pid = spawn_into(program, argv, gate, scope);
                if (pid > 0) {
                        *ret = pid;
                        return 0;
                }
        }
        argv[2] = NULL; /* an old kernel, or no v2 tree: it moves itself */
        return sg_spawn_bare(program, argv, gate, SG_GATE_FD, 0, ret);
}
