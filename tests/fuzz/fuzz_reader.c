/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any bytes as what the reader and the daemon say to each other: whatever is understood is sound,
 * and what was understood is understood in the same way when it is said again.
 */
#include "edge/reader/proto.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void say_again(struct sg_record *out, const struct sg_reader_message *m)
{
        switch (m->kind) {
        case SG_READER_FOLLOW:
                if (!sg_follow_valid(&m->follow))
                        abort();
                sg_reader_put_follow(out, m->id, &m->follow);
                break;
        case SG_READER_INTERVAL:
                sg_reader_put_interval(out, m->usec);
                break;
        case SG_READER_REPORT:
                if (m->report.has > 31 || strlen(m->source) >= SG_READER_SOURCE_MAX)
                        abort();
                sg_reader_put_report(out, m->id, &m->report, m->n_reports, m->source);
                break;
        case SG_READER_TROUBLE:
                if (m->trouble >= _SG_TROUBLE_MAX || strchr(m->text, '\n'))
                        abort();
                sg_reader_put_trouble(out, m->id, m->trouble, m->text);
                break;
        default:
                sg_reader_put_id(out, m->kind, m->id);
        }
}

/* The messages of a datagram, said again. */
static int repeat(const uint8_t *data, size_t size, struct sg_record *out)
{
        struct sg_reader in = sg_reader_init(data, size);
        struct sg_reader_message m;
        int r;

        while ((r = sg_reader_take(&in, &m)) > 0) {
                say_again(out, &m);
                sg_reader_message_deinit(&m);
        }
        return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_(sg_record_deinitp) struct sg_record once = {0}, twice = {0};

        (void)repeat(data, size, &once);
        if (once.error < 0 || once.size == 0)
                return 0;
        if (repeat(once.data, once.size, &twice) < 0 || twice.size != once.size)
                abort();
        if (memcmp(once.data, twice.data, once.size) != 0)
                abort();
        return 0;
}
