/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * One datagram of the NOTIFY_SOCKET protocol (sd_notify(3)): lines KEY=VALUE.
 *
 *   SCHEDGOV_EVAL=0.25  STEP=10  TOTAL_STEPS=500  EPOCH=2  EPOCHS=5   (each also with SCHEDGOV_)
 *   STATUS=text
 *   SCHEDGOV_CHECKPOINTED=1
 *   SCHEDGOV_ALLOCATION_SIGNAL=USR1 | 10 | 0     0 = none any more
 *   SCHEDGOV_FOLLOWS=8                           threads at most; as many as the allocation says
 *
 * Other keys are systemd's or somebody's own and are ignored. A value that can't be is counted, and
 * the rest of the message still holds. Of a key that comes twice the last one counts.
 */

#include "core/reports/report.h"
#include <stdbool.h>
#include <stddef.h>

#define SG_NOTIFY_STATUS_MAX 128 /* with the NUL */

struct sg_notify {
        struct sg_report report; /* .has == 0: no word about progress */
        bool has_status;
        char status[SG_NOTIFY_STATUS_MAX]; /* valid UTF-8 without control characters, cut */
        bool checkpointed;
        int allocation_signal; /* −1: not said */
        uint64_t follows;      /* 0: not said */
        unsigned n_bad;
};

/* text needn't end with a NUL or newline. */
void sg_notify_parse(const char *text, size_t n, struct sg_notify *ret);
