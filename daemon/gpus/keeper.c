/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The worker: started and given up as core/gpu/keep.h says, and told how often to look. */
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/gpu/devices.h"
#include "gpus/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <syslog.h>

/* While something starts or ends; while a job has GPUs; and else. */
#define OFTEN_USEC (250 * SG_USEC_PER_MSEC)
#define USUAL_USEC (2 * SG_USEC_PER_SEC)
#define SELDOM_USEC (10 * SG_USEC_PER_SEC)
/* A job's processes appear on its GPUs, and go from them, within about that. */
#define HURRY_USEC (5 * SG_USEC_PER_SEC)
/* A driver that was there and has gone is being loaded anew, most often. */
#define RETURN_USEC (10 * SG_USEC_PER_SEC)
/* However many ask, /proc/devices is read so often at most. */
#define FIND_USEC SG_USEC_PER_SEC

static uint64_t interval(const struct sg_gpus *g, uint64_t now)
{
        if (now < g->hurry_usec || sg_gpu_account_unsettled(g->account))
                return OFTEN_USEC;
        return sg_gpu_account_pool(g->account)->n_holds > 0 ? USUAL_USEC : SELDOM_USEC;
}

static struct sg_gpu_order order(const struct sg_gpus *g, uint64_t every_usec)
{
        const struct sg_gpu_settings *s = &g->manager->settings->gpu;
        struct sg_gpu_order o = {.every_usec = every_usec};

        (void)snprintf(o.library, sizeof(o.library), "%s", s->library);
        (void)snprintf(o.root, sizeof(o.root), "%s", s->driver_root);
        return o;
}

static uint64_t timeout(const struct sg_gpus *g)
{
        return g->manager->settings->gpu.timeout_usec;
}

/* --- a driver that is out of order */

/* Since when is said by whoever shows it. */
static void say_silent(struct sg_gpus *g, int error)
{
        bool hangs = error == -ETIMEDOUT;
        char message[sizeof(g->last.message)];

        if (hangs)
                (void)snprintf(message, sizeof(message), "the driver hasn't answered");
        else if (error == -EPROTO)
                (void)snprintf(message, sizeof(message),
                               "schedgov-gpu is of another version than schedgovd");
        else if (error == -EBADMSG)
                (void)snprintf(message, sizeof(message), "what schedgov-gpu says makes no sense");
        else if (error == -EPIPE)
                (void)snprintf(message, sizeof(message), "schedgov-gpu has ended");
        else
                (void)snprintf(message, sizeof(message), "cannot start schedgov-gpu: %s",
                               strerror(-error));
        sg_gpus_take_silence(g, hangs ? SG_GPU_DRIVER_HUNG : SG_GPU_DRIVER_ERROR, message);
}

static void start(struct sg_gpus *g, uint64_t now)
{
        uint64_t every = interval(g, now);
        const struct sg_gpu_order first = order(g, every);
        int r = sg_gpu_client_start(g->client, &first);

        if (r < 0) {
                sg_gpu_keep_ended(&g->keep, now);
                say_silent(g, r);
                return;
        }
        g->every_usec = every;
        sg_gpu_keep_started(&g->keep, now, timeout(g));
}

static void let_go(struct sg_gpus *g, uint64_t now)
{
        bool wanted = g->keep.wanted;

        sg_gpu_client_let_go(g->client);
        sg_gpu_keep_let_go(&g->keep, now);
        if (wanted)
                say_silent(g, -ETIMEDOUT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_gpus *g = userdata;

        (void)source;
        (void)usec;
        if (g->keep.wanted)
                sg_gpus_attend(g);
        else
                sg_gpus_find_driver(g);
        return 0;
}

static void arm(struct sg_gpus *g, uint64_t usec)
{
        int r = 0;

        if (usec == 0) {
                if (g->timer)
                        (void)sd_event_source_set_enabled(g->timer, SD_EVENT_OFF);
        } else if (!g->timer) {
                r = sd_event_add_time(g->manager->event, &g->timer, CLOCK_MONOTONIC, usec, 0,
                                      on_timer, g);
        } else {
                r = sd_event_source_set_time(g->timer, usec);
                if (r >= 0)
                        r = sd_event_source_set_enabled(g->timer, SD_EVENT_ONESHOT);
        }
        if (r < 0)
                sg_log(LOG_ERR, "cannot set the timer of schedgov-gpu: %s", strerror(-r));
}

/* It looks as often as it should from now on. */
static void tell_interval(struct sg_gpus *g, uint64_t now)
{
        uint64_t every = interval(g, now);
        const struct sg_gpu_order next = order(g, every);

        if (!g->keep.runs || every == g->every_usec || sg_gpu_client_order(g->client, &next) < 0)
                return;
        g->every_usec = every;
}

void sg_gpus_attend(struct sg_gpus *g)
{
        uint64_t now = sg_now_monotonic_usec(), wake = 0;
        enum sg_gpu_keep_do what;

        while ((what = sg_gpu_keep_next(&g->keep, now, &wake)) != SG_GPU_KEEP_WAIT) {
                if (what == SG_GPU_KEEP_START)
                        start(g, now);
                else
                        let_go(g, now);
        }
        tell_interval(g, now);
        if (!g->keep.wanted && g->managed)
                wake = now + RETURN_USEC;
        arm(g, wake);
}

/* --- what the worker says */

static void on_looked(struct sg_gpu_inventory *inventory, void *userdata)
{
        struct sg_gpus *g = userdata;
        bool well = inventory->state == SG_GPU_DRIVER_OK;
        bool absent = inventory->state == SG_GPU_DRIVER_ABSENT;
        uint64_t now = sg_now_monotonic_usec();

        if (well)
                g->heard_usec = now;
        sg_gpu_keep_heard(&g->keep, now, g->every_usec + timeout(g), well);
        sg_gpus_take_look(g, inventory);
        if (absent && !sg_gpu_driver_is_loaded(&g->devices))
                sg_gpu_keep_want(&g->keep, false);
        sg_gpus_attend(g);
}

static void on_failed(int error, void *userdata)
{
        struct sg_gpus *g = userdata;

        sg_gpu_keep_let_go(&g->keep, sg_now_monotonic_usec());
        say_silent(g, error);
        sg_gpus_attend(g);
}

static void on_gone(void *userdata)
{
        struct sg_gpus *g = userdata;

        sg_gpu_keep_gone(&g->keep);
        sg_gpus_attend(g);
}

static const struct sg_gpu_client_ops client_ops = {
        .looked = on_looked, .failed = on_failed, .gone = on_gone};

int sg_gpus_keep(struct sg_gpus *g, const struct sg_manager_options *o)
{
        return sg_gpu_client_new(&g->client, &(struct sg_gpu_client_options){
                                                     .event = g->manager->event,
                                                     .program = g->manager->gpu_program,
                                                     .socket = o->gpu_worker,
                                                     .ops = &client_ops,
                                                     .userdata = g,
                                             });
}

void sg_gpus_let_go(struct sg_gpus *g)
{
        g->client = sg_gpu_client_free(g->client);
        g->timer = sd_event_source_disable_unref(g->timer);
}

void sg_gpus_hurry(struct sg_manager *m)
{
        struct sg_gpus *g = m->gpus;

        if (!g->keep.wanted)
                return;
        g->hurry_usec = sg_now_monotonic_usec() + HURRY_USEC;
        tell_interval(g, sg_now_monotonic_usec());
}

/* --- whether there is a driver */

void sg_gpus_find_driver(struct sg_gpus *g)
{
        const struct sg_gpu_settings *s = &g->manager->settings->gpu;
        struct sg_gpu_devices now = {0};
        bool wanted;

        g->found_usec = sg_now_monotonic_usec();
        if (s->manage && sg_gpu_devices_read(&now, s->driver_root) >= 0) {
                sg_gpu_devices_deinit(&g->devices);
                g->devices = now;
        }
        wanted = s->manage && sg_gpu_driver_is_loaded(&g->devices);
        g->managed = s->manage && (g->managed || wanted);
        sg_gpus_guard(g);
        if (!wanted && g->keep.wanted && g->last.state != SG_GPU_DRIVER_ABSENT)
                sg_gpus_take_silence(g, SG_GPU_DRIVER_ABSENT, "");
        sg_gpu_keep_want(&g->keep, wanted);
        sg_gpus_attend(g);
}

void sg_gpus_wake(struct sg_manager *m)
{
        struct sg_gpus *g = m->gpus;

        if (!g->keep.wanted && sg_now_monotonic_usec() - g->found_usec > FIND_USEC)
                sg_gpus_find_driver(g);
}
