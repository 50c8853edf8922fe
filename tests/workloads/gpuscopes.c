/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gpuscopes ROOT: makes scopes of systemd around processes, closed to GPUs' nodes as jobs are, with
 * what ROOT says of drivers (proc/devices, …) and of GPUs (ROOT/gpus). Reads commands, and answers
 * each with a line, "ok" or what is wrong:
 *
 *   start N PID UUIDS    a new scope; "-" are no GPUs, "closed:UUIDS" are of a closed class
 *   adopt N PID UUIDS    one that another one of us has made
 *   set N UUIDS          other GPUs; what is sent is on its way with the answer
 *   look                 reads ROOT again, and puts what follows from that in force for all
 *
 * ROOT/gpus has lines "gpu UUID BUS MINOR", and "mig UUID GI CI" of the GPU before. Its end is that
 * of the input; the scopes go on.
 */
#include "base/cleanup.h"
#include "core/gpu/nodes.h"
#include "edge/cgroup/cgroup.h"
#include "edge/gpu/devices.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCOPES_MAX 16

struct job {
        struct sg_scope *scope;
        bool closed;
        char uuids[256];
        pid_t pid;
};

struct world {
        const char *root;
        sd_event *event;
        struct sg_backend *backend;
        struct sg_gpu_devices devices;
        struct sg_gpu gpus[8];
        struct sg_gpu_inventory inventory;
        struct sg_device_guard *guard;
        struct job jobs[SCOPES_MAX];
};

static int answer(int r, const char *why)
{
        printf("%s\n", r >= 0 ? "ok" : why ?: strerror(-r));
        (void)fflush(stdout);
        return 0;
}

static int read_gpus(struct world *w)
{
        _cleanup_fclose_ FILE *f = NULL;
        char path[256], line[256];
        struct sg_gpu *gpu = NULL;

        (void)snprintf(path, sizeof(path), "%s/gpus", w->root);
        f = fopen(path, "re");
        if (!f)
                return -errno;
        memset(w->gpus, 0, sizeof(w->gpus));
        w->inventory = (struct sg_gpu_inventory){.state = SG_GPU_DRIVER_OK, .gpus = w->gpus};
        while (fgets(line, sizeof(line), f)) {
                struct sg_gpu fresh = {.vendor = "nvidia"};
                struct sg_gpu_instance instance = {0};

                if (sscanf(line, "gpu %95s %31s %" SCNu64, fresh.uuid, fresh.bus_id,
                           &fresh.minor) == 3 &&
                    w->inventory.n < SG_ELEMENTSOF(w->gpus)) {
                        gpu = &w->gpus[w->inventory.n++];
                        *gpu = fresh;
                } else if (gpu && sscanf(line, "mig %95s %u %u", instance.uuid,
                                         &instance.gpu_instance, &instance.compute_instance) == 3) {
                        gpu->instances[gpu->n_instances++] = instance;
                } else {
                        return -EBADMSG;
                }
        }
        return 0;
}

static int look(struct world *w)
{
        struct sg_gpu_devices devices;
        struct sg_device_guard *guard;
        int r;

        r = read_gpus(w);
        if (r >= 0)
                r = sg_gpu_devices_read(&devices, w->root);
        if (r < 0)
                return r;
        sg_gpu_devices_deinit(&w->devices);
        w->devices = devices;
        r = sg_gpu_guard(&guard, &w->devices, &w->inventory, w->guard);
        if (r < 0)
                return r;
        sg_device_guard_unref(w->guard);
        w->guard = guard;
        return 0;
}

static int devices_of(struct world *w, const struct job *j, struct sg_device_list *ret)
{
        const struct sg_device_list class = {.closed = j->closed,
                                             .guard = j->closed ? NULL : w->guard};
        int r = sg_gpu_job_devices(ret, &class, &w->devices, &w->inventory,
                                   strcmp(j->uuids, "-") == 0 ? NULL : j->uuids);

        return r > 0 ? -ENODEV : r;
}

static int apply(struct world *w, struct job *j)
{
        _cleanup_(sg_device_list_deinit) struct sg_device_list d = {0};
        int r;

        r = devices_of(w, j, &d);
        return r < 0 ? r : sg_scope_set_devices(j->scope, &d, NULL);
}

static void on_turn(struct sg_scope *s, void *userdata)
{
        struct sg_limits l;
        int r;

        (void)userdata;
        sg_limits_default(&l);
        r = sg_scope_begin(s, &l, NULL);
        if (r < 0)
                (void)answer(r, NULL);
}

static void on_done(struct sg_scope *s, int result, const char *why, void *userdata)
{
        const struct job *j = userdata;

        if (result >= 0)
                result = sg_scope_move(s, j->pid, true);
        (void)answer(result, why);
}

/* 1: the answer follows. */
static int place(struct job *j)
{
        struct sg_scope_placing p = {
                .shim = j->pid, .turn = on_turn, .done = on_done, .userdata = j};
        int r;

        p.pidfd = (int)syscall(SYS_pidfd_open, j->pid, 0);
        if (p.pidfd < 0)
                return -errno;
        r = sg_scope_place(j->scope, &p);
        (void)sg_close(p.pidfd);
        return r;
}

static void say_gpus(struct job *j, const char *uuids)
{
        j->closed = strncmp(uuids, "closed:", 7) == 0;
        (void)snprintf(j->uuids, sizeof(j->uuids), "%s", uuids + (j->closed ? 7 : 0));
}

static int begin(struct world *w, unsigned n, pid_t pid, const char *uuids, bool adopt)
{
        const struct sg_job_key key = {"gpuscopes", n, 1};
        struct sg_scope_request req = {.key = &key, .class = "gpuscopes", .class_weight = 100};
        struct job *j = &w->jobs[n];
        int r;

        say_gpus(j, uuids);
        j->pid = pid;
        req.shim = pid;
        req.stop_usec = SG_UNLIMITED;
        sg_limits_default(&req.limits);
        r = devices_of(w, j, &req.devices);
        if (r >= 0)
                r = adopt ? sg_scope_adopt(&j->scope, w->backend, &req)
                          : sg_scope_new(&j->scope, w->backend, &req, NULL);
        sg_device_list_deinit(&req.devices);
        if (r < 0 || adopt)
                return r;
        return place(j);
}

static int look_and_apply(struct world *w)
{
        int r = look(w);

        for (size_t i = 0; r >= 0 && i < SCOPES_MAX; i++)
                if (w->jobs[i].scope)
                        r = apply(w, &w->jobs[i]);
        return r;
}

static int obey(struct world *w, const char *line)
{
        char uuids[256] = "";
        unsigned n = 0;
        pid_t pid = 0;

        if (strcmp(line, "look\n") == 0)
                return look_and_apply(w);
        if (sscanf(line, "start %u %d %255s", &n, &pid, uuids) == 3 && n < SCOPES_MAX)
                return begin(w, n, pid, uuids, false);
        if (sscanf(line, "adopt %u %d %255s", &n, &pid, uuids) == 3 && n < SCOPES_MAX)
                return begin(w, n, pid, uuids, true);
        if (sscanf(line, "set %u %255s", &n, uuids) == 2 && n < SCOPES_MAX && w->jobs[n].scope) {
                say_gpus(&w->jobs[n], uuids);
                return apply(w, &w->jobs[n]);
        }
        return -EINVAL;
}

/* While there is a loop: what is dropped may lead to something. */
static int end(struct world *w)
{
        for (size_t i = 0; i < SCOPES_MAX; i++)
                w->jobs[i].scope = sg_scope_free(w->jobs[i].scope);
        w->backend = sg_backend_free(w->backend);
        return sd_event_exit(w->event, 0);
}

static int on_input(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
        struct world *w = userdata;
        char line[512];
        int r;

        (void)source;
        (void)fd;
        (void)events;
        if (!fgets(line, sizeof(line), stdin))
                return end(w);
        r = obey(w, line);
        return r > 0 ? 0 : answer(r, NULL);
}

static int run(struct world *w, char **ret_why)
{
        struct sg_backend_options o = {
                .wanted = "systemd", .instance = "gpuscopes", .shared = true};
        int r;

        (void)setvbuf(stdin, NULL, _IONBF, 0);
        r = sd_event_default(&w->event);
        o.event = w->event;
        if (r >= 0)
                r = sg_backend_new(&w->backend, &o, ret_why);
        if (r >= 0)
                r = look(w);
        if (r >= 0)
                r = sd_event_add_io(w->event, NULL, STDIN_FILENO, EPOLLIN, on_input, w);
        return r < 0 ? r : sd_event_loop(w->event);
}

int main(int argc, char **argv)
{
        static struct world w;
        char *why = NULL;
        int r;

        if (argc != 2) {
                fprintf(stderr, "usage: gpuscopes ROOT\n");
                return 2;
        }
        w.root = argv[1];
        r = run(&w, &why);
        if (r < 0)
                fprintf(stderr, "gpuscopes: %s\n", why ?: strerror(-r));
        sd_event_unref(w.event);
        sg_device_guard_unref(w.guard);
        sg_gpu_devices_deinit(&w.devices);
        free(why);
        return r < 0;
}
