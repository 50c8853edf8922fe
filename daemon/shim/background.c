/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keeper of a background job, from fork to exit record; docs/shim.md tells the story.
 *
 * Invariants: the job's program runs only after the fate `run` is durable. From then on every way
 * out writes an exit record; the lock is held until it is durable.
 */

#include "base/parse.h"
#include "base/time-util.h"
#include "proto/counters.h"
#include "shim/attempt-dir.h"
#include "shim/groups.h"
#include "shim/on-end.h"
#include "shim/shim.h"
#include "shim/supervise.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

struct keeper {
        struct sg_attempt_dir dir;
        struct sg_spec spec;
        bool in_keeper, wants_on_end;
        int signals;
        struct sg_joblog log;
        struct sg_child child;
        struct sg_exit exit;
};

/* All signals are blocked for good: only SIGKILL and SIGSTOP do anything to a keeper, and a write
 * beyond RLIMIT_FSIZE is an error like others. */
static int block_signals(void)
{
        const struct sigaction dfl = {.sa_handler = SIG_DFL};
        sigset_t set;

        /* With SIGCHLD ignored the kernel would reap our children for us. */
        (void)sigaction(SIGCHLD, &dfl, NULL);
        sigfillset(&set);
        (void)sigprocmask(SIG_SETMASK, &set, NULL);
        sigemptyset(&set);
        sigaddset(&set, SIGCHLD);
        return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int prepare_process(struct keeper *k)
{
        if (fcntl(SG_GATE_FD, F_SETFD, FD_CLOEXEC) < 0)
                return -errno;
        (void)syscall(SYS_close_range, SG_GATE_FD + 1, UINT_MAX, 0);
        (void)prctl(PR_SET_DUMPABLE, 0);
        (void)prctl(PR_SET_NAME, "schedgov-shim");
        (void)setsid();
        (void)umask(0);
        k->signals = block_signals();
        if (k->signals < 0)
                return -errno;
        if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
                return -errno;
        return 0;
}

static bool is_runnable(const struct sg_spec *s)
{
        return s->uid != (uid_t)-1 && s->gid != (gid_t)-1 && (s->script || (s->argv && *s->argv));
}

/* systemd makes the scope around us, and the daemon tells where it is. */
static int await_place(struct keeper *k)
{
        char path[PATH_MAX];
        int r;

        if (!k->spec.awaits_place)
                return 0;
        if (!sg_gate_wait_place(SG_GATE_FD, path, sizeof(path)))
                return -ECANCELED;
        if (*path != '/')
                return -EBADMSG;
        r = sg_spec_add_dir(&k->spec, SG_HIER_UNIFIED, path);
        k->in_keeper = true;
        return r;
}

static int set_up_job(struct keeper *k)
{
        int r;

        r = sg_attempt_dir_read_spec(&k->dir, &k->spec);
        if (r < 0)
                return r;
        if (!is_runnable(&k->spec))
                return -EBADMSG;
        r = await_place(k);
        if (r < 0)
                return r;
        r = sg_groups_keep(&k->spec, k->in_keeper);
        if (r < 0)
                return r;
        sg_attempt_dir_fault(&k->dir, "shim-groups");
        r = sg_child_spawn(&k->child, &k->spec, false);
        if (r < 0)
                return r;
        sg_joblog_init(&k->log, &k->spec);
        k->wants_on_end = k->spec.on_end;
        return 0;
}

/* The child has its copy; a keeper that lives for weeks need not hold megabytes of environment. */
static void slim(struct sg_spec *s)
{
        struct sg_group_dir *dirs = TAKE_PTR(s->dirs);
        size_t n_dirs = s->n_dirs;

        s->n_dirs = 0;
        sg_spec_deinit(s);
        s->dirs = dirs;
        s->n_dirs = n_dirs;
#ifdef __GLIBC__
        (void)malloc_trim(0);
#endif
}

/* enum sg_published or -errno: what became of this attempt. */
static int decide_fate(struct keeper *k)
{
        enum sg_published wanted = SG_PUBLISHED_VOID;

        if (sg_gate_wait(SG_GATE_FD, SG_GATE_GO))
                wanted = SG_PUBLISHED_RUN;
        sg_attempt_dir_fault(&k->dir, "shim-fate");
        return sg_attempt_dir_publish(&k->dir, wanted);
}

static void on_started(void *userdata)
{
        struct keeper *k = userdata;

        sg_gate_send(SG_GATE_FD, SG_GATE_STARTED, k->child.pid);
        sg_attempt_dir_fault(&k->dir, "shim-exec");
}

static void set_failure(struct sg_exit *e, enum sg_stage stage, int error)
{
        e->stage = stage;
        e->error = error;
        e->exit_code = -1;
        e->signal = 0;
}

static void take_counters(struct keeper *k)
{
        struct sg_exit *e = &k->exit;
        struct sg_counters c;

        sg_counters_read(k->spec.dirs, k->spec.n_dirs, &c);
        e->cpu_usec = c.cpu_usec;
        e->memory_peak_bytes = c.memory_peak_bytes;
        e->oom_kills = c.oom_kills;
        e->io_read_bytes = c.io_read_bytes;
        e->io_write_bytes = c.io_write_bytes;
        sg_exit_set_rusage(e);
        /* A SIGKILL alone says nothing about who sent it. */
        e->main_oom_killed = e->signal == SIGKILL && c.oom_kills > 0 && c.oom_kills != SG_UNLIMITED;
}

static void run_job(struct keeper *k)
{
        struct sg_supervisor s = {
                .signals = k->signals,
                .child = k->child,
                .log = &k->log,
                .started = on_started,
                .userdata = k,
        };

        k->exit.started_usec = sg_now_realtime_usec();
        sg_child_release(&k->child);
        slim(&k->spec);
        sg_supervise_all(&s);
        k->exit.ended_usec = sg_now_realtime_usec();
        sg_gate_send(SG_GATE_FD, SG_GATE_OVER, k->child.pid);
        sg_exit_set_status(&k->exit, s.wait_status);
        if (s.failure.stage != SG_STAGE_NONE)
                set_failure(&k->exit, (enum sg_stage)s.failure.stage, s.failure.error);
        if (k->wants_on_end)
                sg_on_end(&k->dir, &k->spec, &k->log, k->signals, &k->exit);
        take_counters(k);
}

static int write_record(struct keeper *k)
{
        int r;

        r = sg_attempt_dir_write_exit(&k->dir, &k->exit);
        if (r < 0) {
                sg_process_complain("cannot write the exit record", NULL, -r);
                return EXIT_FAILURE;
        }
        sg_gate_send(SG_GATE_FD, SG_GATE_ENDED, k->exit.pid);
        return EXIT_SUCCESS;
}

static int write_setup_failure(struct keeper *k, int r)
{
        sg_process_complain("cannot set the job up", NULL, -r);
        set_failure(&k->exit, SG_STAGE_SETUP, -r);
        k->exit.ended_usec = sg_now_realtime_usec();
        return write_record(k);
}

static int keep(struct keeper *k)
{
        int r;

        r = set_up_job(k);
        if (r == -ECANCELED) { /* the gate was closed before there was anything to let go */
                (void)sg_attempt_dir_publish(&k->dir, SG_PUBLISHED_VOID);
                return EXIT_SUCCESS;
        }
        if (r < 0)
                return write_setup_failure(k, r);
        k->exit.pid = k->child.pid;
        sg_gate_send(SG_GATE_FD, SG_GATE_READY, k->child.pid);
        sg_attempt_dir_fault(&k->dir, "shim-ready");

        r = decide_fate(k);
        if (r != SG_PUBLISHED_RUN)
                sg_child_discard(&k->child);
        if (r == SG_PUBLISHED_VOID)
                return EXIT_SUCCESS;
        if (r < 0)
                return write_setup_failure(k, r);
        sg_attempt_dir_fault(&k->dir, "shim-released");
        run_job(k);
        return write_record(k);
}

int sg_background(const char *attempt_dir, bool in_keeper)
{
        struct keeper k = {
                .in_keeper = in_keeper,
                .signals = -1,
                .log.fd = -1,
                .child = SG_CHILD_NONE,
                .exit = {.exit_code = -1,
                         .cpu_usec = SG_UNLIMITED,
                         .memory_peak_bytes = SG_UNLIMITED,
                         .oom_kills = SG_UNLIMITED,
                         .io_read_bytes = SG_UNLIMITED,
                         .io_write_bytes = SG_UNLIMITED},
        };
        int r;

        r = prepare_process(&k);
        if (r == 0)
                r = sg_attempt_dir_open(&k.dir, attempt_dir);
        if (r < 0) {
                sg_process_complain("cannot keep", attempt_dir, -r);
                return EXIT_FAILURE;
        }
        sg_attempt_dir_fault(&k.dir, "shim-start");
        r = keep(&k);
        sg_joblog_deinit(&k.log);
        sg_spec_deinit(&k.spec);
        return r;
}
