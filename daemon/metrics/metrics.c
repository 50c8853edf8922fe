/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two ways out, as the settings say, and the counts. */
#include "metrics/metrics.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "metrics/internal.h"
#include <errno.h>
#include <string.h>

/* The textfile */

static void write_textfile(struct sg_metrics *x)
{
        int r = sg_metrics_expose(&x->text, SG_METRICS_TEXT, x);

        if (r >= 0)
                r = sg_textfile_put(x->textfile, x->text.data, x->text.size);
        if (r < 0 && !x->hanging)
                sg_log(LOG_WARNING, "cannot write metrics to %s: %s", x->dir,
                       r == -EBUSY ? "its disk hangs" : strerror(-r));
        x->hanging = r < 0;
}

static int arm(struct sg_metrics *x)
{
        int r;

        x->due_usec = sg_now_monotonic_usec() + x->manager->settings->metrics_usec;
        r = sd_event_source_set_time(x->timer, x->due_usec);
        return r < 0 ? r : sd_event_source_set_enabled(x->timer, SD_EVENT_ONESHOT);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_metrics *x = userdata;
        uint64_t now = sg_now_monotonic_usec();

        (void)source;
        (void)usec;
        x->late_usec = now > x->due_usec ? now - x->due_usec : 0;
        write_textfile(x);
        return arm(x);
}

/* Settings */

static void close_textfile(struct sg_metrics *x)
{
        x->textfile = sg_textfile_free(x->textfile);
        x->timer = sd_event_source_disable_unref(x->timer);
        x->late_usec = SG_UNLIMITED;
        sg_openmetrics_deinit(&x->text);
}

static int open_textfile(struct sg_metrics *x)
{
        int r = sg_textfile_new(&x->textfile, x->manager->event, x->dir);

        if (r >= 0)
                r = sd_event_add_time(x->manager->event, &x->timer, CLOCK_MONOTONIC, 0,
                                      SG_USEC_PER_MSEC, on_timer, x);
        if (r < 0)
                close_textfile(x);
        return r;
}

static void apply_textfile(struct sg_metrics *x)
{
        const char *dir = x->manager->settings->metrics_dir;
        int r = 0;

        if (strcmp(dir, x->dir) != 0) {
                close_textfile(x);
                strcpy(x->dir, dir);
        }
        if (!*dir)
                return;
        if (!x->textfile) {
                r = open_textfile(x);
                if (r >= 0)
                        write_textfile(x);
        }
        if (r >= 0)
                r = arm(x);
        if (r < 0)
                sg_log(LOG_ERR, "cannot write metrics to %s: %s", dir, strerror(-r));
}

static void apply_listen(struct sg_metrics *x)
{
        const struct sg_address *where = &x->manager->settings->metrics_listen;
        _cleanup_free_ char *why = NULL;
        char text[SG_ADDRESS_MAX];
        int r;

        if (x->http && memcmp(where, &x->listening, sizeof(*where)) == 0)
                return;
        x->http = sg_http_free(x->http);
        if (where->version == 0)
                return;
        r = sg_http_new(&x->http, x->manager->event, where, sg_metrics_expose, x, &why);
        if (r < 0) {
                sg_log(LOG_ERR, "no metrics by HTTP: %s", why ?: strerror(-r));
                return;
        }
        memcpy(&x->listening, where, sizeof(*where));
        sg_log(LOG_NOTICE, "metrics are at http://%s/metrics%s", sg_format_address(text, where),
               sg_address_is_loopback(where) ? "" : ", for all who get there");
}

/* Makes the list of classes anew, and keeps what was counted for those whose name is still
 * there. */
static int apply_classes(struct sg_metrics *x)
{
        const struct sg_settings *s = x->manager->settings;
        struct sg_metrics_class *fresh = calloc(s->n_classes, sizeof(*fresh));

        if (!fresh)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_classes; i++) {
                strcpy(fresh[i].name, s->classes[i].name);
                for (size_t k = 0; k < x->n_classes; k++)
                        if (strcmp(x->classes[k].name, fresh[i].name) == 0)
                                fresh[i] = x->classes[k];
        }
        free(x->classes);
        x->classes = fresh;
        x->n_classes = s->n_classes;
        return 0;
}

/* The node is sampled only while somebody is to be told about it. */
static void apply_node(struct sg_metrics *x)
{
        const struct sg_settings *s = x->manager->settings;

        if (!*s->metrics_dir && s->metrics_listen.version == 0)
                x->node = sg_node_sampler_free(x->node);
        else if (!x->node && sg_node_sampler_new(&x->node) < 0)
                sg_log(LOG_ERR, "no metrics of the node: out of memory");
}

static void apply_settings(struct sg_metrics *x)
{
        if (apply_classes(x) < 0) {
                sg_log(LOG_ERR, "cannot count jobs for metrics: out of memory");
                x->n_classes = 0;
        }
        apply_node(x);
        apply_textfile(x);
        apply_listen(x);
}

void sg_metrics_reload(struct sg_manager *m)
{
        if (m->metrics)
                apply_settings(m->metrics);
}

/* Counts */

struct sg_metrics_class *sg_metrics_class(struct sg_metrics *x, const struct sg_live *l)
{
        size_t i = (size_t)(l->class - l->manager->settings->classes);

        return x && i < x->n_classes ? &x->classes[i] : NULL;
}

void sg_metrics_started(struct sg_metrics *x, const struct sg_live *l)
{
        struct sg_metrics_class *c = sg_metrics_class(x, l);

        if (c)
                c->started++;
}

void sg_metrics_ended(struct sg_metrics *x, const struct sg_live *l)
{
        struct sg_metrics_class *c = sg_metrics_class(x, l);

        if (c && sg_job_state_is_final(l->job.state))
                c->ended[l->job.state - SG_JOB_FINAL]++;
}

/* The object */

int sg_metrics_new(struct sg_metrics **ret, struct sg_manager *m)
{
        struct sg_metrics *x = calloc(1, sizeof(*x));

        if (!x)
                return -ENOMEM;
        x->manager = m;
        x->started_usec = sg_now_realtime_usec();
        x->late_usec = SG_UNLIMITED;
        apply_settings(x);
        *ret = x;
        return 0;
}

struct sg_metrics *sg_metrics_free(struct sg_metrics *x)
{
        if (!x)
                return NULL;
        close_textfile(x);
        sg_http_free(x->http);
        sg_node_sampler_free(x->node);
        free(x->classes);
        free(x->jobs);
        free(x);
        return NULL;
}
