/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Freezing, signals and "is it over" of a cgroupfs scope, all about its `job` group and whatever
 * groups the job made below it. SIGKILL leaves nobody: cgroup.kill where the kernel has it (5.14),
 * else the group is frozen, so that no fork slips between two looks at the list, killed in passes
 * until a pass finds nobody new, and thawed. Other signals go in passes too. Every pid is held by a
 * pidfd and its membership checked again before it is signalled: pids are recycled.
 */

#include "base/file.h"
#include "base/process.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#define SIGNAL_PASSES 32
#define KILL_PASSES 1000
#define QUIET_PASSES 32      /* without anybody new, while the group isn't frozen */
#define PID_LIMIT (4U << 20) /* PID_MAX_LIMIT */

static int job_in(const struct sg_scope *s, enum sg_hier h, char path[PATH_MAX])
{
        const char *dir = h == SG_HIER_MAX ? NULL : sg_scope_dir(s, h);

        return dir ? sg_group_join(path, dir, "job") : -EOPNOTSUPP;
}

/* Where processes are listed. An adopted scope may lack the usual hierarchy. */
static int listed_job(const struct sg_scope *s, char path[PATH_MAX])
{
        int r = job_in(s, s->backend->list_hier, path);

        return r == -EOPNOTSUPP ? sg_group_join(path, s->dirs[0].path, "job") : r;
}

int sg_fs_scope_freeze(struct sg_scope *s, bool frozen)
{
        enum sg_hier h = s->backend->freeze_hier;
        char job[PATH_MAX];
        int r;

        r = job_in(s, h, job);
        if (r < 0)
                return r;
        if (h == SG_HIER_UNIFIED)
                return sg_group_write(job, "cgroup.freeze", frozen ? "1" : "0");
        return sg_group_write(job, "freezer.state", frozen ? "FROZEN" : "THAWED");
}

int sg_fs_scope_frozen(const struct sg_scope *s)
{
        enum sg_hier h = s->backend->freeze_hier;
        char job[PATH_MAX], state[32];
        uint64_t frozen;
        int r;

        r = job_in(s, h, job);
        if (r < 0)
                return r == -EOPNOTSUPP ? 0 : r;
        if (h == SG_HIER_UNIFIED) {
                r = sg_group_read_key(job, "cgroup.events", "frozen", &frozen);
                return r < 0 ? r : frozen != 0;
        }
        r = sg_group_read(job, "freezer.state", state, sizeof(state));
        return r < 0 ? r : strcmp(state, "FROZEN") == 0;
}

int sg_fs_scope_populated(const struct sg_scope *s)
{
        char job[PATH_MAX];
        int r;

        r = listed_job(s, job);
        return r < 0 ? r : sg_group_populated(job);
}

struct pass {
        const struct sg_scope *scope;
        int sig;
        const uid_t *as; /* only what this user may; NULL: all */
        uint8_t *seen;   /* a bit per pid */
        int total, fresh;
        bool refused;
};

static int send_checked(struct pass *p, pid_t pid)
{
        _cleanup_close_ int fd = (int)syscall(SYS_pidfd_open, pid, 0);

        if (fd < 0 && errno != ENOSYS)
                return -errno;
        if (sg_fs_scope_holds(p->scope, pid, true) != 1)
                return -ESRCH;
        if (p->as && !sg_process_may_be_signalled(pid, *p->as)) {
                p->refused = true;
                return -EPERM;
        }
        if (fd < 0) /* before 5.3 */
                return kill(pid, p->sig) < 0 ? -errno : 0;
        return syscall(SYS_pidfd_send_signal, fd, p->sig, NULL, 0) < 0 ? -errno : 0;
}

static int signal_one(pid_t pid, void *userdata)
{
        struct pass *p = userdata;
        unsigned n = (unsigned)pid;

        if (n >= PID_LIMIT || p->seen[n / 8] & (1U << n % 8))
                return 0;
        /* A process that was on its way between two groups, or between two pids, is met again by
         * the next pass. */
        if (send_checked(p, pid) < 0)
                return 0;
        p->seen[n / 8] |= (uint8_t)(1U << n % 8);
        p->fresh++;
        p->total++;
        return 0;
}

static int signal_passes(struct pass *p, const char *job, unsigned passes)
{
        int r;

        for (unsigned i = 0; i < passes; i++) {
                p->fresh = 0;
                r = sg_group_foreach_pid(job, signal_one, p);
                if (r < 0)
                        return r;
                if (p->fresh == 0)
                        return 0;
        }
        return 0;
}

/*
 * Kills without cgroup.kill. A task that has SIGKILL can't begin a fork any more, frozen or not,
 * but a fork that is well under way shows its child only later. None is under way when the whole
 * group is frozen; a task in an uninterruptible wait may keep that from ever being so.
 */
static int kill_frozen(struct sg_scope *s, struct pass *p, const char *job)
{
        unsigned quiet = 0;
        int r = 0;

        (void)sg_fs_scope_freeze(s, true); /* there may be no freezer: then passes alone must do */
        for (unsigned i = 0; r == 0 && i < KILL_PASSES && quiet < QUIET_PASSES; i++) {
                bool frozen = sg_fs_scope_frozen(s) > 0;

                r = signal_passes(p, job, 1);
                quiet = p->fresh > 0 ? 0 : frozen ? QUIET_PASSES : quiet + 1;
        }
        (void)sg_fs_scope_freeze(s, false);
        return r;
}

int sg_fs_scope_signal(struct sg_scope *s, int sig, const uid_t *as)
{
        _cleanup_free_ uint8_t *seen = NULL;
        struct pass p = {.scope = s, .sig = sig, .as = as};
        bool whole = sig == SIGKILL;
        char job[PATH_MAX];
        int r;

        r = listed_job(s, job);
        if (r < 0)
                return r;
        r = sg_group_populated(job);
        if (r <= 0)
                return r;
        if (whole && as)
                whole = sg_group_is_signalable(job, *as);
        if (whole && sg_group_write(job, "cgroup.kill", "1") == 0)
                return 1;
        seen = calloc(PID_LIMIT / 8, 1);
        if (!seen)
                return -ENOMEM;
        p.seen = seen;
        r = whole ? kill_frozen(s, &p, job) : signal_passes(&p, job, SIGNAL_PASSES);
        if (r < 0)
                return r;
        return p.total == 0 && p.refused ? -EPERM : p.total;
}
