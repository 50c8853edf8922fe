/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The reader as the daemon holds it; shared by reader.c (the process) and calls.c (jobs). */

#include "base/list.h"
#include "edge/common/worker.h"
#include "edge/reader/child/child.h"
#include "edge/reader/proto.h"

struct sg_followed {
        struct sg_list link;
        uint64_t id;
        struct sg_kept_key key;
        bool finishing;
        unsigned deaths; /* of readers that were busy with it */
        uint32_t told;   /* bits of enum sg_reader_trouble */
        uint32_t size;
        uint8_t message[]; /* FOLLOW, to be said again to the next process */
};

struct sg_job_reader {
        char *journal_dir;
        struct sg_worker *worker;
        struct sg_reader_page *page; /* shared with the process that runs now */
        sd_event_source *check;
        struct sg_job_reader_calls calls;
        struct sg_list followed; /* by id */
        struct sg_list *found;   /* the entry of `followed` that was looked up last, or the list
                                    itself */
        uint64_t next_id, interval_usec;
        uint64_t beat;    /* at the last check */
        unsigned silence; /* checks since the beat was another one */
};

/* How often the process is looked after, while it has something to do. Tests have less time. */
extern uint64_t sg_reader_check_usec;

/* reader.c: begins and sends one frame, which is put together in between in what the first returns.
 * NULL: the process is yet to be started; it is told everything then. */
struct sg_record *sg_job_reader_open(struct sg_job_reader *r, size_t *ret_mark);
void sg_job_reader_send(struct sg_job_reader *r, size_t mark);

/* calls.c: */
/* Says to a new process all that is followed. */
void sg_job_reader_say_all(struct sg_job_reader *r);
/* Takes one frame of messages. -EBADMSG. */
int sg_job_reader_dispatch(struct sg_job_reader *r, const void *data, size_t size);
/* Whose that is; false: nobody's. */
bool sg_job_reader_key_of(struct sg_job_reader *r, uint64_t id, struct sg_job_key *ret);
/* The process hung at one of the job's files, which is left alone from now on: true. false: at none
 * of them. */
bool sg_job_reader_give_up(struct sg_job_reader *r, uint64_t id, enum sg_reader_place place);
/* The process has died while it was busy with this job. */
void sg_job_reader_blame(struct sg_job_reader *r, uint64_t id);
/* The process has died: nobody's last words are to be waited for. */
void sg_job_reader_finish_all(struct sg_job_reader *r);
bool sg_job_reader_is_finishing(const struct sg_job_reader *r);
void sg_job_reader_drop_all(struct sg_job_reader *r);
