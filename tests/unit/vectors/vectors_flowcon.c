/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Cases of FlowCon: its two algorithms, growth efficiency, and what limits make of a node. */
#include "base/cleanup.h"
#include "core/learn/efficiency.h"
#include "core/share/flowcon.h"
#include "core/share/max-min.h"
#include "tests/unit/vectors/vectors.h"

#include <math.h>
#include <string.h>

#define INTERVAL 20.0 /* unless a case says otherwise */

static const char *const lists[] = {"NEW", "WATCH", "COMPLETE"};

static enum sg_share_list list_of(const char *name)
{
        return (enum sg_share_list)(SG_LIST_NEW + vector_index(lists, SG_ELEMENTSOF(lists), name));
}

static const char *name_of(enum sg_share_list list)
{
        return lists[list - SG_LIST_NEW];
}

static struct sg_flowcon_job *make_jobs(size_t n)
{
        struct sg_flowcon_job *jobs = calloc(n + 1, sizeof(*jobs));

        if (!jobs)
                abort();
        return jobs;
}

static json_t *containers_of(const json_t *in, const struct sg_flowcon *f)
{
        json_t *out = json_array();

        for (size_t i = 0; i < f->n; i++)
                json_array_append_new(out, json_pack("{s:s, s:s, s:o}", "id",
                                                     vector_text(json_array_get(in, i), "id"),
                                                     "list", name_of(f->jobs[i].list), "L",
                                                     vector_real(f->jobs[i].limit)));
        return out;
}

json_t *vector_alg1(const json_t *c)
{
        const json_t *in = vector_array(c, "containers");
        struct sg_flowcon f = {.interval = vector_number(c, "itval"), .n = json_array_size(in)};
        double alpha = vector_number(c, "alpha"), beta = vector_number(c, "beta");
        json_t *out = NULL;
        bool complete;

        f.jobs = make_jobs(f.n);
        for (size_t i = 0; i < f.n; i++) {
                const json_t *job = json_array_get(in, i);
                double growth = vector_number_or(job, "G", NAN);

                f.jobs[i] = (struct sg_flowcon_job){
                        .key = i + 1,
                        .list = list_of(vector_text(job, "list")),
                        .limit = vector_number(job, "L"),
                        .growth = growth,
                        .measured = !isnan(growth),
                };
        }
        if (!vector_is_wrong()) {
                complete = sg_flowcon_run(&f, alpha, beta, 0);
                out = json_pack("{s:{s:o, s:f, s:b}}", "expect", "containers",
                                containers_of(in, &f), "itval", f.interval, "backoff", complete);
        }
        free(f.jobs);
        return out;
}

/* --- Algorithm 2 --- */

struct names { /* of jobs; a key is the place of its name, and 1 */
        const char **names;
        size_t n;
};

static uint64_t key_of(struct names *all, const char *name)
{
        for (size_t i = 0; i < all->n; i++)
                if (strcmp(all->names[i], name) == 0)
                        return i + 1;
        all->names[all->n++] = name;
        return all->n;
}

static int compare_keys(const void *left, const void *right)
{
        uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

        return a < b ? -1 : a > b;
}

static void take_known(struct sg_flowcon *f, struct names *all, const json_t *known)
{
        const char *name;
        json_t *list;

        f->jobs = make_jobs(json_object_size(known));
        json_object_foreach ((json_t *)known, name, list) {
                f->jobs[f->n++] = (struct sg_flowcon_job){
                        .key = key_of(all, name),
                        .list = list_of(json_string_value(list) ? json_string_value(list) : ""),
                        .limit = 1,
                        .growth = NAN,
                };
        }
}

static json_t *known_of(const struct sg_flowcon *f, const struct names *all)
{
        json_t *known = json_object();

        for (size_t i = 0; i < f->n; i++)
                json_object_set_new(known, all->names[f->jobs[i].key - 1],
                                    json_string(name_of(f->jobs[i].list)));
        return known;
}

static json_t *listen(const json_t *c)
{
        const json_t *before = json_object_get(c, "before"), *active = vector_array(c, "active");
        const json_t *known = json_object_get(before, "known");
        size_t n = json_array_size(active);
        struct sg_flowcon f = {
                .initial = vector_number_or(c, "initial_itval", INTERVAL),
                .interval = vector_number(before, "itval"),
        };
        _cleanup_free_ const char **room =
                calloc(n + json_object_size(known) + 1, sizeof(const char *));
        _cleanup_free_ uint64_t *keys = calloc(n + 1, sizeof(*keys));
        struct names all = {.names = room};
        json_t *out = NULL;
        int changed;

        if (!keys || !room)
                abort();
        take_known(&f, &all, known);
        for (size_t i = 0; i < n; i++) {
                const char *name = json_string_value(json_array_get(active, i));

                keys[i] = key_of(&all, name ? name : "");
        }
        qsort(keys, n, sizeof(*keys), compare_keys);
        if (!vector_is_wrong()) {
                changed = sg_flowcon_listen(&f, keys, n);
                out = json_pack("{s:{s:f, s:o, s:b}}", "expect", "itval", f.interval, "known",
                                known_of(&f, &all), "run_alg1", changed != 0);
        }
        free(f.jobs);
        return out;
}

static json_t *back_off(const json_t *c)
{
        double initial = vector_number_or(c, "initial_itval", INTERVAL);
        double n = vector_number(c, "runs_all_complete");
        struct sg_flowcon_job job = {.key = 1, .list = SG_LIST_COMPLETE, .measured = true};
        struct sg_flowcon f = {.initial = initial, .interval = initial, .jobs = &job, .n = 1};
        json_t *times = json_array();

        for (double i = 0; i < n; i++) {
                json_array_append_new(times, vector_real(f.next));
                sg_flowcon_run(&f, 1, 1, f.next);
        }
        return json_pack("{s:o}", "expect_run_times_after_first", times);
}

json_t *vector_alg2(const json_t *c)
{
        return json_object_get(c, "runs_all_complete") ? back_off(c) : listen(c);
}

/* --- numbers --- */

json_t *vector_eq41_42(const json_t *c)
{
        double progress = NAN, growth;

        growth = sg_efficiency(vector_number(c, "E_prev"), vector_number(c, "E_now"),
                               vector_number(c, "E_ref"), vector_number(c, "dt"),
                               vector_number(c, "R"), &progress);
        return json_pack("{s:{s:o, s:o}}", "expect", "P", vector_real(progress), "G",
                         vector_real(growth));
}

json_t *vector_shares(const json_t *c)
{
        static const char *const modes[] = {"soft", "hard", "weight"};
        size_t n = json_array_size(vector_array(c, "L"));
        _cleanup_free_ double *limits = vector_numbers(c, "L", n);
        _cleanup_free_ double *widths = vector_numbers(c, "p", n);
        _cleanup_free_ double *shares = calloc(n + 1, sizeof(*shares));
        size_t mode = vector_index(modes, SG_ELEMENTSOF(modes), vector_text(c, "mode"));

        if (!shares)
                abort();
        if (vector_is_wrong())
                return NULL;
        sg_max_min_shares(limits, widths, n, (enum sg_flowcon_mode)mode, shares);
        return json_pack("{s:o}", "expect", vector_reals(shares, n));
}
