/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/reader/child/job.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/pattern/pattern.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* CPU time that a pattern gets per look: a hundred lines of the worst pattern that is accepted, or
 * all of SG_TAIL_LOOK_MAX for any that somebody would write. */
#define PATTERN_NSEC 500000000ULL
#define CLOCK_LINES 4 /* the clock is asked once for so many lines: it is a system call */

static uint64_t cpu_nsec(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* --- trouble */

__attribute__((format(printf, 4, 5))) static void tell(struct sg_reading *j,
                                                       enum sg_reader_trouble kind,
                                                       struct sg_record *out, const char *format,
                                                       ...)
{
        char text[SG_READER_TEXT_MAX];
        va_list ap;

        if (j->told & 1U << kind)
                return;
        j->told |= 1U << kind;
        va_start(ap, format);
        (void)vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        sg_reader_put_trouble(out, j->id, kind, text);
}

/* That a file isn't there is no trouble: it may come. */
static void tell_error(struct sg_reading *j, int error, const char *path, struct sg_record *out)
{
        if (error == -ENOENT || error >= 0)
                return;
        if (error == -ENOMEM)
                tell(j, SG_TROUBLE_MEMORY, out, "not enough memory to read %s", path);
        else if (error == -EPERM)
                tell(j, SG_TROUBLE_OTHERS, out,
                     "%s isn't read: it doesn't belong to the job's user", path);
        else if (error == -ENOTSUP)
                tell(j, SG_TROUBLE_NO_FILE, out, "%s isn't read: it is no regular file", path);
        else
                tell(j, SG_TROUBLE_UNREADABLE, out, "cannot read %s: %s", path, strerror(-error));
}

/* --- text */

static void begin_step(const struct sg_reading *j)
{
        if (j->page)
                sg_reader_begin_step(j->page, j->id, j->place);
}

static int by_pattern(const char *line, size_t n, enum sg_goal goal, void *state,
                      struct sg_report *ret)
{
        struct sg_reading *j = state;

        (void)goal;
        if (j->until_nsec == 0)
                j->until_nsec = cpu_nsec() + PATTERN_NSEC;
        if (++j->n_matched % CLOCK_LINES == 0 && !j->slow) {
                begin_step(j);
                j->slow = cpu_nsec() > j->until_nsec;
        }
        return !j->slow && sg_pattern_match(j->pattern, line, n, ret) > 0;
}

static int text_open(struct sg_job_text *t, struct sg_reading *j, const struct sg_follow *f)
{
        const char *preset = f->preset && *f->preset ? f->preset : "auto";
        int r;

        if (j->pattern)
                r = sg_log_parser_init(&t->parser, "pattern", f->goal, by_pattern, j);
        else
                r = sg_log_parser_init(&t->parser, preset, f->goal, sg_values_json_line,
                                       &t->values);
        t->open = r >= 0;
        t->job = j;
        return r;
}

static void text_take(struct sg_job_text *t, const char *data, size_t n)
{
        if (n == 0) {
                /* What ends within a number isn't taken for it. */
                sg_lines_deinit(&t->parser.lines);
                t->parser.lines = (struct sg_lines){.partial = NULL};
                return;
        }
        sg_log_parser_feed(&t->parser, data, n);
        t->unsettled = true;
}

static void on_text(const char *data, size_t n, void *userdata)
{
        text_take(userdata, data, n);
}

/* Called from within a look at the journal, which is one for all jobs. */
static void on_message(const char *text, size_t n, void *userdata)
{
        struct sg_job_text *t = userdata;

        begin_step(t->job);
        text_take(t, text, n);
        text_take(t, "\n", 1);
}

/* An evaluation is told once. The other fields are told beside it as they were last, whenever that
 * was. */
static void text_tell(struct sg_job_text *t, const char *source, struct sg_record *out)
{
        struct sg_report *r = &t->parser.report;

        if (t->values.whole_run)
                r->has &= ~(uint32_t)(SG_REPORT_EPOCH | SG_REPORT_EPOCHS);
        if (t->parser.n_reports == t->n_told || r->has == 0)
                return;
        sg_reader_put_report(out, t->job->id, r, t->parser.n_reports - t->n_told,
                             source ? source : t->parser.matched);
        t->n_told = t->parser.n_reports;
        r->has &= ~(uint32_t)(SG_REPORT_EVAL | SG_REPORT_RANGE);
}

static void text_settle(struct sg_job_text *t, bool quiet)
{
        if (quiet && t->unsettled)
                sg_log_parser_settle(&t->parser);
        if (quiet)
                t->unsettled = false;
}

static void look_at_text(struct sg_job_text *t, struct sg_tail *tail, bool last,
                         struct sg_record *out)
{
        uint64_t skipped = tail->skipped_bytes;
        int r;

        if (!t->open)
                return;
        r = last ? sg_tail_look(tail, on_text, t) : sg_tail_glance(tail, on_text, t);
        text_settle(t, last || r <= 0);
        text_tell(t, NULL, out);
        tell_error(t->job, r, tail->path, out);
        if (tail->skipped_bytes > skipped)
                tell(t->job, SG_TROUBLE_SKIPPED, out,
                     "more is written to %s than is read: only the newest is looked at",
                     tail->path);
}

/* --- files */

static void look_at_file(struct sg_reading *j, struct sg_record *out)
{
        struct sg_report report;
        int r;

        if (!j->file.path)
                return;
        r = sg_progress_file_look(&j->file, sg_now_realtime_usec(), &report);
        if (r > 0)
                sg_reader_put_report(out, j->id, &report, 1, "file");
        else if (r == -EBADMSG)
                tell(j, SG_TROUBLE_TEXT, out,
                     "%s is neither a JSON object nor lines key=value that tell of it",
                     j->file.path);
        else if (r == -EFBIG)
                tell(j, SG_TROUBLE_TEXT, out, "%s isn't read: larger than %u KiB", j->file.path,
                     SG_PROGRESS_FILE_MAX >> 10);
        else
                tell_error(j, r, j->file.path, out);
}

static void look_at_events(struct sg_reading *j, struct sg_record *out)
{
        struct sg_report report;
        int r;

        if (!j->events.path)
                return;
        r = sg_events_look(&j->events, &report);
        if (r > 0)
                sg_reader_put_report(out, j->id, &report, (uint64_t)r, "tensorboard");
        else if (r == -EBADMSG)
                tell(j, SG_TROUBLE_EVENTS, out,
                     "an event file in %s is damaged; what follows isn't read", j->events.path);
        else
                tell_error(j, r, j->events.path, out);
}

static void go_to(struct sg_reading *j, enum sg_reader_place place)
{
        j->place = place;
        begin_step(j);
        if (sg_reader_test_hook)
                sg_reader_test_hook(j);
}

void sg_reading_look(struct sg_reading *j, bool last, struct sg_record *out)
{
        j->until_nsec = 0;
        j->slow = false;
        go_to(j, SG_READER_AT_OURS);
        look_at_text(&j->log_text, &j->log, last, out);
        go_to(j, SG_READER_AT_OUTPUT);
        look_at_text(&j->output_text, &j->output, last, out);
        go_to(j, SG_READER_AT_FILE);
        look_at_file(j, out);
        go_to(j, SG_READER_AT_EVENTS);
        look_at_events(j, out);
        j->place = SG_READER_AT_OURS;
        if (j->slow)
                tell(j, SG_TROUBLE_SLOW, out,
                     "the pattern takes too long for all of the output: some of it is "
                     "left out");
}

void sg_reading_tell_journal(struct sg_reading *j, int error, bool last, struct sg_record *out)
{
        if (!j->journal_text.open)
                return;
        text_settle(&j->journal_text, last);
        text_tell(&j->journal_text, "journal", out);
        if (error < 0)
                tell(j, SG_TROUBLE_JOURNAL, out, "cannot read the journal: %s", strerror(-error));
}

/* --- life */

static int open_texts(struct sg_reading *j, const struct sg_follow *f)
{
        int r = 0;

        if (f->log) {
                r = text_open(&j->log_text, j, f);
                if (r >= 0)
                        r = sg_tail_init(&j->log, f->log, SG_TAIL_ANYBODY, f->since_usec);
                j->log.before = f->log_before;
        }
        if (r >= 0 && f->output) {
                r = text_open(&j->output_text, j, f);
                if (r >= 0)
                        r = sg_tail_init(&j->output, f->output, f->uid, f->since_usec);
        }
        return r;
}

static int open_journal(struct sg_reading *j, const struct sg_follow *f, struct sg_journal *journal)
{
        int r = text_open(&j->journal_text, j, f);

        if (r < 0)
                return r;
        j->unit = (struct sg_journal_unit){
                .unit = strdup(f->unit),
                .since_usec = f->since_usec,
                .message = on_message,
                .userdata = &j->journal_text,
        };
        if (!j->unit.unit)
                return -ENOMEM;
        if (f->invocation)
                (void)snprintf(j->unit.invocation, sizeof(j->unit.invocation), "%s", f->invocation);
        j->journal = journal;
        sg_journal_add(journal, &j->unit);
        return 0;
}

static int open_all(struct sg_reading *j, const struct sg_follow *f, struct sg_journal *journal)
{
        bool text = f->pattern || !f->preset || strcmp(f->preset, "none") != 0;
        int r = 0;

        if (f->pattern)
                r = sg_pattern_new(&j->pattern, f->pattern, NULL);
        if (r >= 0 && text)
                r = open_texts(j, f);
        if (r >= 0 && text && f->unit)
                r = open_journal(j, f, journal);
        if (r >= 0 && f->file)
                r = sg_progress_file_init(&j->file, f->file, f->uid, f->since_usec, f->goal);
        if (r >= 0 && f->events)
                r = sg_events_init(&j->events, f->events, f->tag, f->goal);
        j->events.uid = f->uid;
        j->events.since_usec = f->since_usec;
        return r;
}

int sg_reading_new(struct sg_reading **ret, const struct sg_reader_message *m,
                   struct sg_journal *journal, struct sg_record *out)
{
        struct sg_reading *j = calloc(1, sizeof(*j));
        int r;

        if (!j)
                return -ENOMEM;
        sg_list_init(&j->link);
        j->id = m->id;
        j->log.fd = j->output.fd = -1;
        for (size_t i = 0; i < SG_EVENTS_FILES_MAX; i++)
                j->events.files[i].fd = -1;
        r = open_all(j, &m->follow, journal);
        if (r == -ENOMEM) {
                sg_reading_free(j);
                return r;
        }
        if (r < 0) /* checked by the daemon before */
                tell(j, SG_TROUBLE_TEXT, out, "there is no preset '%s'",
                     m->follow.preset ? m->follow.preset : "");
        *ret = j;
        return 0;
}

struct sg_reading *sg_reading_free(struct sg_reading *j)
{
        if (!j)
                return NULL;
        if (j->journal)
                sg_journal_remove(j->journal, &j->unit);
        free(j->unit.unit);
        sg_tail_deinit(&j->log);
        sg_tail_deinit(&j->output);
        sg_log_parser_deinit(&j->log_text.parser);
        sg_log_parser_deinit(&j->output_text.parser);
        sg_log_parser_deinit(&j->journal_text.parser);
        sg_progress_file_deinit(&j->file);
        sg_events_deinit(&j->events);
        sg_pattern_free(j->pattern);
        free(j);
        return NULL;
}

void (*sg_reader_test_hook)(const struct sg_reading *j);
