/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Position and speed. Intervals are at least a 32nd of the run so far, so that eight of them reach
 * back about a quarter of it: a speed that changed is soon the only one that is remembered, and one
 * report in a hurry can't make up an interval.
 */

#include "core/reports/progress.h"
#include "base/parse.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define USEC_PER_SEC 1e6
#define INTERVALS_PER_RUN 32
#define STILL_FACTOR 4     /* an interval counts as no more than that many usual ones */
#define BEHIND_MAX 3       /* reports from behind that are taken for another process's */
#define SPREAD_MIN 0.02    /* nothing is known better than that */
#define SPREAD_UNKNOWN 0.5 /* of a single interval */
#define ALIKE 1.5          /* neighbouring intervals are: so many tell as much as one */
#define OVERDUE_FACTOR 2   /* usual gaps between two reports */

struct speed {
        double sec_per_step;
        double spread; /* relative standard deviation of one interval */
        double interval_sec;
        unsigned n;
};

void sg_progress_init(struct sg_progress *p, enum sg_goal goal, uint64_t declared_steps)
{
        *p = (struct sg_progress){
                .goal = (uint8_t)goal,
                .eval = (double)NAN,
                .best = (double)NAN,
                .declared = declared_steps,
        };
}

/* --- where it is ------------------------------------------------------------------------------ */

struct place {
        bool step_known;
        uint64_t step, total; /* of the run; total 0 = not known */
        struct {
                uint64_t number, before, end; /* in steps of the run; end 0 = not known */
        } epoch;
};

static bool multiply_add(uint64_t a, uint64_t b, uint64_t c, uint64_t *ret)
{
        uint64_t v;

        if (__builtin_mul_overflow(a, b, &v) || __builtin_add_overflow(v, c, &v))
                return false;
        *ret = v;
        return true;
}

/* Epochs without any steps are the steps. */
static void place_by_epochs(const struct sg_report *r, struct place *ret)
{
        ret->step_known = true;
        ret->step = r->epoch;
        ret->total = r->has & SG_REPORT_EPOCHS ? r->epochs : 0;
}

static void place_in_epoch(const struct sg_report *r, struct place *ret)
{
        uint64_t before = r->epoch > 0 ? r->epoch - 1 : 0;

        if (!(r->has & SG_REPORT_TOTAL)) {
                ret->step_known = true;
                ret->step = r->step;
                return;
        }
        ret->step_known = multiply_add(before, r->total, r->step, &ret->step);
        if (r->has & SG_REPORT_EPOCHS) {
                if (!multiply_add(r->epochs, r->total, 0, &ret->total))
                        ret->total = 0;
        } else if (multiply_add(before, r->total, 0, &ret->epoch.before) &&
                   multiply_add(before, r->total, r->total, &ret->epoch.end)) {
                ret->epoch.number = before + 1;
        }
}

static struct place place_of(const struct sg_report *r)
{
        struct place p = {0};

        if (!(r->has & SG_REPORT_STEP)) {
                if (r->has & SG_REPORT_EPOCH)
                        place_by_epochs(r, &p);
                else if (r->has & SG_REPORT_TOTAL)
                        p.total = r->total;
        } else if (r->has & SG_REPORT_EPOCH) {
                place_in_epoch(r, &p);
        } else {
                p.step_known = true;
                p.step = r->step;
                p.total = r->has & SG_REPORT_TOTAL ? r->total : 0;
        }
        return p;
}

/* --- how it moves ----------------------------------------------------------------------------- */

static void set_mark(struct sg_progress *p, uint64_t step, uint64_t usec, uint64_t cpu_usec)
{
        p->mark_step = step;
        p->mark_usec = usec;
        p->mark_cpu_usec = cpu_usec;
}

static void add_interval(struct sg_progress *p, const struct sg_progress_interval *i)
{
        if (p->n_intervals == SG_PROGRESS_INTERVALS) {
                memmove(&p->intervals[0], &p->intervals[1],
                        (SG_PROGRESS_INTERVALS - 1) * sizeof(p->intervals[0]));
                p->n_intervals--;
        }
        p->intervals[p->n_intervals++] = *i;
}

static void close_interval(struct sg_progress *p, uint64_t step, uint64_t usec, uint64_t cpu_usec)
{
        uint64_t spent = usec - p->mark_usec;
        struct sg_progress_interval i = {
                .sec = (float)((double)spent / USEC_PER_SEC),
                .cpu_sec = -1,
                .steps = (float)(step - p->mark_step),
        };

        if (spent == 0 || spent < (usec - p->first_usec) / INTERVALS_PER_RUN)
                return;
        if (cpu_usec != SG_UNLIMITED && p->mark_cpu_usec != SG_UNLIMITED &&
            cpu_usec >= p->mark_cpu_usec)
                i.cpu_sec = (float)((double)(cpu_usec - p->mark_cpu_usec) / USEC_PER_SEC);
        add_interval(p, &i);
        set_mark(p, step, usec, cpu_usec);
}

/* Somewhere else than on the way ahead: the speed is kept, or learnt anew in another phase. */
static void jump(struct sg_progress *p, uint64_t step, bool phase, uint64_t usec, uint64_t cpu_usec)
{
        if (phase || p->n_intervals == 0) {
                p->n_intervals = 0;
                p->gap_usec = 0;
                p->first_usec = usec;
        }
        p->step = step;
        p->moved_usec = usec;
        p->behind = 0;
        set_mark(p, step, usec, cpu_usec);
}

static void move_back(struct sg_progress *p, const struct place *to, bool phase, uint64_t usec,
                      uint64_t cpu_usec)
{
        uint64_t drop = p->step - to->step, little = p->step / 100 > 2 ? p->step / 100 : 2;

        if (!phase && drop <= little && ++p->behind < BEHIND_MAX)
                return;
        jump(p, to->step, phase, usec, cpu_usec);
}

static void move(struct sg_progress *p, const struct place *to, bool phase, uint64_t usec,
                 uint64_t cpu_usec)
{
        if (!(p->has & SG_REPORT_STEP)) {
                p->has |= SG_REPORT_STEP;
                jump(p, to->step, true, usec, cpu_usec);
        } else if (to->step < p->step) {
                move_back(p, to, phase, usec, cpu_usec);
        } else if (to->step > p->step) {
                p->gap_usec = usec - p->moved_usec;
                p->step = to->step;
                p->moved_usec = usec;
                p->behind = 0;
                close_interval(p, to->step, usec, cpu_usec);
        } else {
                p->behind = 0;
        }
}

static void take_eval(struct sg_progress *p, const struct sg_report *r)
{
        p->has |= SG_REPORT_EVAL;
        p->eval = r->eval;
        if (p->goal == SG_GOAL_MIN)
                p->best = fmin(p->best, sg_report_least(r));
        else
                p->best = fmax(p->best, sg_report_most(r));
}

void sg_progress_feed(struct sg_progress *p, const struct sg_report *r, uint64_t running_usec,
                      uint64_t cpu_usec)
{
        struct place to = place_of(r);
        bool of_epoch = to.total == 0 && p->declared == 0 && to.epoch.number > 0, phase;
        uint64_t total = of_epoch ? to.epoch.end : to.total > 0 ? to.total : p->declared;

        if (r->has & SG_REPORT_EVAL)
                take_eval(p, r);
        if (!to.step_known && to.total == 0)
                return;
        if (running_usec < p->moved_usec)
                running_usec = p->moved_usec;
        /* Within an epoch another total is a validation's. */
        phase = to.step_known && p->total > 0 && total != p->total && to.step < p->step &&
                to.step <= p->step / 2 && !(of_epoch && to.epoch.number == p->epoch);
        p->total = total;
        p->epoch = of_epoch ? to.epoch.number : 0;
        p->before = of_epoch ? to.epoch.before : 0;
        if (to.step_known)
                move(p, &to, phase, running_usec, cpu_usec);
}

/* --- how long it will take -------------------------------------------------------------------- */

static double pace(const struct sg_progress_interval *i, bool cpu)
{
        return (double)(cpu ? i->cpu_sec : i->sec) / (double)i->steps;
}

/* Of few values: by insertion. */
static double median(double *v, unsigned n)
{
        for (unsigned i = 1; i < n; i++)
                for (unsigned k = i; k > 0 && v[k] < v[k - 1]; k--) {
                        double t = v[k];

                        v[k] = v[k - 1];
                        v[k - 1] = t;
                }
        return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* In seconds per step, or CPU seconds: the ratio of sums, so that what comes now and then
 * (validation, checkpoints) has its share, but no standstill more than a few intervals' worth. */
static struct speed measure(const struct sg_progress_interval *intervals, unsigned n, bool cpu)
{
        double paces[SG_PROGRESS_INTERVALS + 1], usual, time = 0, steps = 0, square = 0, sec = 0;
        struct speed s = {.n = n};

        for (unsigned i = 0; i < n; i++)
                paces[i] = pace(&intervals[i], cpu);
        usual = median(paces, n);
        for (unsigned i = 0; i < n; i++) {
                double one = pace(&intervals[i], cpu);

                if (usual > 0 && one > STILL_FACTOR * usual)
                        one = STILL_FACTOR * usual;
                time += one * (double)intervals[i].steps;
                steps += (double)intervals[i].steps;
                sec += (double)intervals[i].sec;
        }
        s.sec_per_step = time / steps;
        s.interval_sec = sec / n;
        for (unsigned i = 0; i < n; i++) {
                double off = s.sec_per_step > 0 ? pace(&intervals[i], cpu) / s.sec_per_step - 1 : 0;

                square += off < STILL_FACTOR ? off * off : STILL_FACTOR * STILL_FACTOR;
        }
        s.spread = n > 1 ? sqrt(square / (n - 1)) : SPREAD_UNKNOWN;
        return s;
}

/* By CPU time, if all of it is known and it is the steadier measure. */
static struct speed choose_measure(const struct sg_progress_interval *intervals, unsigned n)
{
        const struct sg_progress_interval *last = &intervals[n - 1];
        struct speed wall = measure(intervals, n, false), cpu;

        for (unsigned i = 0; i < n; i++)
                if (intervals[i].cpu_sec <= 0)
                        return wall;
        cpu = measure(intervals, n, true);
        if (n < 3 || cpu.spread >= wall.spread)
                return wall;
        cpu.sec_per_step *= (double)last->sec / (double)last->cpu_sec;
        return cpu;
}

/* What has passed since the last step, in which there should have been another one. */
static double overdue_sec(const struct sg_progress *p, uint64_t now_usec, double sec_per_step)
{
        double since = (double)(now_usec - p->moved_usec) / USEC_PER_SEC;
        double usual = (double)p->gap_usec / USEC_PER_SEC;

        if (usual < sec_per_step)
                usual = sec_per_step;
        return since > OVERDUE_FACTOR * usual ? since : 0;
}

static struct speed current_speed(const struct sg_progress *p, uint64_t now_usec,
                                  double *ret_overdue)
{
        struct sg_progress_interval intervals[SG_PROGRESS_INTERVALS + 1];
        unsigned n = p->n_intervals;
        struct speed s;
        double known;

        memcpy(intervals, p->intervals, n * sizeof(intervals[0]));
        s = choose_measure(intervals, n);
        *ret_overdue = overdue_sec(p, now_usec, s.sec_per_step);
        if (*ret_overdue <= 0)
                return s;
        /* The step that is waited for will have taken at least that long. */
        known = s.interval_sec * n;
        s.sec_per_step = (known + *ret_overdue) / (known / s.sec_per_step + 1);
        return s;
}

/* 1.28 standard deviations of a normal distribution hold 80 %;
 * of Student's with few values more. */
static double quantile(unsigned n)
{
        static const double by_n[] = {3.08, 3.08, 3.08, 1.89, 1.64, 1.53, 1.48, 1.44, 1.41, 1.40};

        return by_n[n < sizeof(by_n) / sizeof(by_n[0]) ? n : sizeof(by_n) / sizeof(by_n[0]) - 1];
}

static void estimate(const struct sg_progress *p, uint64_t now_usec, struct sg_progress_view *v)
{
        double overdue, since, whole, sigma, future;
        struct speed s = current_speed(p, now_usec, &overdue);

        whole = (double)(p->total - p->step) * s.sec_per_step;
        since = overdue > 0 ? 0 : (double)(now_usec - p->moved_usec) / USEC_PER_SEC;
        v->eta_sec = whole > since ? whole - since : 0;
        future = s.interval_sec > 0 ? whole / s.interval_sec : 0;
        sigma = s.spread * sqrt(ALIKE / s.n + 1.0 / (future > 1 ? future : 1));
        if (sigma < SPREAD_MIN)
                sigma = SPREAD_MIN;
        sigma = exp(quantile(s.n) * (sigma < 2 ? sigma : 2));
        v->eta_low_sec = whole / sigma > since ? whole / sigma - since : 0;
        v->eta_high_sec = whole * sigma > since ? whole * sigma - since : 0;
}

void sg_progress_view(const struct sg_progress *p, uint64_t running_usec_now,
                      struct sg_progress_view *ret)
{
        const double unknown = (double)NAN;

        *ret = (struct sg_progress_view){
                .has = p->has & (SG_REPORT_EVAL | SG_REPORT_STEP),
                .eval = p->eval,
                .best = p->best,
                .step = p->step,
                .fraction = unknown,
                .eta_sec = unknown,
                .eta_low_sec = unknown,
                .eta_high_sec = unknown,
        };
        if (p->total == 0 || p->step > p->total || p->step < p->before)
                return;
        ret->has |= SG_REPORT_TOTAL;
        ret->epoch = p->epoch;
        ret->before = p->before;
        ret->step = p->step - p->before;
        ret->total = p->total - p->before;
        if (!(p->has & SG_REPORT_STEP))
                return;
        ret->fraction = (double)ret->step / (double)ret->total;
        if (running_usec_now < p->moved_usec)
                running_usec_now = p->moved_usec;
        if (p->step == p->total)
                ret->eta_sec = ret->eta_low_sec = ret->eta_high_sec = 0;
        else if (p->n_intervals > 0)
                estimate(p, running_usec_now, ret);
}

void sg_progress_view_run(struct sg_progress_view *v)
{
        if (v->epoch == 0)
                return;
        v->step += v->before;
        v->has &= ~(uint32_t)SG_REPORT_TOTAL;
        v->epoch = v->before = v->total = 0;
        v->fraction = v->eta_sec = v->eta_low_sec = v->eta_high_sec = (double)NAN;
}
