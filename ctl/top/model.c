/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See model.h. */

#include "ctl/top/model.h"
#include "base/cleanup.h"
#include "ctl/show/curves.h"
#include "ctl/show/fields.h"
#include <errno.h>
#include <math.h>
#include <string.h>

const char *const sg_top_keys[_SG_TOP_KEY_MAX] = {
        [SG_TOP_ID] = "id",       [SG_TOP_TIME] = "time",  [SG_TOP_CPU] = "cpu",
        [SG_TOP_SHARE] = "share", [SG_TOP_MEMORY] = "mem", [SG_TOP_PROGRESS] = "progress",
        [SG_TOP_ETA] = "eta",
};

/* A counter that went back is another one. */
static double rate(double now, double before, double usec)
{
        return now >= before && usec > 0 ? (now - before) / usec : NAN;
}

/* of: with "cpu_usec" (a job) and "psi". */
static void read_rates(struct sg_top_rates *r, const json_t *of, const struct sg_top_rates *before,
                       double usec)
{
        static const char *const keys[_SG_PRESSURE_MAX] = {"cpu_some_usec", "memory_some_usec",
                                                           "io_some_usec"};
        const json_t *psi = json_object_get(of, "psi");

        r->cpu_usec = sg_document_number(of, "cpu_usec");
        r->cpu = sg_document_number(of, "cpu_rate");
        if (isnan(r->cpu) && before)
                r->cpu = rate(r->cpu_usec, before->cpu_usec, usec);
        for (unsigned i = 0; i < _SG_PRESSURE_MAX; i++) {
                double v;

                r->psi_usec[i] = sg_document_number(psi, keys[i]);
                v = before ? rate(r->psi_usec[i], before->psi_usec[i], usec) : NAN;
                r->psi[i] = v > 1 ? 1 : v;
        }
}

static double running_sec(const json_t *job, uint64_t now_usec)
{
        uint64_t started = sg_document_time(job, "started");

        if (started == 0)
                return NAN;
        return now_usec > started ? (double)(now_usec - started) / 1e6 : 0;
}

/* A loss that was reported anew; one in the place of the oldest. */
static void add_loss(struct sg_top_job *j, double loss)
{
        if (!isfinite(loss))
                return;
        if (j->n_trend == SG_TOP_TREND)
                memmove(j->trend, j->trend + 1, --j->n_trend * sizeof(j->trend[0]));
        j->trend[j->n_trend++] = loss;
}

static void read_job(struct sg_top_job *j, json_t *document, const struct sg_top_job *before,
                     uint64_t now_usec, double usec)
{
        const json_t *share = json_object_get(document, "share");
        const json_t *usage = json_object_get(document, "usage"),
                     *gpu = json_object_get(document, "gpu");

        *j = (struct sg_top_job){
                .document = json_incref(document),
                .id = sg_document_word(document, "id"),
                .name = sg_document_word(document, "name"),
                .user = sg_document_word(document, "user"),
                .state = sg_document_word(document, "state"),
                .why = sg_document_word(document, "reason"),
                .running_sec = running_sec(document, now_usec),
                .share = sg_document_number(share, "share"),
                .list = sg_document_word(share, "list"),
                .memory_bytes = sg_document_number(usage, "memory_bytes"),
                .gpu_memory_bytes = sg_document_number(gpu, "memory_used_bytes"),
                .gpu_utilization = sg_document_number(gpu, "utilization"),
        };
        (void)sg_gpu_count_text(document, j->gpu);
        if (!*j->why)
                j->why = sg_document_word(share, "why");
        read_rates(&j->rates, usage, before ? &before->rates : NULL, usec);
        sg_job_progress_read(document, &j->progress);
        if (before) {
                memcpy(j->trend, before->trend, sizeof(j->trend));
                j->n_trend = before->n_trend;
                j->asked = before->asked;
        }
        if (!before || j->progress.eval != before->progress.eval ||
            j->progress.step != before->progress.step)
                add_loss(j, j->progress.eval);
}

/* Both lists are in the governor's order, so that who is looked for is mostly the next one. */
static const struct sg_top_job *find_from(const struct sg_top *t, const char *id, size_t *at)
{
        for (size_t k = 0; id && k < t->n; k++) {
                size_t i = (*at + k) % t->n;

                if (strcmp(t->jobs[i].id, id) == 0) {
                        *at = i + 1;
                        return &t->jobs[i];
                }
        }
        return NULL;
}

static struct sg_top_job *find_job(struct sg_top *t, const char *id)
{
        size_t at = 0;

        return (struct sg_top_job *)find_from(t, id, &at);
}

static void drop_jobs(struct sg_top_job *jobs, size_t n)
{
        for (size_t i = 0; i < n; i++)
                json_decref(jobs[i].document);
        free(jobs);
}

static int update_jobs(struct sg_top *t, const json_t *documents, uint64_t now_usec, double usec)
{
        size_t n = json_array_size(documents), at = 0, i;
        struct sg_top_job *jobs = calloc(n + 1, sizeof(*jobs));
        size_t *order = calloc(n + 1, sizeof(*order));
        json_t *d;

        if (!jobs || !order) {
                free(jobs);
                free(order);
                return -ENOMEM;
        }
        json_array_foreach (documents, i, d) {
                read_job(&jobs[i], d, find_from(t, sg_document_string(d, "id"), &at), now_usec,
                         usec);
                order[i] = i;
        }
        drop_jobs(t->jobs, t->n);
        free(t->order);
        t->jobs = jobs;
        t->order = order;
        t->n = n;
        return 0;
}

static double sum(const json_t *o, const char *const *keys, size_t n)
{
        double total = 0;

        for (size_t i = 0; i < n; i++) {
                double v = sg_document_number(o, keys[i]);

                total += isnan(v) ? 0 : v;
        }
        return total;
}

static void read_link(struct sg_top_link *l, const json_t *o, const struct sg_top *t, double usec)
{
        static const char *const bad[] = {"rx_errors", "tx_errors", "rx_dropped", "tx_dropped"};
        const struct sg_top_link *before = NULL;

        (void)snprintf(l->name, sizeof(l->name), "%s", sg_document_word(o, "name"));
        for (size_t i = 0; i < t->n_links && !before; i++)
                if (strcmp(t->links[i].name, l->name) == 0)
                        before = &t->links[i];
        l->up = json_is_true(json_object_get(o, "up")) &&
                !json_is_false(json_object_get(o, "carrier"));
        l->rx_bytes = sg_document_number(o, "rx_bytes");
        l->tx_bytes = sg_document_number(o, "tx_bytes");
        l->errors = sum(o, bad, SG_ELEMENTSOF(bad));
        l->rx = before ? rate(l->rx_bytes, before->rx_bytes, usec) * 1e6 : NAN;
        l->tx = before ? rate(l->tx_bytes, before->tx_bytes, usec) * 1e6 : NAN;
        l->new_errors = before ? l->errors - before->errors : 0;
}

static int update_links(struct sg_top *t, const json_t *list, double usec)
{
        size_t n = json_array_size(list), i;
        struct sg_top_link *links = calloc(n + 1, sizeof(*links));
        json_t *o;

        if (!links)
                return -ENOMEM;
        json_array_foreach (list, i, o) {
                read_link(&links[i], o, t, usec);
        }
        free(t->links);
        t->links = links;
        t->n_links = n;
        return 0;
}

int sg_top_update(struct sg_top *t, json_t *status, json_t *jobs, uint64_t now_usec)
{
        _cleanup_json_ json_t *new_status = status, *new_jobs = jobs;
        double usec = t->status && now_usec > t->at_usec ? (double)(now_usec - t->at_usec) : 0;
        struct sg_top_rates before = t->node;
        int r;

        if (!json_is_object(status) || !json_is_array(jobs))
                return -EBADMSG;
        r = update_jobs(t, jobs, now_usec, usec);
        if (r >= 0)
                r = update_links(t, json_object_get(status, "links"), usec);
        if (r < 0)
                return r;
        read_rates(&t->node, json_object_get(status, "load"), t->status ? &before : NULL, usec);
        json_decref(t->status);
        t->status = TAKE_PTR(new_status);
        t->at_usec = now_usec;
        *t->trouble = '\0';
        sg_top_sort(t);
        return 0;
}

static double key_of(const struct sg_top_job *j, enum sg_top_key key)
{
        switch (key) {
        case SG_TOP_TIME:
                return j->running_sec;
        case SG_TOP_CPU:
                return j->rates.cpu;
        case SG_TOP_SHARE:
                return j->share;
        case SG_TOP_MEMORY:
                return j->memory_bytes;
        case SG_TOP_PROGRESS:
                return j->progress.fraction;
        case SG_TOP_ETA: /* who is ready first */
                return -j->progress.eta_sec;
        default:
                return NAN; /* as listed */
        }
}

/* The most first, what isn't known last, else as the governor lists them. */
static int compare(const void *pa, const void *pb, void *userdata)
{
        const struct sg_top *t = userdata;
        size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
        double ka = key_of(&t->jobs[a], t->key), kb = key_of(&t->jobs[b], t->key);
        int r;

        if (isnan(ka) != isnan(kb))
                return isnan(ka) ? 1 : -1;
        r = ka > kb ? -1 : ka < kb ? 1 : a < b ? -1 : 1;
        return t->reverse ? -r : r;
}

void sg_top_sort(struct sg_top *t)
{
        if (t->n > 0)
                qsort_r(t->order, t->n, sizeof(t->order[0]), compare, t);
}

/* Evenly, half of what there is room for: the rest is for what comes. */
void sg_top_add_series(struct sg_top *t, const char *id, const json_t *series)
{
        _cleanup_(sg_curves_deinit) struct sg_curves c = {0};
        struct sg_top_job *j = find_job(t, id);
        const size_t want = SG_TOP_TREND / 2;
        double now[SG_TOP_TREND];
        size_t known = 0, n_now;

        if (!j || sg_curves_init(&c, series) < 0)
                return;
        for (size_t i = 0; i < c.n; i++) /* known ones to the front */
                if (isfinite(c.v[SG_CURVE_EVAL][i]))
                        c.v[SG_CURVE_EVAL][known++] = c.v[SG_CURVE_EVAL][i];
        n_now = j->n_trend;
        memcpy(now, j->trend, sizeof(now));
        j->n_trend = 0;
        for (size_t i = 0; i < want && i < known; i++)
                add_loss(j, c.v[SG_CURVE_EVAL][known <= want ? i : i * (known - 1) / (want - 1)]);
        for (size_t i = 0; i < n_now; i++)
                add_loss(j, now[i]);
}

void sg_top_deinit(struct sg_top *t)
{
        drop_jobs(t->jobs, t->n);
        free(t->order);
        free(t->links);
        json_decref(t->status);
        *t = (struct sg_top){0};
}
