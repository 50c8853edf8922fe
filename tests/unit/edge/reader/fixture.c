/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See fixture.h. */
#include "tests/unit/edge/reader/fixture.h"

char root[PATH_MAX - 64];
struct heard heard[8];
unsigned n_rounds;
sd_event *event;
struct sg_job_reader *reader;

static void on_report(const struct sg_job_key *key, const struct sg_report *report,
                      uint64_t n_reports, const char *source, void *userdata)
{
        struct heard *h = &heard[key->n];

        assert_ptr_equal(userdata, heard);
        assert_true(n_reports > 0);
        assert_true(report->has != 0);
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

const struct sg_job_reader_calls calls = {
        .report = on_report,
        .finished = on_finished,
        .trouble = on_trouble,
        .round = on_round,
        .userdata = heard,
};

int set_up(void **state)
{
        const char *tmp = getenv("TMPDIR");

        (void)state;
        memset(heard, 0, sizeof(heard));
        n_rounds = 0;
        sg_reader_check_usec = 5 * SG_USEC_PER_SEC;
        (void)snprintf(root, sizeof(root), "%s/sg-test-reader.XXXXXX", tmp ? tmp : "/tmp");
        return mkdtemp(root) ? 0 : -1;
}

int tear_down(void **state)
{
        (void)state;
        reader = sg_job_reader_free(reader);
        event = sd_event_unref(event);
        sg_reader_test_hook = NULL;
        return sg_remove_tree(AT_FDCWD, root);
}

const char *in(const char *name)
{
        static char paths[4][PATH_MAX];
        static unsigned n;
        char *path = paths[n++ % SG_ELEMENTSOF(paths)];

        assert_int_equal(sg_path_join(path, PATH_MAX, root, name), 0);
        return path;
}

void write_to(const char *name, int flags, const char *text, size_t n)
{
        _cleanup_close_ int fd = open(in(name), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

        assert_true(fd >= 0);
        assert_int_equal(sg_write_all(fd, text, n), 0);
}

void put(const char *name, const char *text)
{
        write_to(name, O_TRUNC, text, strlen(text));
}

void add(const char *name, const char *text)
{
        write_to(name, O_APPEND, text, strlen(text));
}

void start_reader(const char *journal_dir)
{
        assert_int_equal(sg_job_reader_start(&reader, journal_dir), 0);
        assert_true(sd_event_new(&event) >= 0);
        assert_true(sg_job_reader_attach(reader, event, &calls) >= 0);
}

struct sg_job_key key_of(uint64_t n)
{
        return (struct sg_job_key){.origin = "here", .n = n, .attempt = 1};
}

void follow(uint64_t n, struct sg_follow f)
{
        f.key = key_of(n);
        f.uid = f.uid ? f.uid : geteuid();
        assert_int_equal(sg_job_reader_follow(reader, &f), 0);
}

void follow_log(uint64_t n, const char *name)
{
        follow(n, (struct sg_follow){.log = in(name)});
}

int finish(uint64_t n)
{
        struct sg_job_key key = key_of(n);

        return sg_job_reader_finish(reader, &key);
}
