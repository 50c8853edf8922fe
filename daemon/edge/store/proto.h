/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What the daemon and the store's writer say to each other: each frame (edge/common/frames.h) is
 * one record, whose first field is the kind. Both ends are the same program image, so there is
 * nothing to negotiate. Requests are answered in order, each with any number of ROW or EVENT frames
 * and one DONE; STATUS and KEPT come in between, unasked, and one DONE says at first whether the
 * writer can work.
 */

#include "base/record.h"
#include "edge/common/frames.h"
#include "proto/names.h"
#include <stdint.h>

enum sg_store_kind {
        /* requests: those that change the database come first and share COMMITs */
        SG_STORE_SUBMIT = 1,
        SG_STORE_UPDATE,
        SG_STORE_START,
        SG_STORE_FINISH,
        SG_STORE_HOLD,
        SG_STORE_FREEZE_ROW, /* of an adopted job */
        SG_STORE_FORGET,     /* commands of jobs that have ended: UID, COUNT bytes may stay */
        SG_STORE_FREEZE,     /* from here on no row is written */
        SG_STORE_RECORD,
        SG_STORE_INSPECT,
        SG_STORE_LOAD,
        SG_STORE_LIST,
        SG_STORE_EVENTS,
        SG_STORE_COMMAND,
        SG_STORE_RETENTION,
        SG_STORE_CLOSE, /* the last one: an orderly end */
        /* replies */
        SG_STORE_ROW,
        SG_STORE_EVENT,
        SG_STORE_DONE,
        SG_STORE_STATUS, /* the writer's health has changed: RESULT, TEXT */
        SG_STORE_KEPT,   /* of this user's jobs that have ended so much more is kept: UID, STORED */
};

enum sg_store_tag {
        SG_STORE_TAG_KIND = 1, /* u64 */
        SG_STORE_TAG_RESULT,   /* i64 */
        SG_STORE_TAG_JOB,      /* a job record */
        SG_STORE_TAG_BYTES,    /* spec, launch part, or exit record */
        SG_STORE_TAG_TEXT,     /* str; of a submission the tasks */
        SG_STORE_TAG_COUNT,    /* u64 from here on, if not said otherwise */
        SG_STORE_TAG_TOKEN,    /* str */
        SG_STORE_TAG_PUBLISH,
        SG_STORE_TAG_FATE,
        SG_STORE_TAG_SHIM,
        SG_STORE_TAG_ORIGIN, /* str */
        SG_STORE_TAG_N,
        SG_STORE_TAG_ATTEMPT,
        SG_STORE_TAG_UID,
        SG_STORE_TAG_FINISHED,
        SG_STORE_TAG_STATE,  /* str */
        SG_STORE_TAG_NAME,   /* str */
        SG_STORE_TAG_CLASS,  /* str */
        SG_STORE_TAG_USER,   /* str */
        SG_STORE_TAG_REASON, /* str */
        SG_STORE_TAG_SINCE,
        SG_STORE_TAG_UNTIL,
        SG_STORE_TAG_BEFORE,
        SG_STORE_TAG_LIMIT,
        SG_STORE_TAG_SEQ,
        SG_STORE_TAG_TIME,
        SG_STORE_TAG_FREEZE, /* enum sg_freeze */
        SG_STORE_TAG_ON,
        SG_STORE_TAG_SUBMITTED,
        SG_STORE_TAG_ARRAY,
        SG_STORE_TAG_STORED,    /* i64: bytes of what was submitted */
        SG_STORE_TAG_BY,        /* a uid: who asked for the change of the job */
        SG_STORE_TAG_WHO,       /* str: the same in an event */
        SG_STORE_TAG_EXIT_CODE, /* i64 */
        SG_STORE_TAG_SIGNAL,
        _SG_STORE_TAG_MAX,
};

/* The largest frame: a whole spec, and what goes with it. */
#define SG_STORE_FRAME_MAX (SG_SPEC_MAX + 1024U * 1024)

/* A parsed frame: the fields by tag, borrowed from the buffer; data NULL = absent. */
struct sg_store_message {
        uint64_t kind;
        struct sg_field fields[_SG_STORE_TAG_MAX];
};

/* Of one frame. -EBADMSG. */
int sg_store_message_parse(struct sg_store_message *ret, const void *frame, size_t size);

uint64_t sg_store_message_u64(const struct sg_store_message *m, enum sg_store_tag tag);
int64_t sg_store_message_i64(const struct sg_store_message *m, enum sg_store_tag tag);
/* A heap copy, NULL if absent; -EBADMSG, -ENOMEM. */
int sg_store_message_str(const struct sg_store_message *m, enum sg_store_tag tag, char **ret);
