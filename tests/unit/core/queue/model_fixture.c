/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/core/queue/model_fixture.h"
#include <math.h>

const char *const class_names[CLASSES] = {"default", "train", "batch"};

bool model_waits(const struct job *j)
{
        return j->present && !j->entry.running;
}

bool model_runs(const struct job *j)
{
        return j->present && j->entry.running;
}

uint64_t model_count(const struct world *w, bool (*which)(const struct job *j))
{
        uint64_t n = 0;

        for (size_t i = 0; i < JOBS; i++)
                n += which(&w->jobs[i]);
        return n;
}

static uint64_t running_of(const struct world *w, const unsigned *class, const uint64_t *uid)
{
        uint64_t n = 0;

        for (size_t i = 0; i < JOBS; i++)
                n += model_runs(&w->jobs[i]) && (!class || w->jobs[i].class == *class) &&
                     (!uid || w->jobs[i].uid == *uid);
        return n;
}

static uint64_t declared(const struct world *w, size_t k)
{
        uint64_t sum = 0;

        for (size_t i = 0; i < JOBS; i++)
                if (model_runs(&w->jobs[i]) && w->jobs[i].entry.need[k] != SG_UNLIMITED)
                        sum += w->jobs[i].entry.need[k];
        return sum;
}

uint64_t model_promisable(const struct world *w, size_t k)
{
        const struct sg_stock *s = &w->node.stocks[k];
        uint64_t reserve_pm = k == SG_STOCK_MEMORY ? w->settings->memory_reserve_pm : 0;
        unsigned __int128 kept = (unsigned __int128)s->total * reserve_pm;
        uint64_t usable = s->total - (uint64_t)((kept + 9999) / 10000);
        uint64_t used = s->total - s->available, taken = declared(w, k);

        if (used > s->declared_used)
                taken += used - s->declared_used;
        return usable > taken ? usable - taken : 0;
}

bool model_lacks(const struct world *w, const struct sg_queue_entry *e, size_t k)
{
        return e->need[k] == SG_UNLIMITED ? model_promisable(w, k) == 0
                                          : e->need[k] > model_promisable(w, k);
}

bool model_fits(const struct world *w, const struct sg_queue_entry *e)
{
        for (size_t k = 0; k < w->n_stocks; k++)
                if (model_lacks(w, e, k))
                        return false;
        return true;
}

/* Whether e wants something that the other, which doesn't fit, waits for. */
static bool competes(const struct world *w, const struct sg_queue_entry *e,
                     const struct sg_queue_entry *other)
{
        for (size_t k = 0; k < w->n_stocks; k++)
                if (e->need[k] > 0 && model_lacks(w, other, k))
                        return true;
        return false;
}

bool model_has_slot_taken(const struct job *j)
{
        return model_runs(j) && !j->idle;
}

bool model_is_quiet(const struct job *j)
{
        return model_has_slot_taken(j) && j->entry.quiet;
}

/* Of a user; at_once: of those that started without one. */
uint64_t model_slots_of(const struct world *w, uint64_t uid, bool at_once)
{
        uint64_t n = 0;

        for (size_t i = 0; i < JOBS; i++)
                n += model_has_slot_taken(&w->jobs[i]) && w->jobs[i].uid == uid &&
                     (!at_once || w->jobs[i].entry.at_once);
        return n;
}

/* What there may be as many of as there are slots before j starts. */
uint64_t model_slots_before(const struct world *w, const struct job *j)
{
        return j->entry.at_once ? model_slots_of(w, j->uid, true)
                                : model_count(w, model_has_slot_taken);
}

bool model_has_slot(const struct world *w, const struct job *j)
{
        return model_slots_before(w, j) < w->settings->max_jobs;
}

bool model_has_room(const struct world *w, const struct job *j)
{
        const struct sg_class *c = sg_settings_class(w->settings, class_names[j->class]);
        const uint64_t *uid = &j->uid;

        return model_has_slot(w, j) && running_of(w, &j->class, NULL) < c->max_jobs &&
               running_of(w, &j->class, uid) < c->max_jobs_per_user;
}

static double compare_known(double a, double b)
{
        return a <= 0 || b <= 0 ? (a <= 0) - (b <= 0) : a - b;
}

static bool before_in_lane(const struct world *w, const struct job *a, const struct job *b)
{
        const struct sg_class *c = sg_settings_class(w->settings, class_names[a->class]);
        const struct sg_queue_entry *x = &a->entry, *y = &b->entry;
        double d = 0;

        if (x->at_once != y->at_once)
                return x->at_once;
        if (c->order == SG_ORDER_PRIORITY)
                d = (double)(y->priority - x->priority);
        else if (c->order == SG_ORDER_SJF)
                d = compare_known(x->size, y->size);
        else if (c->order == SG_ORDER_SRTF)
                d = compare_known(x->size - fmin(x->used, .99 * x->size),
                                  y->size - fmin(y->used, .99 * y->size));
        else if (c->order == SG_ORDER_EDF)
                d = compare_known((double)x->deadline_usec, (double)y->deadline_usec);
        else if (c->order == SG_ORDER_LAS)
                d = (x->used >= 60) - (y->used >= 60);
        else if (c->order != SG_ORDER_FIFO) /* one that the model doesn't know */
                return sg_order_before(c->order, x, y);
        return d < 0 || (d <= 0 && x->n < y->n);
}

uint64_t model_ahead_of(const struct world *w, const struct job *j)
{
        uint64_t n = 0;

        for (size_t i = 0; i < JOBS; i++) {
                const struct job *o = &w->jobs[i];

                n += o != j && model_waits(o) && o->class == j->class && o->uid == j->uid &&
                     before_in_lane(w, o, j);
        }
        return n;
}

/* A head that has room and doesn't fit: the node may be kept for it. */
bool model_is_short(const struct world *w, const struct job *j)
{
        return model_waits(j) && model_has_room(w, j) && !model_fits(w, &j->entry) &&
               model_ahead_of(w, j) == 0;
}

bool model_any_short(const struct world *w)
{
        for (size_t i = 0; i < JOBS; i++)
                if (model_is_short(w, &w->jobs[i]))
                        return true;
        return false;
}

/* Whether any of them waits for what e takes of. */
bool model_any_short_competes(const struct world *w, const struct sg_queue_entry *e)
{
        for (size_t i = 0; i < JOBS; i++)
                if (model_is_short(w, &w->jobs[i]) && competes(w, e, &w->jobs[i].entry))
                        return true;
        return false;
}

const struct job *model_head_of(const struct world *w, const struct job *j)
{
        for (size_t i = 0; i < JOBS; i++) {
                const struct job *o = &w->jobs[i];

                if (model_waits(o) && o->class == j->class && o->uid == j->uid &&
                    model_ahead_of(w, o) == 0)
                        return o;
        }
        return NULL;
}

/* Whether the head of its lane doesn't fit and lets others go before. */
bool model_passes_its_head(const struct world *w, const struct job *j)
{
        const struct job *head = model_head_of(w, j);

        return head && !model_fits(w, &head->entry) &&
               (j->entry.at_once ||
                sg_settings_class(w->settings, class_names[j->class])->backfill ||
                !competes(w, &j->entry, &head->entry));
}
