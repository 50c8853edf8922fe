/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "jobs/stored.h"
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
