/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the requests of a batch say. */

#include "base/fault.h"
#include "edge/store/writer/writer.h"
#include <errno.h>
#include <unistd.h>

static int message_job(const struct sg_store_message *m, struct sg_job *ret)
{
        const struct sg_field *f = &m->fields[SG_STORE_TAG_JOB];

        ret->changed_usec = sg_store_message_u64(m, SG_STORE_TAG_TIME);
        ret->changed_by.is = m->fields[SG_STORE_TAG_BY].data;
        ret->changed_by.uid = (uid_t)sg_store_message_u64(m, SG_STORE_TAG_BY);
        return f->data ? sg_job_decode(ret, f->data, f->size) : -EBADMSG;
}

int sg_writer_message_key(const struct sg_store_message *m, struct sg_job_key *ret)
{
        ret->n = sg_store_message_u64(m, SG_STORE_TAG_N);
        ret->attempt = sg_store_message_u64(m, SG_STORE_TAG_ATTEMPT);
        return sg_field_strcpy(&m->fields[SG_STORE_TAG_ORIGIN], ret->origin, sizeof(ret->origin));
}

int sg_writer_item_job(const struct sg_writer_item *i, struct sg_store_message *m,
                       struct sg_job *ret)
{
        int r;

        r = sg_store_message_parse(m, i->frame, i->size);
        return r < 0 ? r : message_job(m, ret);
}

int sg_writer_item_key(const struct sg_writer_item *i, struct sg_store_message *m,
                       struct sg_job_key *ret)
{
        int r;

        r = sg_store_message_parse(m, i->frame, i->size);
        return r < 0 ? r : sg_writer_message_key(m, ret);
}

int sg_writer_item_freeze(const struct sg_writer_item *i, struct sg_writer_freeze *ret)
{
        struct sg_store_message m;
        int r;

        r = sg_writer_item_key(i, &m, &ret->key);
        if (r < 0)
                return r;
        ret->reasons = sg_store_message_u64(&m, SG_STORE_TAG_FREEZE);
        ret->on = sg_store_message_u64(&m, SG_STORE_TAG_ON) != 0;
        return 0;
}

unsigned sg_writer_count(const struct sg_writer *w, uint64_t kind)
{
        unsigned n = 0;

        for (size_t i = 0; i < w->n_batch; i++)
                n += w->batch[i].kind == kind && w->batch[i].result >= 0;
        return n;
}

void sg_writer_fault(struct sg_writer *w, uint64_t kind, const char *point)
{
        if (sg_writer_count(w, kind) > 0)
                sg_fault(point, w->attempts.state_fd, "fault",
                         getppid() == w->daemon ? w->daemon : 0);
}
