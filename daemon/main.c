/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* schedgovd: options, signals, the loop. Everything else belongs to the manager. */
#include "base/cleanup.h"
#include "base/file.h"
#include "edge/common/log.h"
#include "manager.h"
#include "proto/launch.h"
#include "proto/names.h"
#include "proto/paths.h"
#include "readiness.h"
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <syslog.h>
#include <systemd/sd-daemon.h>

enum {
        OPT_STANDALONE = 1000,
        OPT_USER,
        OPT_STATE_DIR,
        OPT_SOCKET,
        OPT_BACKEND,
        OPT_CONFIG_ROOT,
        OPT_NODE_NAME,
        OPT_LOG_LEVEL,
        OPT_LAUNCHER,
        OPT_GPU_WORKER,
};

struct options {
        struct sg_manager_options manager;
        bool standalone;
        char *user_state_dir, *user_socket, *user_config_dir;
};

static void help(void)
{
        puts("schedgovd [OPTIONS]\n\n"
             "The governor of one host: queues jobs, runs them in groups of their own, keeps their "
             "limits.\n\n"
             "  --standalone          stay in the foreground, need nothing installed; wants "
             "--state-dir\n"
             "  --user                govern for one user, below that user's own service manager\n"
             "  --state-dir DIR       database, logs, attempts (default " SG_SYSTEM_STATE_DIR ")\n"
             "  --socket PATH         where schedctl talks to us (default DIR/bus, "
             "or " SG_SYSTEM_SOCKET ")\n"
             "  --backend NAME        systemd, cgroupfs or observe; without it the best that "
             "works\n"
             "  --config-root DIR     read DIR/etc/schedgov, DIR/run/schedgov, "
             "DIR/usr/lib/schedgov\n"
             "  --node-name NAME      instead of the host's name\n"
             "  --launcher SOCKET     of schedgov-launch, which starts the jobs "
             "(default " SG_LAUNCH_SOCKET "\n"
             "                        if there is one)\n"
             "  --gpu-worker SOCKET   by which schedgov-gpu is started, which asks GPUs' drivers\n"
             "                        (default " SG_GPU_SOCKET " if there is one)\n"
             "  --log-level LEVEL     err, warning, notice, info or debug\n"
             "  -h, --help            this text\n"
             "      --version         the version\n\n"
             "SIGHUP reads the configuration again. SIGTERM stops the daemon; jobs go on and are "
             "found again.\n"
             "See schedgovd(8), schedgov.conf(5), schedgov.policy(5).");
}

static int usage_error(const char *what, const char *got)
{
        fprintf(stderr, "schedgovd: %s%s%s%s; see schedgovd --help\n", what, got ? ", not '" : "",
                got ?: "", got ? "'" : "");
        return -EINVAL;
}

static int parse_log_level(const char *s)
{
        static const struct {
                const char *name;
                int level;
        } levels[] = {{"err", LOG_ERR},
                      {"warning", LOG_WARNING},
                      {"notice", LOG_NOTICE},
                      {"info", LOG_INFO},
                      {"debug", LOG_DEBUG}};

        for (size_t i = 0; i < SG_ELEMENTSOF(levels); i++)
                if (strcmp(levels[i].name, s) == 0) {
                        sg_log_set_level(levels[i].level);
                        return 0;
                }
        return usage_error("--log-level wants err, warning, notice, info or debug", s);
}

static int apply_option(struct options *o, int option, const char *value)
{
        switch (option) {
        case OPT_STANDALONE:
                o->standalone = true;
                return 0;
        case OPT_USER:
                o->manager.user = true;
                return 0;
        case OPT_STATE_DIR:
                o->manager.state_dir = value;
                return 0;
        case OPT_SOCKET:
                o->manager.socket = value;
                return 0;
        case OPT_BACKEND:
                o->manager.backend = value;
                return 0;
        case OPT_CONFIG_ROOT:
                o->manager.config.root = value;
                return 0;
        case OPT_NODE_NAME:
                if (*value == 0 || strlen(value) >= SG_NODE_NAME_MAX || strpbrk(value, "/@ \t\n"))
                        return usage_error("--node-name wants a host name", value);
                o->manager.node_name = value;
                return 0;
        case OPT_LAUNCHER:
                o->manager.launcher = value;
                return 0;
        case OPT_GPU_WORKER:
                o->manager.gpu_worker = value;
                return 0;
        case OPT_LOG_LEVEL:
                return parse_log_level(value);
        default:
                return -EINVAL;
        }
}

static int option_error(int c, const char *word, const struct option *table)
{
        size_t len = strcspn(word, "=");

        if (c == ':') {
                fprintf(stderr, "schedgovd: %s wants a value; see schedgovd --help\n", word);
                return -EINVAL;
        }
        for (const struct option *o = table; strncmp(word, "--", 2) == 0 && o->name; o++)
                if (strlen(o->name) == len - 2 && strncmp(o->name, word + 2, len - 2) == 0) {
                        fprintf(stderr, "schedgovd: --%s takes no value; see schedgovd --help\n",
                                o->name);
                        return -EINVAL;
                }
        fprintf(stderr, "schedgovd: there is no option '%.*s'; see schedgovd --help\n", (int)len,
                word);
        return -EINVAL;
}

/* Places that were given aren't looked for. */
static int find_user_places(struct options *o)
{
        struct sg_manager_options *m = &o->manager;
        int r = 0;

        if (!m->state_dir) {
                r = sg_user_state_dir(&o->user_state_dir);
                m->state_dir = o->user_state_dir;
        }
        if (r >= 0 && !m->socket) {
                r = sg_user_socket(&o->user_socket);
                m->socket = o->user_socket;
        }
        if (r >= 0 && !m->config.root) {
                r = sg_user_config_dir(&o->user_config_dir);
                m->config.home = o->user_config_dir;
        }
        if (r == -ENXIO)
                return usage_error("--user wants HOME and XDG_RUNTIME_DIR to be set, as "
                                   "systemd-logind does, or --state-dir and --socket",
                                   NULL);
        return r;
}

/* Makes the directory of a user's socket: that of the host's is made with the unit. */
static int make_socket_directory(const char *socket)
{
        const char *slash = strrchr(socket, '/');
        _cleanup_free_ char *dir = slash ? strndup(socket, (size_t)(slash - socket)) : NULL;
        int r;

        if (!dir || !*dir)
                return slash && !dir ? -ENOMEM : 0;
        r = sg_mkdir_p(dir, 0700);
        if (r < 0)
                fprintf(stderr, "schedgovd: cannot make %s: %s\n", dir, strerror(-r));
        return r;
}

static int complete_options(struct options *o)
{
        struct sg_manager_options *m = &o->manager;
        int r = 0;

        if (o->standalone && !m->state_dir)
                return usage_error("--standalone wants --state-dir DIR", NULL);
        m->shared = o->standalone;
        m->message_bus = !o->standalone;
        if (o->standalone)
                return 0;
        if (m->user) {
                r = find_user_places(o);
                if (r >= 0)
                        r = make_socket_directory(m->socket);
        } else {
                m->state_dir = m->state_dir ?: SG_SYSTEM_STATE_DIR;
                m->socket = m->socket ?: SG_SYSTEM_SOCKET;
                if (!m->launcher && geteuid() == 0 && access(SG_LAUNCH_SOCKET, F_OK) == 0)
                        m->launcher = SG_LAUNCH_SOCKET;
                if (!m->gpu_worker && geteuid() == 0 && access(SG_GPU_SOCKET, F_OK) == 0)
                        m->gpu_worker = SG_GPU_SOCKET;
        }
        m->config.root = m->config.root ?: "";
        return r;
}

/* 1: go on; 0: done (help, version); < 0: said what is wrong. */
static int parse_options(struct options *o, int argc, char **argv)
{
        static const struct option table[] = {
                {"standalone", no_argument, NULL, OPT_STANDALONE},
                {"user", no_argument, NULL, OPT_USER},
                {"state-dir", required_argument, NULL, OPT_STATE_DIR},
                {"socket", required_argument, NULL, OPT_SOCKET},
                {"backend", required_argument, NULL, OPT_BACKEND},
                {"config-root", required_argument, NULL, OPT_CONFIG_ROOT},
                {"node-name", required_argument, NULL, OPT_NODE_NAME},
                {"launcher", required_argument, NULL, OPT_LAUNCHER},
                {"gpu-worker", required_argument, NULL, OPT_GPU_WORKER},
                {"log-level", required_argument, NULL, OPT_LOG_LEVEL},
                {"help", no_argument, NULL, 'h'},
                {"version", no_argument, NULL, 'V'},
                {0},
        };
        int c, r;

        opterr = 0;
        while ((c = getopt_long(argc, argv, "+:h", table, NULL)) >= 0) {
                if (c == 'h') {
                        help();
                        return 0;
                }
                if (c == 'V') {
                        puts("schedgovd " SG_VERSION);
                        return 0;
                }
                if (c == '?' || c == ':')
                        return option_error(c, argv[optind - 1], table);
                r = apply_option(o, c, optarg);
                if (r < 0)
                        return r;
        }
        if (optind < argc)
                return usage_error("takes options only", argv[optind]);
        r = complete_options(o);
        return r < 0 ? r : 1;
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *si, void *userdata)
{
        struct sg_config_errors errors = {0};

        (void)source;
        (void)si;
        (void)sg_manager_reload(userdata, &errors);
        sg_config_errors_deinit(&errors);
        return 0;
}

static int block_signals(void)
{
        sigset_t set;

        (void)signal(SIGPIPE, SIG_IGN);
        (void)sigemptyset(&set);
        (void)sigaddset(&set, SIGTERM);
        (void)sigaddset(&set, SIGINT);
        (void)sigaddset(&set, SIGHUP);
        return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -errno : 0;
}

/* Executes the daemon again, in place: with the same pid, terminal and supervisor. Everything that
 * we hold is CLOEXEC. */
static int start_over(char **argv)
{
        char self[PATH_MAX];
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

        if (n < 0)
                return -errno;
        self[n] = 0;
        (void)execv(self, argv);
        return -errno;
}

/* Reaps shims that ended while we started over. */
static void reap(void)
{
        while (waitpid(-1, NULL, WNOHANG) > 0)
                continue;
}

/* Files of jobs' groups stay open, a dozen of each. Jobs get the limits of those who
 * submit them. */
static void raise_descriptors(void)
{
        struct rlimit limit;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return;
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int run(const struct options *o, char **argv)
{
        _cleanup_(sd_event_unrefp) sd_event *event = NULL;
        _cleanup_free_ char *why = NULL;
        struct sg_readiness *readiness = NULL;
        struct sg_manager *m;
        int r;

        reap();
        raise_descriptors();
        r = block_signals();
        if (r < 0)
                return r;
        r = sd_event_new(&event);
        if (r < 0)
                return r;
        r = sg_manager_new(&m, event, &o->manager, &why);
        if (r < 0) {
                sg_log(LOG_ERR, "%s", why ?: strerror(-r));
                return r;
        }
        r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGINT, NULL, NULL);
        if (r >= 0)
                r = sd_event_add_signal(event, NULL, SIGHUP, on_hangup, m);
        if (r >= 0) {
                if (o->standalone)
                        printf("schedgovd: ready on %s/bus (%s)\n", sg_store_dir(m->store),
                               sg_backend_name(m->backend));
                (void)fflush(stdout);
                r = sg_readiness_new(&readiness, m);
        }
        if (r >= 0)
                r = sd_event_loop(event);
        sg_readiness_free(readiness);
        if (r == SG_START_OVER)
                r = start_over(argv);
        (void)sd_notify(0, "STOPPING=1");
        sg_manager_free(m);
        return r;
}

int main(int argc, char **argv)
{
        struct options o = {0};
        int r;

        (void)umask(022);
        /* One large list must not raise what is kept for good, and what a step over a thousand jobs
         * takes for a moment is given back behind it: arrays of 16 to 232 bytes for each. */
        (void)mallopt(M_MMAP_THRESHOLD, 16 * 1024);
        (void)mallopt(M_TRIM_THRESHOLD, 32 * 1024);
        r = parse_options(&o, argc, argv);
        if (r == 0)
                return 0;
        if (r > 0)
                r = run(&o, argv);
        free(o.user_state_dir);
        free(o.user_socket);
        free(o.user_config_dir);
        if (r == SG_BAD_CONFIG)
                return EX_CONFIG; /* for the service's RestartPreventExitStatus= */
        return r < 0 ? SG_EXIT_OWN_FAILURE : 0;
}
