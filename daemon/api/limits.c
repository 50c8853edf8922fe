/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* DescribeLimits: what applies to who asks: how much they have waiting and stored, which classes
 * are theirs, and what their jobs get there and may ask for. */
#include "api/internal.h"
#include "base/utf8.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct asker {
        struct sg_manager *manager;
        const struct sg_caller *caller;
        const char *name;
        char **groups;
};

/* Jobs of a class that have their place among those that run. */
struct running {
        uint64_t all, own;
};

static int count_running(const struct asker *a, struct running **ret)
{
        const struct sg_settings *s = a->manager->settings;
        struct running *v = calloc(s->n_classes, sizeof(*v));
        const struct sg_live *l;

        if (!v)
                return -ENOMEM;
        sg_list_foreach (l, &a->manager->jobs->all, link) {
                size_t i = (size_t)(l->class - s->classes);

                if (l->job.state == SG_JOB_QUEUED || l->job.adopted ||
                    sg_job_state_is_final(l->job.state))
                        continue;
                v[i].all++;
                v[i].own += l->job.uid == a->caller->uid;
        }
        *ret = v;
        return 0;
}

/* What others run is theirs to know. */
static json_t *running_json(const struct asker *a, const struct sg_class *c, struct running n)
{
        bool sees = sg_caller_sees_all(a->manager, a->caller);

        return json_pack("{s:o,s:o,s:o,s:o}", "own", sg_json_number(n.own), "max_own",
                         sg_json_number(c->max_jobs_per_user), "all",
                         sees ? sg_json_number(n.all) : json_null(), "max_all",
                         sg_json_number(c->max_jobs));
}

static void put_option(json_t *a, const char *option, const char *given, const char *max)
{
        if (given || max)
                (void)json_array_append_new(a, json_pack("{s:s,s:s?,s:s?}", "option", option,
                                                         "default", given, "max", max));
}

/* Where GPUs are given out at all. */
static void put_gpus(json_t *a, const struct sg_class *c)
{
        char gpus[SG_FORMAT_MAX], memory[SG_FORMAT_MAX], max[SG_FORMAT_MAX];
        bool gives = sg_class_gives_gpus(c, gpus), bounded = c->gpus.max != SG_UNLIMITED;

        (void)snprintf(max, sizeof(max), "%" PRIu64, c->gpus.max);
        put_option(a, "gpus", gives ? gpus : NULL, bounded ? max : NULL);
        put_option(a, "gpu-mem", sg_class_gives_gpu_memory(c, memory) ? memory : NULL, NULL);
}

static json_t *options_json(const struct sg_class *c, bool managed)
{
        char given[SG_FORMAT_MAX], allowed[SG_FORMAT_MAX];
        json_t *a = json_array();

        for (size_t i = 0; i < sg_n_limits; i++) {
                const struct sg_limit *k = &sg_limit_table[i];
                bool has = sg_class_given(c, k, given), bounded = sg_class_allowed(c, k, allowed);

                put_option(a, k->option, has ? given : NULL, bounded ? allowed : NULL);
        }
        if (managed)
                put_gpus(a, c);
        return a;
}

static bool takes_none(const struct sg_class *c, const struct sg_settings *s)
{
        return c != sg_settings_default(s) && !c->match_user && !c->match_group &&
               !c->match_command && c->gpus.match == SG_GPU_MATCH_ANY;
}

/* Of the asker's jobs that name no class: "all", "commands", those that ask for
 * GPUs ("gpus") or don't ("cpus"), or none. */
static json_t *takes_json(const struct asker *a, const struct sg_class *c, bool shut_out)
{
        if (shut_out || takes_none(c, a->manager->settings))
                return json_null();
        if (c->match_command)
                return json_string("commands");
        return json_string(c->gpus.match == SG_GPU_MATCH_YES  ? "gpus"
                           : c->gpus.match == SG_GPU_MATCH_NO ? "cpus"
                                                              : "all");
}

static json_t *class_json(const struct asker *a, const struct sg_class *c, struct running n)
{
        char rule[SG_CLASS_RULE_MAX];
        bool fits = !sg_class_rule(c, a->name, a->groups, rule);
        bool yours = fits || sg_caller_is_admin(a->manager, a->caller);

        return json_pack("{s:s,s:o,s:b,s:o,s:o,s:o,s:o,s:o}", "name", c->name, "file",
                         c->file ? sg_json_text(c->file) : json_null(), "yours", yours, "why_not",
                         yours ? json_null() : json_string(rule), "takes", takes_json(a, c, !fits),
                         "commands", sg_json_class_commands(c), "running", running_json(a, c, n),
                         "options", options_json(c, a->manager->settings->gpu.manage));
}

/* In the order in which they are tried: the default one is last. */
static int classes_json(const struct asker *a, json_t **ret)
{
        const struct sg_settings *s = a->manager->settings;
        _cleanup_free_ struct running *running = NULL;
        json_t *list;
        int r = count_running(a, &running);

        if (r < 0)
                return r;
        list = json_array();
        for (size_t i = 0; i < s->n_classes; i++) {
                size_t k = (i + 1) % s->n_classes;

                (void)json_array_append_new(list, class_json(a, &s->classes[k], running[k]));
        }
        *ret = list;
        return 0;
}

static int document(const struct asker *a, char **ret)
{
        struct sg_manager *m = a->manager;
        const uid_t uid = a->caller->uid;
        json_t *classes;
        int r = classes_json(a, &classes);

        if (r < 0)
                return r;
        return sg_json_dump(
                json_pack("{s:s,s:s,s:I,s:{s:o,s:o},s:o,s:o,s:o}", "schema", "schedgov.limits/1",
                          "user", a->name, "uid", (json_int_t)uid, "queued", "own",
                          sg_json_number(sg_manager_count_waiting(m, uid)), "max_own",
                          sg_json_number(m->settings->max_queued_per_user), "stored",
                          sg_json_stored(m, uid), "max_jobs",
                          sg_json_number(sg_queue_slots(m->jobs->queue, m->node.n_cpus)), "classes",
                          classes),
                ret);
}

int sg_limits_reply(struct sg_call *call, const char *user)
{
        const struct sg_client *c = sg_call_client(call);
        _cleanup_strv_ char **groups = NULL;
        _cleanup_free_ char *doc = NULL;
        int r;

        if (!c)
                return 1;
        r = sg_users_group_names(c->caller.groups, c->caller.n_groups, &groups);
        if (r >= 0)
                r = document(&(struct asker){call->manager, &c->caller, user, groups}, &doc);
        return r < 0 ? r : sg_call_send_document(call, doc);
}

int sg_api_describe_limits(struct sg_call *call, struct sg_answer *a)
{
        struct sg_submission *s;
        int r = sg_submission_new(&s, call);

        return r < 0 ? r : sg_submission_go_on(s, a);
}
