/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See complete.h. Here: words that only the governor knows. Where it can't be reached, nothing is
 * offered. */

#include "base/cleanup.h"
#include "core/job/job.h"
#include "ctl/ask/pages.h"
#include "ctl/complete/complete.h"
#include "ctl/show/document.h"
#include "ctl/show/row.h"
#include <stdio.h>
#include <string.h>

#define STATE(name) (1U << SG_JOB_##name)

struct wanted {
        unsigned states; /* of live jobs; 0 = all */
        bool finished;   /* the latest jobs that have ended, too */
};

/* The jobs that a verb makes sense for. */
static struct wanted wanted_by(int verb)
{
        switch (verb) {
        case SG_VERB_HOLD:
        case SG_VERB_RELEASE:
                return (struct wanted){STATE(QUEUED), false};
        case SG_VERB_SUSPEND:
                return (struct wanted){STATE(RUNNING), false};
        case SG_VERB_RESUME:
                return (struct wanted){STATE(SUSPENDED), false};
        case SG_VERB_SIGNAL:
                return (struct wanted){STATE(RUNNING) | STATE(SUSPENDED), false};
        case SG_VERB_REQUEUE:
                return (struct wanted){STATE(STARTING) | STATE(RUNNING) | STATE(SUSPENDED), false};
        case SG_VERB_PLOT:
        case SG_VERB_LOGS:
                return (struct wanted){STATE(RUNNING) | STATE(SUSPENDED), true};
        case SG_VERB_STATUS:
        case SG_VERB_RERUN:
        case SG_VERB_EVENTS:
        case SG_VERB_EXPLAIN:
                return (struct wanted){0, true};
        default:
                return (struct wanted){0, false};
        }
}

static bool is_named(const struct sg_invocation *inv, const char *id)
{
        for (size_t i = 0; i < inv->n_args; i++)
                if (strcmp(inv->args[i], id) == 0)
                        return true;
        return false;
}

static bool is_wanted(const struct sg_place *p, const struct sg_row *row)
{
        unsigned states = wanted_by(p->verb).states;
        int state = sg_job_state_from_string(row->state);
        bool held = strncmp(row->reason, "held", 4) == 0;

        if (state < 0 || is_named(p->inv, row->id))
                return false;
        if (sg_job_state_is_final((uint64_t)state))
                return true;
        if ((p->verb == SG_VERB_HOLD && held) || (p->verb == SG_VERB_RELEASE && !held))
                return false;
        return states == 0 || (states >> state & 1) != 0;
}

static int offer(const struct sg_row *row, void *userdata)
{
        const struct sg_place *p = userdata;
        char meaning[128];

        (void)snprintf(meaning, sizeof(meaning), "%s, %s", row->name, row->state);
        if (is_wanted(p, row))
                sg_candidate(p, row->id, "", meaning);
        return 0;
}

void sg_candidates_jobs(const struct sg_place *p)
{
        bool finished = wanted_by(p->verb).finished;
        _cleanup_client_ struct sg_client c = {0};
        struct sg_pages pages = {.client = &c,
                                 .flag = finished ? "finished" : NULL,
                                 .left = finished ? SG_PAGE_MAX : SG_UNLIMITED};
        struct sg_place place = *p;
        struct sg_error e = {0};

        if (sg_client_open(&c, p->inv->socket, &e) >= 0)
                (void)sg_pages_each_row(&pages, offer, &place, &e);
}

void sg_candidates_classes(const struct sg_place *p)
{
        _cleanup_client_ struct sg_client c = {0};
        _cleanup_json_ json_t *doc = NULL;
        _cleanup_free_ char *text = NULL;
        struct sg_error e = {0};
        int r = sg_client_open(&c, p->inv->socket, &e);
        json_t *class;
        size_t i;

        if (r >= 0)
                r = sg_client_get_string(&c, "ListPolicies", NULL, &text, &e);
        if (r >= 0)
                r = sg_document_parse(text, &doc, &e);
        if (r < 0)
                return;
        json_array_foreach (json_object_get(doc, "classes"), i, class) {
                const json_t *policy =
                        json_object_get(json_object_get(class, "settings"), "Policy");
                char meaning[64];

                (void)snprintf(meaning, sizeof(meaning), "Share=%s",
                               sg_document_word(policy, "Share"));
                sg_candidate(p, sg_document_word(class, "name"), "", meaning);
        }
}
