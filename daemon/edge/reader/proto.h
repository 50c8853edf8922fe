/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the daemon and its reader say to each other. A frame (edge/common/frames.h) is a record
 * (base/record.h) of messages, each of which is a record again. Neither side trusts the other: the
 * reader because it may be wrong about where its life began, the daemon because the reader has read
 * jobs' text.
 *
 *   daemon → reader   FOLLOW, FORGET, FINISH, INTERVAL
 *   reader → daemon   REPORT, TROUBLE, FINISHED, ROUND
 *
 * A job is known by the number that the daemon gave it with FOLLOW, which is never used again.
 */

#include "base/record.h"
#include "edge/reader/reader.h"

#define SG_READER_FRAME_MAX (64U << 10)
#define SG_READER_STRING_MAX 4096U /* with the NUL */
#define SG_READER_SOURCE_MAX 16U
#define SG_READER_TEXT_MAX 256U

enum sg_reader_kind {
        SG_READER_FOLLOW = 1,
        SG_READER_FORGET,
        SG_READER_FINISH,
        SG_READER_INTERVAL,
        SG_READER_REPORT,
        SG_READER_TROUBLE,
        SG_READER_FINISHED,
        SG_READER_ROUND,
        _SG_READER_KIND_MAX,
};

/* Each is told once per job. */
enum sg_reader_trouble {
        SG_TROUBLE_OTHERS,     /* a file is somebody else's */
        SG_TROUBLE_NO_FILE,    /* it is a directory, a device, a link, … */
        SG_TROUBLE_UNREADABLE, /* errno */
        SG_TROUBLE_SKIPPED,    /* too much output to read all of it */
        SG_TROUBLE_SLOW,       /* the pattern takes too long for it */
        SG_TROUBLE_TEXT,       /* the progress file can't be understood */
        SG_TROUBLE_EVENTS,     /* an event file is damaged */
        SG_TROUBLE_JOURNAL,    /* there is none, or it can't be read */
        SG_TROUBLE_MEMORY,
        SG_TROUBLE_KILLS, /* it was too much for the reader: said by the daemon's side */
        _SG_TROUBLE_MAX,
};

struct sg_reader_message {
        enum sg_reader_kind kind;
        uint64_t id;
        struct sg_follow follow; /* its strings are the message's; no key */
        uint64_t usec;
        struct sg_report report;
        uint64_t n_reports;
        char source[SG_READER_SOURCE_MAX];
        enum sg_reader_trouble trouble;
        char text[SG_READER_TEXT_MAX]; /* one line */
};

void sg_reader_put_follow(struct sg_record *out, uint64_t id, const struct sg_follow *f);
/* FORGET, FINISH, FINISHED; ROUND, with SG_READER_NOBODY's. */
void sg_reader_put_id(struct sg_record *out, enum sg_reader_kind kind, uint64_t id);
void sg_reader_put_interval(struct sg_record *out, uint64_t usec);
void sg_reader_put_report(struct sg_record *out, uint64_t id, const struct sg_report *report,
                          uint64_t n_reports, const char *source);
void sg_reader_put_trouble(struct sg_record *out, uint64_t id, enum sg_reader_trouble kind,
                           const char *text);

/* The next message of a frame: 1, 0 = no more, -EBADMSG, -ENOMEM. Of an unknown kind: -EBADMSG,
 * as both sides are the same program. */
int sg_reader_take(struct sg_reader *in, struct sg_reader_message *ret);
void sg_reader_message_deinit(struct sg_reader_message *m);
/* Whether all of it is right for somebody who is asked to follow a job. */
bool sg_follow_valid(const struct sg_follow *f);
