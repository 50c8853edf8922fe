/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "manager.h"
#include "adopt/adopt.h"
#include "api/api.h"
#include "base/cleanup.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/record.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/loop.h"
#include "gpus/gpus.h"
#include "metrics/metrics.h"
#include "monitor/monitor.h"
#include "proto/names.h"
#include "readiness.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>

#ifndef SG_LIBDIR
#define SG_LIBDIR "/usr/local/lib/schedgov"
#endif

/* A writer that dies sooner than this after a start isn't mended by another start. */
#define START_OVER_USEC SG_USEC_PER_SEC

void sg_manager_fault(struct sg_manager *m, const char *point)
{
        char path[PATH_MAX];

        if (sg_path_join(path, sizeof(path), sg_store_dir(m->store), "fault") >= 0)
                sg_fault(point, AT_FDCWD, path, sg_store_pid(m->store));
}

/* Settings */

/* In which way settings differ from those before. */
enum difference { POLICIES, ALL };

/* The parts that are told of other settings, in this order. A part that isn't made yet does nothing
 * then. */
static const struct {
        void (*tell)(struct sg_manager *m);
        enum difference least; /* that the part has to do with */
} parts[] = {
        {sg_jobs_find_classes, POLICIES}, /* jobs alone keep a pointer into settings */
        {sg_gpus_reload, ALL},            /* whether GPUs are given out, and how they are asked */
        {sg_jobs_reload, ALL},            /* the queue, classes' groups, what the store keeps */
        {sg_adopter_reload, ALL},         /* which groups are adopted */
        {sg_monitor_reload, ALL},         /* how often jobs are looked at */
        {sg_loop_reload, POLICIES},       /* shares */
        {sg_metrics_reload, ALL},         /* classes that are counted, and who is told */
};

static void tell_parts(struct sg_manager *m, enum difference difference)
{
        m->settings = sg_configuration_settings(m->configuration);
        for (size_t i = 0; i < SG_ELEMENTSOF(parts); i++)
                if (difference >= parts[i].least)
                        parts[i].tell(m);
}

static void log_errors(const struct sg_config_errors *errors)
{
        for (size_t i = 0; i < errors->n; i++)
                sg_log(LOG_ERR, "%s: %s", errors->items[i].where, errors->items[i].what);
}

static int reload(struct sg_manager *m, struct sg_config_errors *errors)
{
        int r = sg_configuration_reload(m->configuration, m->node.name, errors);

        if (r < 0) {
                log_errors(errors);
                sg_log_job(LOG_ERR, SG_MESSAGE_CONFIG_REJECTED, NULL, strerror(-r),
                           "the configuration was not loaded: %s; the previous one stays in force",
                           strerror(-r));
                return r;
        }
        tell_parts(m, ALL);
        sg_log(LOG_INFO, "configuration loaded: %zu classes", m->settings->n_classes);
        sg_api_check_names(m);
        return 0;
}

int sg_manager_reload(struct sg_manager *m, struct sg_config_errors *errors)
{
        int r;

        sg_readiness_reloading();
        r = reload(m, errors);
        sg_readiness_ready();
        return r;
}

int sg_manager_set_policy(struct sg_manager *m, const char *class, char *const *assignments,
                          char **ret_why)
{
        int r = sg_configuration_change(m->configuration, class, assignments, ret_why);

        if (r >= 0)
                tell_parts(m, POLICIES);
        return r;
}

static int load_settings(struct sg_manager *m, const char *runtime_dir, char **ret_why)
{
        struct sg_config_errors errors = {0};
        int r;

        r = sg_configuration_new(&m->configuration, &m->config_place, m->node.name, runtime_dir,
                                 &errors);
        if (r >= 0)
                m->settings = sg_configuration_settings(m->configuration);
        if (r < 0 && errors.n > 0) {
                log_errors(&errors);
                *ret_why = strdup("not started: the configuration has errors");
                r = SG_BAD_CONFIG;
        }
        sg_config_errors_deinit(&errors);
        return r;
}

/* The object */

/* Finds a program that was built with us, or the installed one. */
static int find_ours(const char *name, const char *installed, int access_mode, char **ret)
{
        char self[PATH_MAX], *slash;
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

        if (n < 0)
                return -errno;
        self[n] = 0;
        slash = strrchr(self, '/');
        if (!slash)
                return -ENOENT;
        *slash = 0;
        if (asprintf(ret, "%s/%s", self, name) < 0)
                return -ENOMEM;
        if (access(*ret, access_mode) == 0)
                return 0;
        free(*ret);
        *ret = strdup(installed);
        if (!*ret)
                return -ENOMEM;
        return access(*ret, access_mode) == 0 ? 0 : -errno;
}

static int find_shim(char **ret)
{
        return find_ours("schedgov-shim", SG_LIBDIR "/schedgov-shim", X_OK, ret);
}

/* What may be missing: then it's NULL. */
static int find_optional(const char *name, const char *installed, int access_mode, char **ret)
{
        _cleanup_free_ char *path = NULL;
        int r = find_ours(name, installed, access_mode, &path);

        if (r == -ENOMEM)
                return r;
        *ret = r < 0 ? NULL : TAKE_PTR(path);
        return 0;
}

/* Without it threads don't follow. */
static int find_preload(char **ret)
{
        return find_optional("libschedgov-omp.so", SG_USRLIBDIR "/libschedgov-omp.so", R_OK, ret);
}

/* Without it nobody asks the GPUs' driver. */
static int find_gpu_program(char **ret)
{
        return find_optional("schedgov-gpu", SG_LIBDIR "/schedgov-gpu", X_OK, ret);
}

/* Names our groups: the same for the same state directory, so that a restarted daemon knows them
 * again. */
static void instance_name(const char *state_dir, char ret[16])
{
        (void)snprintf(ret, 16, "%08" PRIx32, sg_crc32c(state_dir, strlen(state_dir)));
}

static int on_connected(struct sg_client *c, void *userdata)
{
        return sg_api_publish(userdata, c->bus);
}

static int on_bus_up(sd_bus *bus, void *userdata)
{
        return sg_api_publish(userdata, bus);
}

static void on_disconnected(struct sg_client *c, void *userdata)
{
        sg_api_disconnect(userdata, c);
}

static const struct sg_bus_server_ops server_ops = {
        .connected = on_connected,
        .disconnected = on_disconnected,
};

static const struct sg_bus_service_ops service_ops = {
        .publish = on_bus_up,
        .disconnected = on_disconnected,
};

static int open_bus(struct sg_manager *m, const struct sg_manager_options *o)
{
        const struct sg_bus_host host = {m->event, m->ledger, m};
        _cleanup_free_ char *path = NULL;
        int r;

        if (!o->socket && asprintf(&path, "%s/bus", sg_store_dir(m->store)) < 0)
                return -ENOMEM;
        r = sg_bus_server_new(&m->server, &host, o->socket ?: path, &server_ops);
        if (r < 0 || !o->message_bus)
                return r;
        r = sg_bus_service_new(&m->service, &host, o->user, SG_BUS_NAME, &service_ops);
        return r == -ENXIO ? 0 : r;
}

static void say_rescued(const struct sg_manager *m)
{
        const char *notice = sg_store_notice(m->store);

        if (notice)
                sg_log_job(LOG_ERR, SG_MESSAGE_STORE_DAMAGED, NULL, notice, "%s", notice);
}

static void say_store_failed(const struct sg_manager *m, const char *then)
{
        const char *why = sg_store_error(m->store);

        sg_log_job(LOG_ERR, SG_MESSAGE_STORE_FAILED, NULL, why, "%s; %s", why, then);
}

/*
 * What the writer was asked and didn't answer may be on disk or not. To find out is what a start
 * does, so we start over; clients see a restart and repeat what they asked for. A writer that can't
 * live at all is left to whoever watches over us.
 */
static void on_store_dead(void *userdata)
{
        struct sg_manager *m = userdata;

        if (sg_now_monotonic_usec() - m->started_usec < START_OVER_USEC) {
                say_store_failed(m, "giving up");
                _exit(SG_EXIT_OWN_FAILURE);
        }
        say_store_failed(m, "starting over");
        (void)sd_event_exit(m->event, SG_START_OVER);
}

static int fail(char **ret_why, int error, const char *what)
{
        if (!*ret_why && asprintf(ret_why, "cannot %s: %s", what, strerror(-error)) < 0)
                *ret_why = NULL;
        return error;
}

static int open_launcher(struct sg_manager *m, const struct sg_manager_options *o)
{
        _cleanup_free_ char *shim = NULL;
        int r = find_shim(&shim);

        return r < 0 ? r
                     : sg_launcher_new(&m->jobs->launcher, m->event, shim, sg_store_dir(m->store),
                                       o->launcher);
}

static int open_backend(struct sg_manager *m, const struct sg_manager_options *o, char **ret_why)
{
        char instance[16];
        const struct sg_backend_options options = {.wanted = o->backend,
                                                   .instance = instance,
                                                   .shared = o->shared,
                                                   .user = o->user,
                                                   .event = m->event};

        instance_name(sg_store_dir(m->store), instance);
        return sg_backend_new(&m->backend, &options, ret_why);
}

/* Where the socket is, there is room for what is of this boot. */
static int find_runtime_dir(const struct sg_manager *m, const struct sg_manager_options *o,
                            char **ret)
{
        const char *slash = o->socket ? strrchr(o->socket, '/') : NULL;
        char *dir;

        if (!o->socket)
                dir = strdup(sg_store_dir(m->store));
        else if (!slash)
                dir = strdup(".");
        else
                dir = strndup(o->socket, slash == o->socket ? 1 : (size_t)(slash - o->socket));
        if (!dir)
                return -ENOMEM;
        *ret = dir;
        return 0;
}

static int open_runtime(struct sg_manager *m, const char *runtime_dir)
{
        int r = sg_jobs_listen(m->jobs, m, runtime_dir);

        return r < 0 ? r : sg_monitor_new(&m->monitor, m, runtime_dir);
}

static int make_parts(struct sg_manager *m)
{
        int r = sg_ledger_new(&m->ledger);

        if (r >= 0)
                r = sg_jobs_new(&m->jobs, m);
        if (r < 0)
                return r;
        m->jobs->calls = &sg_api_live_calls;
        r = sg_users_new(&m->users, m->event);
        if (r >= 0)
                r = sg_names_new(&m->names, m->event);
        if (r >= 0)
                r = find_preload(&m->preload);
        if (r >= 0)
                r = find_gpu_program(&m->gpu_program);
        return r < 0 ? r : sg_authorizer_new(&m->authorizer, m->event);
}

static int manager_start(struct sg_manager *m, const struct sg_manager_options *o, char **ret_why)
{
        _cleanup_free_ char *runtime_dir = NULL;
        int r;

        /* The store comes first, so that the writer inherits nothing of what follows. */
        r = sg_store_open(&m->store, o->state_dir, ret_why);
        if (r < 0)
                return fail(ret_why, r, "open the store");
        say_rescued(m);
        r = sg_readers_start(&m->readers);
        if (r < 0)
                return fail(ret_why, r, "start the reader of jobs' progress");
        r = sg_node_init(&m->node, o->node_name);
        if (r < 0)
                return fail(ret_why, r, "find out about this node");
        r = find_runtime_dir(m, o, &runtime_dir);
        if (r >= 0)
                r = load_settings(m, runtime_dir, ret_why);
        if (r < 0)
                return fail(ret_why, r, "load the configuration");
        if (!o->node_name)
                strcpy(m->node.name, m->settings->name);
        r = make_parts(m);
        if (r < 0)
                return fail(ret_why, r, "start");
        r = open_launcher(m, o);
        if (r < 0)
                return fail(ret_why, r, "find schedgov-shim beside schedgovd or in " SG_LIBDIR);
        r = open_backend(m, o, ret_why);
        if (r < 0)
                return fail(ret_why, r, "open the backend");
        if (o->user || sg_users_find_group("schedgov", &m->admin_gid) < 0)
                m->admin_gid = (gid_t)-1;
        r = sg_gpus_new(&m->gpus, m, o);
        if (r < 0)
                return fail(ret_why, r, "read which GPUs are drained");
        tell_parts(m, ALL);
        r = open_runtime(m, runtime_dir);
        if (r < 0)
                return fail(ret_why, r, "open the sockets and files of jobs");
        r = sg_loop_new(&m->loop, m);
        if (r < 0)
                return fail(ret_why, r, "start the loop");
        r = sg_manager_recover(m);
        if (r < 0)
                return fail(ret_why, r, "load the jobs");
        sg_monitor_sweep(m->monitor);
        r = sg_adopter_new(&m->adopter, m);
        if (r < 0)
                return fail(ret_why, r, "watch the control groups");
        sg_adopter_start(m->adopter);
        r = sg_store_attach(m->store, m->event);
        if (r >= 0)
                r = open_bus(m, o);
        if (r >= 0)
                sg_loop_ask_history(m->loop);
        sg_store_on_death(m->store, on_store_dead, m);
        m->started_usec = sg_now_monotonic_usec();
        if (r < 0)
                return fail(ret_why, r, "open the socket");
        r = sg_metrics_new(&m->metrics, m);
        if (r < 0)
                return fail(ret_why, r, "export metrics");
        sg_api_check_names(m);
        return 0;
}

int sg_manager_new(struct sg_manager **ret, sd_event *event, const struct sg_manager_options *o,
                   char **ret_why)
{
        struct sg_manager *m = calloc(1, sizeof(*m));
        int r;

        if (!m)
                return -ENOMEM;
        *ret_why = NULL;
        m->event = sd_event_ref(event);
        m->node.meminfo_fd = -1;
        m->config_place = o->config;
        m->config_place.check = sg_progress_check_value;
        r = manager_start(m, o, ret_why);
        if (r < 0) {
                sg_manager_free(m);
                return r;
        }
        *ret = m;
        return 0;
}

/* Jobs that run go on: only our side of them is dropped. */
struct sg_manager *sg_manager_free(struct sg_manager *m)
{
        if (!m)
                return NULL;
        m->stopping = true;
        m->names = sg_names_free(m->names);
        m->loop = sg_loop_free(m->loop);
        m->metrics = sg_metrics_free(m->metrics);
        m->gpus = sg_gpus_free(m->gpus);
        /* The server goes first, so that what the store still answers finds nobody. */
        m->server = sg_bus_server_free(m->server);
        m->service = sg_bus_service_free(m->service);
        m->authorizer = sg_authorizer_free(m->authorizer);
        sg_store_close(m->store);
        m->jobs = sg_jobs_free(m->jobs);
        m->adopter = sg_adopter_free(m->adopter);
        m->monitor = sg_monitor_free(m->monitor);
        sg_readers_free(m->readers);
        sg_backend_free(m->backend);
        sg_users_free(m->users);
        sg_ledger_free(m->ledger);
        sg_configuration_free(m->configuration);
        sg_node_deinit(&m->node);
        sd_event_unref(m->event);
        free(m->preload);
        free(m->gpu_program);
        free(m);
        return NULL;
}
