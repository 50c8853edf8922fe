/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parent of a foreground job, `schedctl run`: as invisible as env(1) between a shell and its
 * command. Same session, same process group, so that what the terminal sends (^C, ^\, a hang-up,
 * SIGWINCH) reaches the command directly; what is sent to us alone is passed on. When the command
 * stops we stop in the same way, so that the shell sees its job stopped, and `fg` continues both.
 *
 * The daemon publishes the fate in this mode. The exit record is its user's own statement, which
 * the daemon writes down (report.h).
 */

#include "base/cleanup.h"
#include "base/parse.h"
#include "base/time-util.h"
#include "proto/names.h"
#include "shim/child.h"
#include "shim/program.h"
#include "shim/report.h"
#include "shim/shim.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>

static const int forwarded[] = {SIGTERM, SIGHUP,  SIGINT,  SIGQUIT,
                                SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH};
static const int stops[] = {SIGTSTP, SIGTTIN, SIGTTOU};

struct foreground {
        const struct sg_foreground_options *o;
        sigset_t old_mask;
        int signals;
        struct sg_child child;
        struct sg_child_failure failure;
        struct sg_exit exit;
        char comeback[PATH_MAX]; /* where the daemon is found again; "": it is of an earlier
                                    version */
        bool over;
        int wait_status;
        struct sg_verdict verdict;
};

/* Blocked, not ignored or caught: the command inherits the dispositions that our caller chose. */
static int take_signals(struct foreground *f)
{
        const struct sigaction dfl = {.sa_handler = SIG_DFL};
        sigset_t set;

        (void)sigaction(SIGCHLD, &dfl, NULL);
        sigemptyset(&set);
        sigaddset(&set, SIGCHLD);
        for (size_t i = 0; i < SG_ELEMENTSOF(forwarded); i++)
                sigaddset(&set, forwarded[i]);
        f->signals = signalfd(-1, &set, SFD_CLOEXEC);
        if (f->signals < 0)
                return -errno;
        for (size_t i = 0; i < SG_ELEMENTSOF(stops); i++)
                sigaddset(&set, stops[i]);
        return sigprocmask(SIG_BLOCK, &set, &f->old_mask) < 0 ? -errno : 0;
}

/* Is the terminal, if we have one, ours or the command's? Only then somebody can type `fg`. */
static bool in_terminal_foreground(pid_t child)
{
        _cleanup_close_ int tty = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
        pid_t group = tty >= 0 ? tcgetpgrp(tty) : -1;

        return group > 0 && (group == getpgrp() || group == getpgid(child));
}

/* Stops us as the command was stopped. A SIGSTOP of whoever governs the job is not passed on to
 * where no shell would continue us. */
static void stop_with(const struct foreground *f, int sig)
{
        sigset_t set, old;

        if (sig == SIGSTOP && !in_terminal_foreground(f->child.pid))
                return;
        sigemptyset(&set);
        sigaddset(&set, sig);
        (void)raise(sig);
        (void)sigprocmask(SIG_UNBLOCK, &set, &old);
        /* Here we are stopped, until SIGCONT. */
        (void)sigprocmask(SIG_SETMASK, &old, NULL);
        (void)kill(f->child.pid, SIGCONT);
}

static void reap(struct foreground *f)
{
        int status;

        while (waitpid(f->child.pid, &status, WNOHANG | WUNTRACED) > 0) {
                if (WIFSTOPPED(status)) {
                        stop_with(f, WSTOPSIG(status));
                        continue;
                }
                f->over = true;
                f->wait_status = status;
                return;
        }
}

static bool is_hangup_for_leader(const struct signalfd_siginfo *info)
{
        return info->ssi_signo == SIGHUP && getsid(0) == getpid();
}

static void handle_signal(struct foreground *f)
{
        struct signalfd_siginfo info;

        if (read(f->signals, &info, sizeof(info)) != sizeof(info))
                return;
        if (info.ssi_signo == SIGCHLD) {
                reap(f);
                return;
        }
        /* Signals of the kernel's own (SI_KERNEL) go to the process group, so the command has them
         * already; and what the command sends to its group itself, it doesn't want back. But a
         * hang-up goes to the leader of the session alone: that is us under `ssh -t HOST schedctl
         * run`. */
        if ((info.ssi_code > 0 && !is_hangup_for_leader(&info)) ||
            info.ssi_pid == (uint32_t)f->child.pid)
                return;
        (void)kill(f->child.pid, (int)info.ssi_signo);
}

static void read_channel(struct foreground *f)
{
        if (!sg_child_read_failure(&f->child, &f->failure))
                sg_gate_send(f->o->gate, SG_GATE_STARTED, f->child.pid);
        f->child.channel = sg_close(f->child.channel);
}

static void wait_for_command(struct foreground *f)
{
        while (!f->over) {
                struct pollfd fds[] = {
                        {.fd = f->child.channel, .events = POLLIN},
                        {.fd = f->signals, .events = POLLIN},
                };

                if (poll(fds, SG_ELEMENTSOF(fds), -1) <= 0)
                        continue;
                if (fds[0].revents)
                        read_channel(f);
                if (fds[1].revents)
                        handle_signal(f);
        }
        if (f->child.channel >= 0)
                read_channel(f);
}

static void fill_exit(struct foreground *f)
{
        struct sg_exit *e = &f->exit;

        e->ended_usec = sg_now_realtime_usec();
        sg_exit_set_status(e, f->wait_status);
        if (f->failure.stage != SG_STAGE_NONE) {
                e->stage = f->failure.stage;
                e->error = f->failure.error;
                e->exit_code = -1;
        }
        sg_exit_set_rusage(e);
}

/* A daemon of an earlier version has us write the record ourselves. One of this version gives us no
 * file, and lets nothing run before it has told us where to come back. */
static bool has_file(const struct foreground *f)
{
        struct stat st;

        return f->o->record >= 0 && fstat(f->o->record, &st) == 0 && S_ISREG(st.st_mode);
}

static void write_record(struct foreground *f)
{
        uint8_t buf[SG_EXIT_SIZE];
        int fd = f->o->record;

        sg_exit_pack(&f->exit, buf);
        if (pwrite(fd, buf, sizeof(buf), 0) != sizeof(buf) || fsync(fd) < 0) {
                sg_process_complain("cannot write the exit record", NULL, errno);
                return;
        }
        sg_gate_send(f->o->gate, SG_GATE_ENDED, f->exit.pid);
        (void)sg_gate_wait_seen(f->o->gate, SG_REPORT_PATIENCE_MSEC, &f->verdict);
}

static void report(struct foreground *f)
{
        struct sg_report r = {.gate = f->o->gate, .lock = f->o->lock, .comeback = f->comeback};

        if (*f->comeback)
                sg_report(&r, &f->exit, &f->verdict);
        else if (has_file(f))
                write_record(f);
}

/* Of what isn't an exit status, as its number says little. Shells say nothing of these two, either:
 * ^C was typed by who would read it, and `run … | head` is meant so. */
static void say_how_it_ended(const struct foreground *f)
{
        char words[32];

        if (f->exit.signal == SIGINT || f->exit.signal == SIGPIPE)
                return;
        if (f->verdict.words[0]) {
                sg_process_tell(f->verdict.words);
        } else if (f->exit.signal) { /* nobody has told us its name */
                (void)snprintf(words, sizeof(words), "killed by signal %d", f->exit.signal);
                sg_process_tell(words);
        }
}

static int exit_status(const struct foreground *f)
{
        if (f->failure.stage != SG_STAGE_NONE) {
                sg_process_complain("cannot execute", f->o->argv[0], f->failure.error);
                return f->failure.error == ENOENT ? SG_EXIT_NOT_FOUND : SG_EXIT_NOT_EXECUTABLE;
        }
        say_how_it_ended(f);
        if (f->verdict.timeout)
                return SG_EXIT_TIME_LIMIT;
        return f->exit.signal ? 128 + f->exit.signal : f->exit.exit_code;
}

static int spawn(struct foreground *f)
{
        _cleanup_free_ char **env = NULL;
        int r;

        r = sg_program_env(environ, f->o->env_force, f->o->env_default, &env);
        if (r < 0)
                return r;
        r = sg_child_spawn_plain(&f->child, f->o->argv, env, &f->old_mask);
        f->exit.pid = f->child.pid;
        return r;
}

static int take_message(struct foreground *f, enum sg_gate_kind kind)
{
        if (kind == SG_GATE_PLACE)
                return sg_gate_wait_place(f->o->gate, f->comeback, sizeof(f->comeback));
        return sg_gate_wait(f->o->gate, kind);
}

/* 1: the message came; 0: the daemon went away; -signal: one that ends us did. */
static int wait_at_gate(struct foreground *f, enum sg_gate_kind kind)
{
        static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

        for (;;) {
                struct signalfd_siginfo info;
                struct pollfd fds[] = {
                        {.fd = f->o->gate, .events = POLLIN},
                        {.fd = f->signals, .events = POLLIN},
                };

                if (poll(fds, SG_ELEMENTSOF(fds), -1) <= 0)
                        continue;
                if (fds[0].revents)
                        return take_message(f, kind);
                if (read(f->signals, &info, sizeof(info)) != sizeof(info))
                        continue;
                for (size_t i = 0; i < SG_ELEMENTSOF(ending); i++)
                        if (info.ssi_signo == (uint32_t)ending[i])
                                return -ending[i];
        }
}

/* Our exit status. We leave a record: the daemon may have published `run` at this moment, and must
 * not take the job for lost. */
static int not_let_go(struct foreground *f, int sig, int error)
{
        sg_child_discard(&f->child);
        f->exit.exit_code = -1;
        f->exit.signal = sig;
        if (sig == 0) {
                f->exit.stage = SG_STAGE_SETUP;
                f->exit.error = error;
        }
        report(f);
        return sig ? 128 + sig : SG_EXIT_OWN_FAILURE;
}

/* 0 the command may run; else our exit status, or -errno. It is forked only when we are in our
 * place, where it is born. */
static int pass_gate(struct foreground *f)
{
        int r;

        r = wait_at_gate(f, SG_GATE_PLACE);
        if (r > 0) {
                r = spawn(f);
                if (r < 0)
                        return r;
                sg_gate_send(f->o->gate, SG_GATE_READY, f->child.pid);
                r = wait_at_gate(f, SG_GATE_GO);
        }
        if (r > 0)
                return 0;
        if (r == 0)
                sg_process_complain("schedgovd went away before the job started; it was not run",
                                    NULL, 0);
        return not_let_go(f, -r, ECANCELED);
}

/* A shared lock doesn't keep another shim from having one, too: so whether there is one is asked
 * first. */
static int lock(int fd)
{
        struct flock holder = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

        if (fcntl(fd, F_GETLK, &holder) < 0)
                return -errno;
        return holder.l_type == F_UNLCK ? sg_process_lock_shared(fd) : -EAGAIN;
}

static int prepare(struct foreground *f)
{
        const int fds[] = {f->o->gate, f->o->lock, f->o->record};
        int r;

        for (size_t i = 0; i < SG_ELEMENTSOF(fds); i++)
                if (fds[i] >= 0 && fcntl(fds[i], F_SETFD, FD_CLOEXEC) < 0)
                        return -errno;
        r = f->o->lock >= 0 ? lock(f->o->lock) : 0;
        if (r < 0)
                return r;
        return take_signals(f);
}

int sg_foreground(const struct sg_foreground_options *o)
{
        struct foreground f = {
                .o = o,
                .signals = -1,
                .child = SG_CHILD_NONE,
                .exit = {.cpu_usec = SG_UNLIMITED,
                         .memory_peak_bytes = SG_UNLIMITED,
                         .oom_kills = SG_UNLIMITED,
                         .io_read_bytes = SG_UNLIMITED,
                         .io_write_bytes = SG_UNLIMITED},
        };
        int r;

        r = prepare(&f);
        if (r < 0) { /* the record may be another's */
                sg_process_complain("cannot set the job up", NULL, -r);
                return SG_EXIT_OWN_FAILURE;
        }
        r = o->gate >= 0 ? pass_gate(&f) : spawn(&f);
        if (r < 0) {
                sg_process_complain("cannot set the job up", NULL, -r);
                return not_let_go(&f, 0, -r);
        }
        if (r > 0)
                return r;
        f.exit.started_usec = sg_now_realtime_usec();
        sg_child_release(&f.child);
        wait_for_command(&f);
        fill_exit(&f);
        report(&f);
        return exit_status(&f);
}
