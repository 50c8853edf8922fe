/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From a child of the keeper to the user's program. The order matters: what needs privileges first
 * (hard limits, groups), then the drop, then everything that the user named (working directory,
 * output, program), so that the user's own permissions decide about it.
 */

#include "shim/become.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/parse.h"
#include "shim/preload.h"
#include "shim/program.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEYCTL_JOIN_SESSION_KEYRING 1 /* linux/keyctl.h, which musl doesn't bring */

/* Whatever the daemon blocks or ignores, the job starts as from a login shell. By system call: a C
 * library keeps signals for itself (musl 32 to 34) that a parent may have ignored all the same. */
static void reset_signals(void)
{
        static const unsigned long action[4]; /* the kernel's struct sigaction, all default */
        static const uint64_t none;

        for (int sig = 1; sig <= 64; sig++)
                (void)syscall(SYS_rt_sigaction, sig, action, NULL, sizeof(none));
        (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof(none));
}

/* A session keyring of the job's own, as systemd makes one for services. Without it the jobs of all
 * users would share the one that the daemon was started with, perhaps root's of a login. Root makes
 * it, as a user's quota ends at 200. */
static void leave_keyring(void)
{
        (void)syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
}

static void set_affinity(const char *list)
{
        struct sg_cpuset cpus;
        cpu_set_t set;

        if (!list || sg_parse_cpuset(list, &cpus) < 0)
                return;
        CPU_ZERO(&set);
        for (unsigned i = 0; i < CPU_SETSIZE && i < SG_CPUS_MAX; i++)
                if (sg_cpuset_has(&cpus, i))
                        CPU_SET(i, &set);
        /* None of these CPUs may be online any more; running elsewhere beats not running. */
        (void)sched_setaffinity(0, sizeof(set), &set);
}

/* Limits of the submitter that are above our own hard limits are cut to those. */
static void set_rlimits(const struct sg_spec *s)
{
        for (size_t i = 0; i < s->n_rlimits; i++) {
                struct rlimit wanted = s->rlimits[i].limit, have;
                int resource = s->rlimits[i].resource;

                if (setrlimit(resource, &wanted) == 0 || errno != EPERM)
                        continue;
                if (getrlimit(resource, &have) < 0)
                        continue;
                if (wanted.rlim_max > have.rlim_max)
                        wanted.rlim_max = have.rlim_max;
                if (wanted.rlim_cur > wanted.rlim_max)
                        wanted.rlim_cur = wanted.rlim_max;
                (void)setrlimit(resource, &wanted);
        }
}

static int drop_privileges(const struct sg_spec *s)
{
        if (geteuid() != 0)
                return s->uid == getuid() ? 0 : -EPERM;
        if (setgroups(s->n_groups, s->groups) < 0)
                return -errno;
        if (setresgid(s->gid, s->gid, s->gid) < 0)
                return -errno;
        if (setresuid(s->uid, s->uid, s->uid) < 0)
                return -errno;
        /* With odd securebits the capabilities would have stayed. */
        if (s->uid != 0 && setresuid(0, 0, 0) == 0)
                return -ENOTRECOVERABLE;
        return 0;
}

static int open_output(const char *path)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666);

        return fd < 0 ? -errno : fd;
}

static int redirect(int from, int to)
{
        return dup2(from, to) < 0 ? -errno : 0;
}

/* Where a stream goes: the file that the user named, else `otherwise`, else nowhere. */
static int redirect_stream(const char *path, int otherwise, int to)
{
        _cleanup_close_ int fd = -1;

        if (path)
                fd = open_output(path);
        else if (otherwise < 0)
                fd = open_output("/dev/null");
        else
                return redirect(otherwise, to);
        return fd < 0 ? fd : redirect(fd, to);
}

static int set_streams(const struct sg_spec *s, int output)
{
        _cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        int r;

        if (null < 0)
                return -errno;
        r = redirect(null, STDIN_FILENO);
        if (r < 0)
                return r;
        r = redirect_stream(s->output, output, STDOUT_FILENO);
        if (r < 0)
                return r;
        return redirect_stream(s->error, STDOUT_FILENO, STDERR_FILENO);
}

int sg_become_user(struct sg_become *b)
{
        const struct sg_spec *s = b->spec;
        int r;

        b->stage = SG_STAGE_SETUP;
        /* A session of its own: a job that kills its process group doesn't mean its keeper. */
        if (setsid() < 0)
                return -errno;
        if (s->script) {
                r = sg_script_make(&b->script, s);
                if (r < 0)
                        return r;
        }
        if (geteuid() == 0) {
                (void)sg_write_file(AT_FDCWD, "/proc/self/oom_score_adj", "0");
                leave_keyring();
        }
        set_affinity(s->cpu_affinity);
        set_rlimits(s);

        b->stage = SG_STAGE_CREDENTIALS;
        r = drop_privileges(s);
        if (r < 0)
                return r;
        (void)umask(s->umask);

        b->stage = SG_STAGE_WORKDIR;
        return chdir(s->workdir ? s->workdir : "/") < 0 ? -errno : 0;
}

int sg_become_job(struct sg_become *b)
{
        const char *script = b->script.path[0] ? b->script.path : NULL;
        const struct sg_spec *s = b->spec;
        _cleanup_free_ char **env = NULL;
        int r;

        b->stage = SG_STAGE_OUTPUT;
        r = set_streams(s, b->output);
        if (r < 0)
                return r;
        b->stage = SG_STAGE_EXEC;
        r = sg_program_env(s->env, s->env_force, s->env_default, &env);
        if (r < 0)
                return r;
        if (script)
                sg_script_env(&b->script, s->workdir ? s->workdir : "/", &env);
        sg_preload_add(&env, s->argv, script);
        reset_signals();
        return script ? sg_script_exec(&b->script, s->argv, env) : sg_program_exec(s->argv, env);
}
