/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `schedctl adopt`: one group by its path, or the one of a unit, which systemd is asked for. */
#include "adopt/internal.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int adopt_group(struct sg_adopter *a, const struct sg_adopt_asker *asker, const char *path,
                       const struct sg_class *class, struct sg_answer *refusal)
{
        struct sg_adoptee as = {.policy = class, .how = SG_ADOPTED_OBSERVED};
        struct sg_watched *g;
        int r;

        strcpy(as.class, class->name);
        r = sg_watch_add(a->watch, path, &g);
        if (r < 0)
                return sg_refuse(refusal, SG_ANSWER_INVALID, path, "%s: %s", path,
                                 r == -ENOENT ? "there is no such group" : strerror(-r));
        if (!sg_adopt_unit_of(path, as.unit))
                as.unit[0] = 0;
        else if (class->adopt_limits && a->slice)
                as.how = SG_ADOPTED_LIMITED;
        if (g->owner)
                return sg_refuse(refusal, SG_ANSWER_WRONG_STATE, path, "%s is job %" PRIu64, path,
                                 ((struct sg_live *)g->owner)->job.key.n);
        r = sg_adopter_welcome(a, g, &as, asker);
        return r >= 0 ? 0
                      : sg_refuse(refusal, SG_ANSWER_INVALID, path, "%s: %s", path,
                                  r == -ESRCH    ? "there is no process in it"
                                  : r == -ENOSPC ? "too many jobs are adopted already"
                                                 : strerror(-r));
}

struct search {
        struct sg_list link;
        struct sg_adopter *adopter;
        struct sg_adopt_asker asker;
        struct sg_unit_question *question;
        char unit[SG_UNIT_NAME_MAX];
        char class[SG_CLASS_NAME_MAX];
};

static void search_free(struct search *s)
{
        sg_list_remove(&s->link);
        sg_adopt_tell(&s->asker, NULL, 0);
        sg_unit_question_free(s->question);
        free(s);
}

void sg_adopter_forget_searches(struct sg_adopter *a)
{
        struct search *s, *next;

        sg_list_foreach_safe (s, next, &a->searches, link)
                search_free(s);
}

/* 0: the asker isn't ours to tell any more. */
static int adopt_found(struct search *s, const struct sg_unit_facts *f, const char *why,
                       struct sg_answer *refusal)
{
        const struct sg_class *class = sg_settings_class(s->adopter->manager->settings, s->class);

        if (!f || !class)
                return sg_refuse(refusal, SG_ANSWER_INVALID, s->unit,
                                 "cannot find the unit's group: %s",
                                 why ?: "the answer can't be read");
        if (!f->group)
                return sg_refuse(refusal, SG_ANSWER_INVALID, s->unit, "no such unit is running");
        return adopt_group(s->adopter, &s->asker, f->group, class, refusal);
}

static void on_found(const struct sg_unit_facts *f, const char *why, void *userdata)
{
        _cleanup_(sg_answer_deinit) struct sg_answer refusal = {.kind = SG_ANSWER_NONE};
        struct search *s = userdata;

        if (adopt_found(s, f, why, &refusal) < 0)
                sg_adopt_tell(&s->asker, &refusal, 0);
        else
                s->asker = (struct sg_adopt_asker){.told = NULL};
        search_free(s);
}

static int adopt_unit(struct sg_adopter *a, const struct sg_adopt_asker *asker, const char *unit,
                      const struct sg_class *class, struct sg_answer *refusal)
{
        struct search *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        sg_list_append(&a->searches, &s->link);
        s->adopter = a;
        (void)snprintf(s->unit, sizeof(s->unit), "%s", unit);
        strcpy(s->class, class->name);
        r = sg_unit_ask(&s->question, a->manager->backend, unit, on_found, s);
        if (r >= 0) {
                s->asker = *asker;
                return 0;
        }
        search_free(s);
        return sg_refuse(refusal, r == -EOPNOTSUPP ? SG_ANSWER_INVALID : SG_ANSWER_BUSY, unit,
                         "cannot ask for %s: %s", unit,
                         r == -EOPNOTSUPP ? "there is no systemd here; give the group's path"
                         : r == -ENOTCONN ? "systemd can't be reached at the moment"
                                          : strerror(-r));
}

int sg_adopter_adopt(struct sg_adopter *a, const struct sg_adopt_asker *asker, const char *what,
                     const struct sg_class *class, struct sg_answer *refusal)
{
        if (!a)
                return sg_refuse(refusal, SG_ANSWER_INVALID, NULL, "no control groups are visible");
        if (sg_adopt_unit_valid(what))
                return adopt_unit(a, asker, what, class, refusal);
        if (sg_adopt_pattern_valid(what))
                return adopt_group(a, asker, what, class, refusal);
        return sg_refuse(refusal, SG_ANSWER_INVALID, what,
                         "'%s' is neither a scope or service nor a group's absolute path", what);
}
