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

static char root[PATH_MAX - 64];

struct heard {
        struct sg_report report; /* merged */
        uint64_t n_reports, calls, n_trouble, n_finished;
        char source[SG_READER_SOURCE_MAX], trouble[4 * SG_READER_TEXT_MAX];
};

static struct heard heard[8]; /* by the job's n */
static unsigned n_rounds;     /* of which it said that all was told */
static sd_event *event;
static struct sg_job_reader *reader;

static void on_report(const struct sg_job_key *key, const struct sg_report *report,
                      uint64_t n_reports, const char *source, void *userdata)
{
        struct heard *h = &heard[key->n];

        assert_ptr_equal(userdata, heard);
        assert_true(n_reports > 0 && report->has != 0);
        sg_report_merge(&h->report, report);
        h->n_reports += n_reports;
        h->calls++;
        (void)snprintf(h->source, sizeof(h->source), "%s", source);
}

static void on_finished(const struct sg_job_key *key, void *userdata)
{
        assert_ptr_equal(userdata, heard);
        heard[key->n].n_finished++;
}

static void on_trouble(const struct sg_job_key *key, const char *what, void *userdata)
{
        struct heard *h = &heard[key->n];
        size_t n = strlen(h->trouble);

        assert_ptr_equal(userdata, heard);
        assert_null(strchr(what, '\n'));
        h->n_trouble++;
        (void)snprintf(h->trouble + n, sizeof(h->trouble) - n, "%s\n", what);
}

static void on_round(void *userdata)
{
        assert_ptr_equal(userdata, heard);
        n_rounds++;
}

__attribute__((unused)) static int set_up(void **state)
{
        const char *tmp = getenv("TMPDIR");

        (void)state;
        memset(heard, 0, sizeof(heard));
        n_rounds = 0;
        sg_reader_check_usec = 5 * SG_USEC_PER_SEC;
        (void)snprintf(root, sizeof(root), "%s/sg-test-reader.XXXXXX", tmp ? tmp : "/tmp");
        return mkdtemp(root) ? 0 : -1;
}

__attribute__((unused)) static int tear_down(void **state)
{
        (void)state;
        reader = sg_job_reader_free(reader);
        event = sd_event_unref(event);
        sg_reader_test_hook = NULL;
        return sg_remove_tree(AT_FDCWD, root);
}

/* A name in the directory; valid until the fourth call from here. */
__attribute__((unused)) static const char *in(const char *name)
{
        static char paths[4][PATH_MAX];
        static unsigned n;
        char *path = paths[n++ % SG_ELEMENTSOF(paths)];

        assert_int_equal(sg_path_join(path, PATH_MAX, root, name), 0);
        return path;
}

__attribute__((unused)) static void write_to(const char *name, int flags, const char *text,
                                             size_t n)
{
        _cleanup_close_ int fd = open(in(name), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

        assert_true(fd >= 0);
        assert_int_equal(sg_write_all(fd, text, n), 0);
}

__attribute__((unused)) static void put(const char *name, const char *text)
{
        write_to(name, O_TRUNC, text, strlen(text));
}

__attribute__((unused)) static void add(const char *name, const char *text)
{
        write_to(name, O_APPEND, text, strlen(text));
}

__attribute__((unused)) static void start_reader(const char *journal_dir)
{
        const struct sg_job_reader_calls calls = {
                .report = on_report,
                .finished = on_finished,
                .trouble = on_trouble,
                .round = on_round,
                .userdata = heard,
        };

        assert_int_equal(sg_job_reader_start(&reader, journal_dir), 0);
        assert_true(sd_event_new(&event) >= 0);
        assert_true(sg_job_reader_attach(reader, event, &calls) >= 0);
}

__attribute__((unused)) static struct sg_job_key key_of(uint64_t n)
{
        return (struct sg_job_key){.origin = "here", .n = n, .attempt = 1};
}

__attribute__((unused)) static void follow(uint64_t n, struct sg_follow f)
{
        f.key = key_of(n);
        f.uid = f.uid ? f.uid : geteuid();
        assert_int_equal(sg_job_reader_follow(reader, &f), 0);
}

__attribute__((unused)) static void follow_log(uint64_t n, const char *name)
{
        follow(n, (struct sg_follow){.log = in(name)});
}

__attribute__((unused)) static int finish(uint64_t n)
{
        struct sg_job_key key = key_of(n);

        return sg_job_reader_finish(reader, &key);
}

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
