/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A directory of real files, a real reader, and what it says, collected. */

#include "base/file.h"
#include "base/time-util.h"
#include "edge/reader/child/job.h"
#include "edge/reader/internal.h"
#include "tests/unit/test.h"
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_USEC (60 * SG_USEC_PER_SEC)
#define INTERVAL (20 * SG_USEC_PER_MSEC)

extern char root[PATH_MAX - 64];

struct heard {
        struct sg_report report; /* merged */
        uint64_t n_reports, calls, n_trouble, n_finished;
        char source[SG_READER_SOURCE_MAX], trouble[4 * SG_READER_TEXT_MAX];
};

extern struct heard heard[8]; /* by the job's n */
extern unsigned n_rounds;     /* of which it said that all was told */
extern sd_event *event;
extern struct sg_job_reader *reader;
extern const struct sg_job_reader_calls calls; /* into heard */

int set_up(void **state);
int tear_down(void **state);

/* A name in the directory; valid until the fourth call from here. */
const char *in(const char *name);
void write_to(const char *name, int flags, const char *text, size_t n);
void put(const char *name, const char *text);
void add(const char *name, const char *text);
void start_reader(const char *journal_dir);
struct sg_job_key key_of(uint64_t n);
void follow(uint64_t n, struct sg_follow f);
void follow_log(uint64_t n, const char *name);
int finish(uint64_t n);

/* Runs the loop until the condition holds. */
#define wait_until(condition)                                                                      \
        do {                                                                                       \
                uint64_t _until = sg_now_monotonic_usec() + WAIT_USEC;                             \
                while (!(condition)) {                                                             \
                        if (sg_now_monotonic_usec() > _until)                                      \
                                fail_msg("%s: not so after %llu s: %s", #condition,                \
                                         (unsigned long long)(WAIT_USEC / SG_USEC_PER_SEC),        \
                                         heard[1].trouble);                                        \
                        assert_true(sd_event_run(event, 100000) >= 0);                             \
                }                                                                                  \
        } while (0)
