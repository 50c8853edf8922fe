/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "jobs/stored.h"
#include "edge/store/kept.h"
#include "jobs/internal.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

/* All users' jobs together never take more than half of the disk, those of one a quarter. */
#define PART_OF_ALL 2
#define PART_OF_USER 4

struct sg_stored {
        struct sg_ledger *ledger;
        uint32_t uid;
        uint64_t bytes;
        unsigned refs;
};

uint64_t sg_stored_bytes(const struct sg_job *template, uint64_t count, uint64_t spec_bytes)
{
        return spec_bytes + count * sg_job_stored_bytes(template);
}

static int take(struct sg_stored **ret, struct sg_manager *m, uint64_t uid, uint64_t bytes)
{
        struct sg_stored *s = malloc(sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        *s = (struct sg_stored){
                .ledger = m->ledger, .uid = (uint32_t)uid, .bytes = bytes, .refs = 1};
        r = sg_ledger_take(s->ledger, s->uid, SG_CHARGE_STORED, bytes);
        if (r != 0) {
                free(s);
                return r;
        }
        *ret = s;
        return 0;
}

/* --- what is kept of jobs that have ended */

struct forgetting {
        struct sg_manager *manager;
        uint64_t uid, most;
};

static void on_forgotten(int result, const struct sg_job *job, void *userdata)
{
        struct forgetting *f = userdata;
        struct sg_manager *m = f->manager;

        (void)job;
        if (result >= 0 && !m->settings->keep_commands && f->uid != SG_UNLIMITED) {
                f->uid = SG_UNLIMITED;
                f->most = 0;
                result = 1;
        }
        if (result == 1 && !m->stopping) {
                sg_store_forget_commands(m->store, f->uid, f->most, on_forgotten, f);
                return;
        }
        m->jobs->forgetting = false;
        free(f);
}

/* One at a time: what else is too much then is seen at the next change. */
static void forget_commands(struct sg_manager *m, uint64_t uid, uint64_t most)
{
        struct forgetting *f = m->jobs->forgetting ? NULL : malloc(sizeof(*f));

        if (!f)
                return;
        *f = (struct forgetting){m, uid, most};
        m->jobs->forgetting = true;
        sg_store_forget_commands(m->store, uid, most, on_forgotten, f);
}

void sg_manager_make_room(struct sg_manager *m)
{
        uint64_t most;
        uint32_t uid;

        if (sg_ledger_yields(m->ledger, &uid, &most))
                forget_commands(m, uid, most);
}

/* (an amount that couldn't be booked for lack of memory isn't given back, either) */
static void on_kept(uint64_t uid, int64_t bytes, void *userdata)
{
        struct sg_manager *m = userdata;
        uint64_t held = sg_ledger_held(m->ledger, (uint32_t)uid, SG_CHARGE_KEPT);

        if (bytes < 0) {
                sg_ledger_give(m->ledger, (uint32_t)uid, SG_CHARGE_KEPT,
                               MIN(held, (uint64_t)-bytes));
                return;
        }
        (void)sg_ledger_book(m->ledger, (uint32_t)uid, SG_CHARGE_KEPT, (uint64_t)bytes);
        sg_manager_make_room(m);
}

void sg_manager_count_kept(struct sg_manager *m)
{
        sg_store_on_kept(m->store, on_kept, m);
}

void sg_manager_settle_kept(struct sg_manager *m)
{
        if (m->settings->keep_commands)
                sg_manager_make_room(m);
        else
                forget_commands(m, SG_UNLIMITED, 0);
}

int sg_stored_take(struct sg_stored **ret, struct sg_manager *m, const struct sg_job *template,
                   uint64_t count, uint64_t spec_bytes)
{
        return take(ret, m, template->uid, sg_stored_bytes(template, count, spec_bytes));
}

void sg_stored_unref(struct sg_stored *s)
{
        if (!s || --s->refs > 0)
                return;
        sg_ledger_give(s->ledger, s->uid, SG_CHARGE_STORED, s->bytes);
        free(s);
}

void sg_live_hold_stored(struct sg_live *l, struct sg_stored *s)
{
        s->refs++;
        l->stored = s;
}

void sg_live_release_stored(struct sg_live *l)
{
        sg_stored_unref(l->stored);
        l->stored = NULL;
}

int sg_live_resize_stored(struct sg_live *l, uint64_t from, uint64_t to)
{
        struct sg_stored *s = l->stored;
        int r = 0;

        if (!s)
                return 0;
        if (to > from)
                r = sg_ledger_take(s->ledger, s->uid, SG_CHARGE_STORED, to - from);
        else if (to < from)
                sg_ledger_give(s->ledger, s->uid, SG_CHARGE_STORED, from - to);
        if (r == 0)
                s->bytes = s->bytes - from + to;
        return r;
}

int sg_live_find_stored(struct sg_live *l, uint64_t spec_bytes)
{
        const struct sg_live *before = sg_live_task_before(l);
        struct sg_stored *s = before ? before->stored : NULL;
        uint64_t row = sg_job_stored_bytes(&l->job);
        int r;

        if (!s)
                return take(&l->stored, l->manager, l->job.uid, row + spec_bytes);
        r = sg_ledger_take(s->ledger, s->uid, SG_CHARGE_STORED, row);
        if (r != 0)
                return r;
        s->bytes += row;
        sg_live_hold_stored(l, s);
        return 0;
}

void sg_manager_bound_stored(struct sg_manager *m)
{
        uint64_t disk = sg_store_disk_bytes(m->store);

        sg_ledger_bound(m->ledger, SG_CHARGE_STORED,
                        MIN(m->settings->max_stored_per_user, disk / PART_OF_USER),
                        disk / PART_OF_ALL);
}

void sg_manager_unbound_stored(struct sg_manager *m)
{
        sg_ledger_bound(m->ledger, SG_CHARGE_STORED, SG_UNLIMITED, SG_UNLIMITED);
}
