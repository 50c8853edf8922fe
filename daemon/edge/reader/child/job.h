/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* One job as the reader follows it: all the places where its progress may be found. */

#include "base/list.h"
#include "edge/reader/child/child.h"
#include "edge/reader/child/events.h"
#include "edge/reader/child/file.h"
#include "edge/reader/child/journal.h"
#include "edge/reader/child/tail.h"
#include "edge/reader/proto.h"

struct sg_pattern;

/* A stream of text; for each its own parser, as lines of one must not end those of another. */
struct sg_job_text {
        struct sg_log_parser parser;
        struct sg_values values; /* for JSON */
        uint64_t n_told;         /* of parser.n_reports */
        bool unsettled;          /* something came since the last line was taken for a whole one */
        bool open;               /* all this is in use */
        struct sg_reading *job;
};

struct sg_reading {
        struct sg_list link;
        uint64_t id;
        struct sg_pattern *pattern;
        unsigned n_matched;  /* lines that went to the pattern in this look */
        uint64_t until_nsec; /* CPU time at which the pattern has taken too long */
        bool slow;
        struct sg_job_text log_text, output_text, journal_text;
        struct sg_tail log, output;
        struct sg_progress_file file;
        struct sg_events events;
        struct sg_journal_unit unit;
        struct sg_journal *journal;
        uint32_t told;               /* bits of enum sg_reader_trouble */
        struct sg_reader_page *page; /* where to say who is worked for; or NULL */
        enum sg_reader_place place;
};

/* Takes nothing over from the message. What of it can't be followed is told as a trouble of the
 * job. -ENOMEM. */
int sg_reading_new(struct sg_reading **ret, const struct sg_reader_message *m,
                   struct sg_journal *journal, struct sg_record *out);
struct sg_reading *sg_reading_free(struct sg_reading *j);

/* Looks at its files; what is found is written to `out`. `last`: an unended line is a whole one. */
void sg_reading_look(struct sg_reading *j, bool last, struct sg_record *out);
/* What the journal has handed out. */
void sg_reading_tell_journal(struct sg_reading *j, int error, bool last, struct sg_record *out);

/* Tests: called at each place of a look, to do what a fatal bug in a parser would do. */
extern void (*sg_reader_test_hook)(const struct sg_reading *j);
