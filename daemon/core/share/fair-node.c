/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See fair-node.h. Jobs of one class and user make a leaf, whose jobs get their weight times the
 * leaf's level, or their width if that is less. Nobody comes, so that levels only rise: a job that
 * has reached its width keeps it to the end, and is put into a heap by its finish. For all others,
 * what they have done since the beginning is a function of the level alone: jobs of one leaf and
 * one exponent (a lane) end in the order of remaining ÷ their part, which is sorted once, and the
 * lane has a clock that goes at level^exponent. With CPUs a lane is of one weight, too. So an event
 * costs a look at every leaf and lane, not at every job.
 */

#include "core/share/fair-node.h"
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define EXPONENTS 20       /* steps; what is measured spreads more than that */
#define NEARLY (1 + 1e-12) /* sums of many widths don't meet exactly */

struct part { /* of what is shared out: a class of the node, or a leaf of its class */
        double weight;
        double demand; /* all that its jobs can use */
        double share;
        size_t active;     /* jobs that haven't ended */
        size_t begin, end; /* a class's leaves; a leaf's jobs in by_width */
        bool full;
};

struct leaf {
        size_t lanes_begin, lanes_end;
        double weights; /* sum, of the jobs below their width */
        double widths;  /* sum, of the jobs that have reached it */
        double level;
};

struct lane {
        size_t leaf;
        size_t next, end; /* in by_tag */
        double exponent, clock, speed;
        double weight, cpu; /* of its jobs; cpu 0: as by weight */
};

struct item { /* a job in a sorted array */
        uint32_t class, uid;
        int exponent;
        double weight; /* 0: its lane makes no difference */
        double by;
        size_t job;
};

struct run { /* one job's */
        size_t leaf, lane;
        double scale; /* seconds alone for one tick of the lane's clock */
        double tag;   /* what the clock shows when it ends */
        double finish;
        enum { BELOW, AT_WIDTH, ENDED } state;
};

struct sg_fair_node {
        struct sg_fair_job *jobs; /* of this run */
        double now;
        struct item *by_tag, *by_width;
        struct run *runs;
        struct part *classes, *parts; /* parts: of the leaves */
        struct leaf *leaves;
        struct lane *lanes;
        size_t *heap; /* jobs at their width, the next to end first */
        size_t n_heap, n_classes, n_leaves, n_lanes;
};

static int allocate(struct sg_fair_node *f, size_t n)
{
        f->by_tag = calloc(n, sizeof(*f->by_tag));
        f->by_width = calloc(n, sizeof(*f->by_width));
        f->runs = calloc(n, sizeof(*f->runs));
        f->classes = calloc(n, sizeof(*f->classes));
        f->parts = calloc(n, sizeof(*f->parts));
        f->leaves = calloc(n, sizeof(*f->leaves));
        f->lanes = calloc(n, sizeof(*f->lanes));
        f->heap = calloc(n, sizeof(*f->heap));
        return f->by_tag && f->by_width && f->runs && f->classes && f->parts && f->leaves &&
                               f->lanes && f->heap
                       ? 0
                       : -ENOMEM;
}

int sg_fair_node_new(struct sg_fair_node **ret, size_t n)
{
        _cleanup_(sg_fair_node_freep) struct sg_fair_node *f = calloc(1, sizeof(*f));
        int r;

        if (!f)
                return -ENOMEM;
        r = allocate(f, n > 0 ? n : 1);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(f);
        return 0;
}

struct sg_fair_node *sg_fair_node_free(struct sg_fair_node *f)
{
        if (!f)
                return NULL;
        free(f->by_tag);
        free(f->by_width);
        free(f->runs);
        free(f->classes);
        free(f->parts);
        free(f->leaves);
        free(f->lanes);
        free(f->heap);
        free(f);
        return NULL;
}

static int by_leaf(const struct item *a, const struct item *b)
{
        if (a->class != b->class)
                return a->class < b->class ? -1 : 1;
        if (a->uid != b->uid)
                return a->uid < b->uid ? -1 : 1;
        return 0;
}

static int compare(const void *left, const void *right)
{
        const struct item *a = left, *b = right;
        int r = by_leaf(a, b);

        if (r != 0)
                return r;
        if (a->exponent != b->exponent)
                return a->exponent < b->exponent ? -1 : 1;
        if (a->weight < b->weight || a->weight > b->weight)
                return a->weight < b->weight ? -1 : 1;
        if (a->by < b->by || a->by > b->by)
                return a->by < b->by ? -1 : 1;
        return a->job < b->job ? -1 : 1;
}

static int rounded(double exponent)
{
        int e = (int)lround(exponent * EXPONENTS);

        return e < 1 ? 1 : e > EXPONENTS ? EXPONENTS : e;
}

static double scale_of(const struct sg_fair_job *j, int e)
{
        double q = (double)e / EXPONENTS;

        if (e == EXPONENTS)
                return j->weight;
        return j->cpu > 0 ? j->cpu : pow(j->width, 1 - q) * pow(j->weight, q);
}

/* The rate at which a job gets on. */
static double rate_of(const struct sg_fair_job *j, double share)
{
        double q = (double)rounded(j->exponent) / EXPONENTS;

        if (!(j->cpu > 0))
                return share;
        return share <= j->cpu ? share : j->cpu * pow(share / j->cpu, q);
}

/* Both arrays have the leaves in the same order. */
static void sort(struct sg_fair_node *f, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct sg_fair_job *j = &f->jobs[i];
                int e = rounded(j->exponent);
                double scale = scale_of(j, e);

                f->runs[i] = (struct run){.scale = scale,
                                          .tag = j->remaining > 0 ? j->remaining / scale : 0,
                                          .finish = INFINITY};
                f->by_tag[i] = (struct item){
                        .class = j->class,
                        .uid = j->uid,
                        .exponent = e,
                        .weight = j->cpu > 0 && e < EXPONENTS ? j->weight : 0,
                        .by = f->runs[i].tag,
                        .job = i,
                };
                f->by_width[i] = (struct item){
                        .class = j->class, .uid = j->uid, .by = j->width / j->weight, .job = i};
        }
        qsort(f->by_tag, n, sizeof(*f->by_tag), compare);
        qsort(f->by_width, n, sizeof(*f->by_width), compare);
}

static void open_leaf(struct sg_fair_node *f, const struct item *first, size_t place)
{
        const struct sg_fair_job *j = &f->jobs[first->job];
        struct part *c = f->n_classes > 0 ? &f->classes[f->n_classes - 1] : NULL;

        if (!c || f->by_tag[place - 1].class != first->class) {
                c = &f->classes[f->n_classes++];
                *c = (struct part){.weight = j->class_weight, .begin = f->n_leaves};
        }
        f->parts[f->n_leaves] = (struct part){.weight = 1, .begin = place, .end = place};
        f->leaves[f->n_leaves] = (struct leaf){.lanes_begin = f->n_lanes};
        c->end = ++f->n_leaves;
}

/* Job at `place` of by_tag: into its class, leaf and lane,
 * which are made when it is their first. */
static void place_job(struct sg_fair_node *f, size_t place)
{
        const struct item *it = &f->by_tag[place], *last = place > 0 ? it - 1 : NULL;
        const struct sg_fair_job *j = &f->jobs[it->job];
        bool new_leaf = !last || by_leaf(it, last) != 0;
        struct part *p, *c;

        if (new_leaf)
                open_leaf(f, it, place);
        if (new_leaf || it->exponent != last->exponent || it->weight != last->weight)
                f->lanes[f->n_lanes++] = (struct lane){
                        .leaf = f->n_leaves - 1,
                        .next = place,
                        .exponent = (double)it->exponent / EXPONENTS,
                        .weight = it->weight,
                        .cpu = it->weight > 0 ? j->cpu : 0,
                };
        c = &f->classes[f->n_classes - 1];
        p = &f->parts[f->n_leaves - 1];
        f->leaves[f->n_leaves - 1].lanes_end = f->n_lanes;
        f->leaves[f->n_leaves - 1].weights += j->weight;
        f->lanes[f->n_lanes - 1].end = p->end = place + 1;
        p->demand += j->width;
        c->demand += j->width;
        p->active++;
        c->active++;
        f->runs[it->job].leaf = f->n_leaves - 1;
        f->runs[it->job].lane = f->n_lanes - 1;
}

/* Max-min by weight: those that want no more than their part get all they want. */
static void share_out(struct part *parts, size_t n, double share)
{
        double weights = 0;
        bool again = true;

        for (size_t i = 0; i < n; i++) {
                parts[i].full = parts[i].active == 0;
                parts[i].share = 0;
                if (!parts[i].full)
                        weights += parts[i].weight;
        }
        while (again) {
                double level = share / weights;

                again = false;
                for (size_t i = 0; i < n; i++) {
                        struct part *p = &parts[i];

                        if (p->full)
                                continue;
                        p->share = level * p->weight;
                        if (p->demand > p->share * NEARLY)
                                continue;
                        p->share = p->demand;
                        share -= p->share;
                        weights -= p->weight;
                        p->full = again = true;
                }
        }
}

static void heap_put(struct sg_fair_node *f, size_t job)
{
        size_t i = f->n_heap++;

        for (size_t up; i > 0; i = up) {
                up = (i - 1) / 2;
                if (f->runs[f->heap[up]].finish <= f->runs[job].finish)
                        break;
                f->heap[i] = f->heap[up];
        }
        f->heap[i] = job;
}

static size_t heap_take(struct sg_fair_node *f)
{
        size_t taken = f->heap[0], last = f->heap[--f->n_heap], i = 0;

        for (size_t down; (down = 2 * i + 1) < f->n_heap; i = down) {
                if (down + 1 < f->n_heap &&
                    f->runs[f->heap[down + 1]].finish < f->runs[f->heap[down]].finish)
                        down++;
                if (f->runs[last].finish <= f->runs[f->heap[down]].finish)
                        break;
                f->heap[i] = f->heap[down];
        }
        f->heap[i] = last;
        return taken;
}

static double left_of(const struct sg_fair_node *f, size_t job)
{
        const struct run *r = &f->runs[job];

        if (isinf(f->jobs[job].remaining))
                return INFINITY;
        return fmax(0, (r->tag - f->lanes[r->lane].clock) * r->scale);
}

static void reach_width(struct sg_fair_node *f, size_t job)
{
        struct run *r = &f->runs[job];
        struct leaf *l = &f->leaves[r->leaf];

        r->finish = f->now + left_of(f, job) / rate_of(&f->jobs[job], f->jobs[job].width);
        r->state = AT_WIDTH;
        l->weights -= f->jobs[job].weight;
        l->widths += f->jobs[job].width;
        heap_put(f, job);
}

/* The speed of a lane's clock. A job's own speed is that times its scale. */
static double speed_of(const struct lane *n, double level)
{
        double cpus;

        if (n->exponent >= 1)
                return level;
        if (!(n->cpu > 0))
                return pow(level, n->exponent);
        cpus = level * n->weight / n->cpu;
        return cpus <= 1 ? cpus : pow(cpus, n->exponent);
}

/* The leaf's level for its share, which is no less than it was. */
static void set_level(struct sg_fair_node *f, size_t leaf)
{
        struct leaf *l = &f->leaves[leaf];
        struct part *p = &f->parts[leaf];

        for (; p->begin < p->end; p->begin++) {
                size_t job = f->by_width[p->begin].job;

                if (f->runs[job].state != BELOW)
                        continue;
                l->level = (p->share - l->widths) / l->weights;
                if (!p->full && f->by_width[p->begin].by > l->level * NEARLY)
                        break;
                reach_width(f, job);
        }
        if (p->begin == p->end)
                return;
        for (struct lane *n = &f->lanes[l->lanes_begin]; n < &f->lanes[l->lanes_end]; n++)
                n->speed = speed_of(n, l->level);
}

static void set_levels(struct sg_fair_node *f)
{
        share_out(f->classes, f->n_classes, 1);
        for (size_t c = 0; c < f->n_classes; c++) {
                const struct part *class = &f->classes[c];

                if (class->active == 0)
                        continue;
                share_out(&f->parts[class->begin], class->end - class->begin, class->share);
                for (size_t i = class->begin; i < class->end; i++)
                        if (f->parts[i].active > 0)
                                set_level(f, i);
        }
}

static void subtract(struct part *p, double width)
{
        p->active--;
        p->demand = p->active > 0 ? p->demand - width : 0;
}

static void end_job(struct sg_fair_node *f, size_t job)
{
        struct run *r = &f->runs[job];
        struct leaf *l = &f->leaves[r->leaf];
        size_t c = 0;

        if (r->state == BELOW)
                l->weights -= f->jobs[job].weight;
        else
                l->widths -= f->jobs[job].width;
        r->state = ENDED;
        r->finish = f->now;
        while (f->classes[c].end <= r->leaf)
                c++;
        subtract(&f->parts[r->leaf], f->jobs[job].width);
        subtract(&f->classes[c], f->jobs[job].width);
}

/* The job of a lane that ends next; NULL: none. */
static const struct item *head(struct sg_fair_node *f, struct lane *n)
{
        while (n->next < n->end && f->runs[f->by_tag[n->next].job].state != BELOW)
                n->next++;
        return n->next < n->end ? &f->by_tag[n->next] : NULL;
}

/* When the next job ends, and which; INFINITY: none does. */
static double next_end(struct sg_fair_node *f, size_t *job)
{
        double first = INFINITY;

        if (f->n_heap > 0) {
                *job = f->heap[0];
                first = f->runs[*job].finish;
        }
        for (struct lane *n = f->lanes; n < f->lanes + f->n_lanes; n++) {
                const struct item *it = head(f, n);
                double t;

                if (!it)
                        continue;
                t = f->now + fmax(0, it->by - n->clock) / n->speed;
                if (t < first) {
                        first = t;
                        *job = it->job;
                }
        }
        return first;
}

static void pass(struct sg_fair_node *f, double until)
{
        for (struct lane *n = f->lanes; n < f->lanes + f->n_lanes; n++)
                n->clock += n->speed * (until - f->now);
        f->now = until;
}

static void begin(struct sg_fair_node *f, size_t n, double now)
{
        f->now = now;
        f->n_heap = f->n_classes = f->n_leaves = f->n_lanes = 0;
        sort(f, n);
        for (size_t i = 0; i < n; i++)
                place_job(f, i);
        set_levels(f);
        for (size_t i = 0; i < n; i++)
                f->jobs[i].share = f->runs[i].state == AT_WIDTH
                                           ? f->jobs[i].width
                                           : f->jobs[i].weight * f->leaves[f->runs[i].leaf].level;
}

static void finish(struct sg_fair_node *f, size_t n, double until)
{
        for (size_t i = 0; i < n; i++) {
                const struct run *r = &f->runs[i];
                struct sg_fair_job *j = &f->jobs[i];

                j->finish = r->state == ENDED ? r->finish : INFINITY;
                if (isinf(until) || isinf(j->remaining))
                        continue;
                j->remaining = r->state == ENDED ? 0
                               : r->state == BELOW
                                       ? left_of(f, i)
                                       : fmax(0, (r->finish - until) * rate_of(j, j->width));
        }
}

void sg_fair_node_run(struct sg_fair_node *f, struct sg_fair_job *jobs, size_t n, double from,
                      double until)
{
        size_t job = 0;

        f->jobs = jobs;
        begin(f, n, from);
        for (;;) {
                double t = next_end(f, &job);

                if (t > until || isinf(t))
                        break;
                pass(f, t);
                if (f->runs[job].state == AT_WIDTH)
                        (void)heap_take(f);
                end_job(f, job);
                set_levels(f);
        }
        if (!isinf(until))
                pass(f, until);
        finish(f, n, until);
}
