/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Forking the job's process and talking to it; become.c is what a background job does in it. */

#include "shim/child.h"
#include "base/cleanup.h"
#include "shim/become.h"
#include "shim/groups.h"
#include "shim/preload.h"
#include "shim/program.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define EXIT_NOT_RUN 125 /* nobody reads it: the channel says why */

_Noreturn static void fail(int channel, enum sg_stage stage, int r)
{
        const struct sg_child_failure f = {.stage = stage, .error = -r};

        (void)send(channel, &f, sizeof(f), MSG_NOSIGNAL);
        _exit(EXIT_NOT_RUN);
}

static void wait_for_release(int channel)
{
        char go;
        ssize_t n;

        do
                n = recv(channel, &go, sizeof(go), 0);
        while (n < 0 && errno == EINTR);
        if (n <= 0)
                _exit(EXIT_NOT_RUN);
}

/* Steps that leave no trace are done while the daemon looks at us and the fate is made durable. */
_Noreturn static void child_main(const struct sg_spec *spec, int channel, int output)
{
        struct sg_become b = {.spec = spec, .output = output};
        int r;

        r = sg_become_user(&b);
        /* Waits also after a failure: a message that we left unread would reset the channel. */
        wait_for_release(channel);
        if (r == 0)
                r = sg_become_job(&b);
        fail(channel, b.stage, r);
}

static int channel_new(int *ret_keeper, int *ret_child)
{
        int fds[2];

        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
                return -errno;
        *ret_keeper = fds[0];
        *ret_child = fds[1];
        return 0;
}

/* The pipe of a job that writes to the managed log. It belongs to the job's user, or a script's
 * "echo >/dev/stderr" would be refused. */
static int output_new(const struct sg_spec *spec, int *ret_read, int *ret_write)
{
        int fds[2];

        if (!spec->log || spec->output)
                return 0;
        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        *ret_read = fds[0];
        *ret_write = fds[1];
        /* Only our end: the job must not find its stdout non-blocking. */
        if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
                return -errno;
        if (geteuid() == 0 && fchown(fds[1], spec->uid, spec->gid) < 0)
                return -errno;
        return 0;
}

int sg_child_spawn(struct sg_child *ret, const struct sg_spec *spec, bool after_end)
{
        _cleanup_close_ int keeper = -1, child = -1, out_read = -1, out_write = -1;
        struct sg_child c;
        int r;

        r = channel_new(&keeper, &child);
        if (r < 0)
                return r;
        r = output_new(spec, &out_read, &out_write);
        if (r < 0)
                return r;
        c.pid = sg_groups_fork(spec, after_end);
        if (c.pid < 0)
                return c.pid;
        if (c.pid == 0) {
                keeper = sg_close(keeper);
                child_main(spec, child, out_write);
        }
        child = sg_close(child);
        c.channel = TAKE_FD(keeper);
        c.output = TAKE_FD(out_read);
        *ret = c;
        return 0;
}

_Noreturn static void plain_main(char *const *argv, char **env, int channel, const sigset_t *mask)
{
        wait_for_release(channel);
        sg_preload_add(&env, argv, NULL);
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        fail(channel, SG_STAGE_EXEC, sg_program_exec(argv, env));
}

int sg_child_spawn_plain(struct sg_child *ret, char *const *argv, char **env, const sigset_t *mask)
{
        _cleanup_close_ int keeper = -1, child = -1;
        pid_t pid;
        int r;

        r = channel_new(&keeper, &child);
        if (r < 0)
                return r;
        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                keeper = sg_close(keeper);
                plain_main(argv, env, child, mask);
        }
        *ret = (struct sg_child){.pid = pid, .channel = TAKE_FD(keeper), .output = -1};
        return 0;
}

void sg_child_release(const struct sg_child *c)
{
        (void)send(c->channel, "g", 1, MSG_NOSIGNAL);
}

int sg_child_read_failure(const struct sg_child *c, struct sg_child_failure *ret)
{
        ssize_t n;

        /* ECONNRESET comes once, and before what is queued, from a child that ended without reading
         * its release: its message is still behind it. */
        do
                n = recv(c->channel, ret, sizeof(*ret), 0);
        while (n < 0 && (errno == EINTR || errno == ECONNRESET));
        return n == sizeof(*ret);
}

void sg_child_discard(struct sg_child *c)
{
        if (c->pid > 0) { /* −1 would be everybody */
                (void)kill(c->pid, SIGKILL);
                while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
        }
        c->channel = sg_close(c->channel);
        c->output = sg_close(c->output);
        c->pid = -1;
}
