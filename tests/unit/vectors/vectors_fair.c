/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cases of the fair node: when jobs would end on it, also those that really have. */
#include "base/cleanup.h"
#include "core/share/fair-node.h"
#include "core/share/promise.h"
#include "tests/unit/vectors/vectors.h"

#include <math.h>
#include <string.h>

static double one_of(const json_t *c, const char *key, size_t i, double otherwise)
{
        const json_t *v = json_array_get(json_object_get(c, key), i);

        return json_is_number(v) ? json_number_value(v) : otherwise;
}

json_t *vector_na_finish(const json_t *c)
{
        size_t n = json_array_size(vector_array(c, "rem"));
        _cleanup_free_ double *remaining = vector_numbers(c, "rem", n);
        _cleanup_free_ double *widths = vector_numbers(c, "p", n);
        _cleanup_free_ struct sg_fair_job *jobs = calloc(n + 1, sizeof(*jobs));
        _cleanup_(sg_fair_node_freep) struct sg_fair_node *node = NULL;

        if (!jobs || sg_fair_node_new(&node, n) < 0)
                abort();
        if (vector_is_wrong())
                return NULL;
        for (size_t i = 0; i < n; i++)
                jobs[i] = (struct sg_fair_job){
                        .class = (uint32_t)one_of(c, "class", i, 0),
                        .uid = (uint32_t)one_of(c, "uid", i, 0),
                        .class_weight = one_of(c, "class_weight", i, 100),
                        .weight = one_of(c, "weight", i, 100),
                        .width = widths[i],
                        .exponent = one_of(c, "q", i, 1),
                        .remaining = remaining[i],
                };
        sg_fair_node_run(node, jobs, n, 0, INFINITY);
        for (size_t i = 0; i < n; i++)
                remaining[i] = jobs[i].finish;
        return json_pack("{s:o}", "expect_finish", vector_reals(remaining, n));
}

/* --- the virtual node beside the real one --- */

struct beside {
        struct sg_promise *promise;
        const char **names; /* of all jobs; a key is the place of its name, and 1 */
        size_t n_names, room;
        struct sg_share_settings settings;
        struct sg_share_class class;
};

static uint64_t key_of(struct beside *b, const char *name)
{
        for (size_t i = 0; i < b->n_names; i++)
                if (strcmp(b->names[i], name) == 0)
                        return i + 1;
        if (b->n_names == b->room) {
                vector_wrong(name, "comes after a later one");
                return 0;
        }
        b->names[b->n_names++] = name;
        return b->n_names;
}

static struct sg_share_job job_of(struct beside *b, const json_t *o)
{
        double remaining = vector_number(o, "rem"), used = vector_number_or(o, "used", 0);

        return (struct sg_share_job){
                .key = key_of(b, vector_text(o, "id")),
                .uid = (uint32_t)vector_number_or(o, "uid", 0),
                .used = used,
                .weight = 100,
                .width = vector_number_or(o, "p", 1),
                .deadline = INFINITY,
                .held = json_is_true(json_object_get(o, "held")),
                .cpu_bound = true,
                .estimate = {.remaining = remaining, .total = used + remaining, .exponent = 1},
        };
}

static int compare_keys(const void *left, const void *right)
{
        const struct sg_share_job *a = left, *b = right;

        return a->key < b->key ? -1 : a->key > b->key;
}

static void take_ends(struct beside *b, const json_t *ended)
{
        const char *name;
        json_t *used;

        json_object_foreach ((json_t *)ended, name, used)
                sg_promise_finished(b->promise, key_of(b, name), json_number_value(used));
}

/* Of one moment: who is there, and who has ended since the last one. */
static json_t *moment(struct beside *b, const json_t *o)
{
        const json_t *in = vector_array(o, "jobs");
        size_t n = json_array_size(in);
        _cleanup_free_ struct sg_share_job *jobs = calloc(n + 1, sizeof(*jobs));
        _cleanup_free_ double *finish = calloc(n + 1, sizeof(*finish));
        struct sg_share_snapshot s = {
                .now = vector_number(o, "now"),
                .classes = &b->class,
                .n_classes = 1,
                .jobs = jobs,
                .n_jobs = n,
        };
        json_t *out = json_object();

        if (!jobs || !finish)
                abort();
        take_ends(b, json_object_get(o, "ended"));
        for (size_t i = 0; i < n; i++)
                jobs[i] = job_of(b, json_array_get(in, i));
        qsort(jobs, n, sizeof(*jobs), compare_keys);
        if (vector_is_wrong())
                return out;
        if (sg_promise_step(b->promise, &s, finish) < 0)
                abort();
        for (size_t i = 0; i < n; i++)
                json_object_set_new(out, b->names[jobs[i].key - 1], vector_real(finish[i]));
        return json_pack("{s:o}", "vf", out);
}

json_t *vector_virtual_finish(const json_t *c)
{
        const json_t *in = vector_array(c, "moments");
        struct beside b = {.room = 64};
        json_t *out = json_array(), *m;
        size_t i;

        b.names = calloc(b.room, sizeof(const char *));
        if (!b.names || sg_promise_new(&b.promise) < 0)
                abort();
        sg_share_settings_init(&b.settings);
        b.class = (struct sg_share_class){.name = "", .weight = 100, .settings = &b.settings};
        json_array_foreach (in, i, m) {
                json_array_append_new(out, moment(&b, m));
        }
        sg_promise_free(b.promise);
        free(b.names);
        return json_pack("{s:o}", "moments", out);
}
