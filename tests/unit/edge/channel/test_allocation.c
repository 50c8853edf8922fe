/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What jobs are told about their share: how it is decided, and the file that says it. */
#include "base/file.h"
#include "core/place/allocation.h"
#include "edge/channel/allocation.h"
#include "proto/team.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>

static const struct sg_job_key key = {.origin = "host", .n = 12, .attempt = 3};

static struct sg_cpuset set_of(const char *text)
{
        struct sg_cpuset set;

        assert_int_equal(sg_parse_cpuset(text, &set), 0);
        return set;
}

/* --- deciding --- */

static void expect(const char *node, const char *pinned, uint64_t cpus, uint64_t quota_pm,
                   uint64_t threads, uint64_t cpus_pm)
{
        struct sg_cpuset n = set_of(node), p = set_of(pinned ? pinned : "");
        struct sg_allocation_input in = {
                .node = &n, .pinned = pinned ? &p : NULL, .cpus = cpus, .quota_pm = quota_pm};
        struct sg_allocation a = {.seq = 5};

        sg_allocation_decide(&a, &in);
        assert_int_equal(a.threads, threads);
        assert_int_equal(a.cpus_pm, cpus_pm);
        assert_int_equal(a.seq, 5);
        assert_memory_equal(&a.cpus, pinned ? &p : &n, sizeof(n));
}

static void test_threads(void **state)
{
        (void)state;
        expect("0-7", NULL, 0, SG_UNLIMITED, 8, 80000);
        expect("0-7", NULL, 4, SG_UNLIMITED, 4, 40000);
        expect("0-7", NULL, 16, SG_UNLIMITED, 8, 80000);
        expect("0-7", "2,5", 4, SG_UNLIMITED, 2, 20000);
        expect("0-7", NULL, 4, 15000, 2, 15000);
        expect("0-7", NULL, 4, 20000, 2, 20000);
        expect("0-7", NULL, 4, 20001, 3, 20001);
        expect("0-1", NULL, 2, 5000, 1, 5000);
        expect("0-1", NULL, 0, 1000000, 2, 20000);
        expect("0-1", NULL, 0, 0, 1, 0);
        expect("", NULL, 0, SG_UNLIMITED, 1, 10000);
        expect("", NULL, 3, SG_UNLIMITED, 3, 30000);
        expect("0-1023", NULL, UINT64_MAX, SG_UNLIMITED, 1024, 10240000);
}

static void test_nothing_known(void **state)
{
        struct sg_allocation_input in = {.cpus = 6, .quota_pm = SG_UNLIMITED};
        struct sg_allocation a = {0};
        char text[SG_ALLOCATION_TEXT_MAX];

        (void)state;
        sg_allocation_decide(&a, &in);
        assert_int_equal(a.threads, 6);
        assert_true(sg_allocation_format(&a, text, sizeof(text)) > 0);
        assert_string_equal(text, "VERSION=1\nSEQ=0\nCPUS=6.0000\nTHREADS=6\n");
}

/* --- the text --- */

static void sample(struct sg_allocation *a)
{
        struct sg_cpuset cpus = set_of("0-2,5");
        struct sg_allocation_input in = {.node = &cpus,
                                         .quota_pm = 12345,
                                         .gpus = "GPU-1,GPU-2",
                                         .deadline_usec = 1790000000000000};

        *a = (struct sg_allocation){0};
        sg_allocation_decide(a, &in);
}

static void test_text(void **state)
{
        struct sg_allocation a;
        char text[SG_ALLOCATION_TEXT_MAX];
        int n;

        (void)state;
        sample(&a);
        a.seq = 41;
        n = sg_allocation_format(&a, text, sizeof(text));
        assert_string_equal(text, "VERSION=1\nSEQ=41\nCPUS=1.2345\nTHREADS=2\nCPU_LIST=0-2,5\n"
                                  "GPUS=GPU-1,GPU-2\nDEADLINE_USEC=1790000000000000\n");
        assert_int_equal(n, strlen(text));
        assert_int_equal(sg_allocation_text_seq(text), 41);
        for (size_t size = 1; size <= (size_t)n; size++)
                assert_int_equal(sg_allocation_format(&a, text, size), -ENOSPC);
}

static void test_text_seq(void **state)
{
        (void)state;
        assert_int_equal(sg_allocation_text_seq(""), 0);
        assert_int_equal(sg_allocation_text_seq("VERSION=1\nSEQ=18446744073709551615\n"),
                         UINT64_MAX);
        assert_int_equal(sg_allocation_text_seq("VERSION=1\nSEQ=18446744073709551616\n"), 0);
        assert_int_equal(sg_allocation_text_seq("VERSION=1\nSEQ=-1\n"), 0);
        assert_int_equal(sg_allocation_text_seq("VERSION=1\nSEQ=\n"), 0);
        assert_int_equal(sg_allocation_text_seq("VERSION=1\nSEQ=00000000000000000000000000007\n"),
                         0);
        assert_int_equal(sg_allocation_text_seq("VERSION=1\nXSEQ=7\nSEQ=8"), 8);
}

/* Everything at its largest fits. */
static void test_text_largest(void **state)
{
        struct sg_allocation a = {.seq = UINT64_MAX,
                                  .cpus_pm = UINT64_MAX,
                                  .threads = UINT64_MAX,
                                  .gpus_known = true,
                                  .deadline_usec = UINT64_MAX};
        char text[SG_ALLOCATION_TEXT_MAX];

        (void)state;
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu += 2)
                sg_cpuset_add(&a.cpus, cpu);
        memset(a.gpus, 'g', sizeof(a.gpus) - 1);
        assert_true(sg_allocation_format(&a, text, sizeof(text)) > 0);
}

static void test_too_many_gpus(void **state)
{
        struct sg_allocation a = {0};
        char gpus[3000];

        (void)state;
        for (size_t i = 0; i < sizeof(gpus); i += 10)
                memcpy(gpus + i, "GPU-1234,,", 10);
        gpus[sizeof(gpus) - 1] = '\0';
        sg_allocation_decide(&a, &(struct sg_allocation_input){.gpus = gpus});
        assert_true(strlen(a.gpus) < sizeof(a.gpus));
        assert_true(strlen(a.gpus) > sizeof(a.gpus) - 12);
        assert_int_not_equal(gpus[strlen(a.gpus)], '-');
        assert_int_equal(gpus[strlen(a.gpus)], ',');
}

/* --- the file --- */

struct fixture {
        char dir[40], root[64];
        struct sg_allocations *a;
};

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        *state = f;
        strcpy(f->dir, "/tmp/sg-allocation-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        assert_int_equal(sg_path_join(f->root, sizeof(f->root), f->dir, "allocation"), 0);
        mode_t old = umask(0077);
        assert_int_equal(sg_allocations_open(&f->a, f->root), 0);
        umask(old);
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        f->a = sg_allocations_close(f->a);
        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        free(f);
        return 0;
}

static char *content(struct fixture *f, const struct sg_job_key *k)
{
        char path[256], *text;

        assert_int_equal(sg_allocations_path(f->a, k, path, sizeof(path)), 0);
        assert_int_equal(sg_read_file(AT_FDCWD, path, 8192, &text, NULL), 0);
        return text;
}

static mode_t mode_of(const char *path)
{
        struct stat st;

        assert_return_code(stat(path, &st), errno);
        return st.st_mode & 07777;
}

static void test_publish(void **state)
{
        struct fixture *f = *state;
        struct sg_allocation a;
        char path[256];

        sample(&a);
        assert_int_equal(sg_allocations_publish(f->a, &key, &a), 1);
        assert_int_equal(a.seq, 1);
        assert_int_equal(sg_allocations_publish(f->a, &key, &a), 0);
        assert_int_equal(a.seq, 1);
        a.threads = 1;
        assert_int_equal(sg_allocations_publish(f->a, &key, &a), 1);
        assert_int_equal(a.seq, 2);

        _cleanup_free_ char *text = content(f, &key);
        assert_non_null(strstr(text, "SEQ=2\n"));
        assert_non_null(strstr(text, "THREADS=1\n"));
        assert_int_equal(sg_allocations_path(f->a, &key, path, sizeof(path)), 0);
        assert_int_equal(mode_of(path), 0644);
        *strrchr(path, '/') = '\0';
        assert_non_null(strstr(path, "/12-host-3"));
        assert_int_equal(mode_of(path), 0755);
        assert_int_equal(mode_of(f->root), 0711); /* not to be listed */
        assert_int_equal(sg_allocations_path(f->a, &key, path, 20), -ENAMETOOLONG);
        assert_int_equal(sg_allocations_socket_path(f->a, &key, path, sizeof(path)), 0);
        assert_non_null(strstr(path, "/12-host-3/notify"));
}

/* A new daemon knows nothing but the file. */
static void test_publish_goes_on(void **state)
{
        struct fixture *f = *state;
        struct sg_allocation a, b;

        sample(&a);
        for (unsigned i = 0; i < 5; i++) {
                a.threads = i + 1;
                assert_int_equal(sg_allocations_publish(f->a, &key, &a), 1);
        }
        f->a = sg_allocations_close(f->a);
        assert_int_equal(sg_allocations_open(&f->a, f->root), 0);
        sample(&b);
        b.threads = 5;
        assert_int_equal(sg_allocations_publish(f->a, &key, &b), 0);
        assert_int_equal(b.seq, 5);
        b.threads = 6;
        assert_int_equal(sg_allocations_publish(f->a, &key, &b), 1);
        assert_int_equal(b.seq, 6);
}

/* Whoever took it away, or wrote something else: it is there again, with a higher number. */
static void test_publish_repairs(void **state)
{
        struct fixture *f = *state;
        struct sg_allocation a;
        char path[256];

        sample(&a);
        assert_int_equal(sg_allocations_publish(f->a, &key, &a), 1);
        assert_int_equal(sg_allocations_remove(f->a, &key), 0);
        assert_int_equal(sg_allocations_remove(f->a, &key), 0);
        assert_int_equal(sg_allocations_publish(f->a, &key, &a), 1);
        assert_int_equal(a.seq, 2);

        assert_int_equal(sg_allocations_path(f->a, &key, path, sizeof(path)), 0);
        assert_int_equal(truncate(path, 0), 0);
        assert_int_equal(sg_allocations_publish(f->a, &key, &a), 1);
        _cleanup_free_ char *text = content(f, &key);
        assert_non_null(strstr(text, "THREADS=2\n"));
}

/* One event for whoever watches this job's directory, none for others; never half a file. */
static void test_watchers(void **state)
{
        struct fixture *f = *state;
        struct sg_job_key other = key;
        struct sg_allocation a;
        char path[256], events[4096];

        other.n++;
        sample(&a);
        assert_int_equal(sg_allocations_publish(f->a, &key, &a), 1);
        assert_int_equal(sg_allocations_path(f->a, &key, path, sizeof(path)), 0);
        *strrchr(path, '/') = '\0';
        _cleanup_close_ int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        assert_return_code(inotify_add_watch(fd, path, IN_MOVED_TO), errno);

        assert_int_equal(sg_allocations_publish(f->a, &other, &a), 1);
        assert_int_equal(sg_allocations_publish(f->a, &key, &a), 0);
        assert_int_equal(read(fd, events, sizeof(events)), -1);
        a.threads = 7;
        assert_int_equal(sg_allocations_publish(f->a, &key, &a), 1);
        assert_return_code(read(fd, events, sizeof(events)), errno);
        assert_string_equal(((struct inotify_event *)events)->name, "allocation");
        assert_int_equal(read(fd, events, sizeof(events)), -1);
}

static bool is_twelve(const struct sg_job_key *k, void *userdata)
{
        unsigned *asked = userdata;

        (*asked)++;
        return k->n == 12;
}

static void test_sweep(void **state)
{
        struct fixture *f = *state;
        struct sg_allocation a;
        struct sg_job_key k = key;
        char path[256];
        unsigned asked = 0;

        sample(&a);
        for (k.n = 10; k.n < 15; k.n++)
                assert_int_equal(sg_allocations_publish(f->a, &k, &a), 1);
        assert_int_equal(sg_path_join(path, sizeof(path), f->root, "not-ours"), 0);
        assert_int_equal(mkdir(path, 0700), 0);
        assert_int_equal(sg_allocations_sweep(f->a, is_twelve, &asked), 0);
        assert_int_equal(asked, 5);
        assert_int_equal(access(path, F_OK), 0);
        for (k.n = 10; k.n < 15; k.n++) {
                assert_int_equal(sg_allocations_path(f->a, &k, path, sizeof(path)), 0);
                assert_int_equal(access(path, F_OK), k.n == 12 ? 0 : -1);
        }
}

static void team_path(struct fixture *f, const struct sg_job_key *k, char *buf, size_t size)
{
        char path[256], name[SG_TEAM_NAME_MAX];

        assert_int_equal(sg_allocations_path(f->a, k, path, sizeof(path)), 0);
        sg_team_name(name, path);
        assert_int_equal(sg_path_join(buf, size, SG_TEAM_DIR, name), 0);
}

static void make_team(struct fixture *f, const struct sg_job_key *k, char *buf, size_t size)
{
        team_path(f, k, buf, size);
        assert_int_equal(sg_replace_file(AT_FDCWD, buf, "", 0, 0600), 0);
}

/* Of each attempt its own, at its end or when a daemon finds that it is over. */
static void test_team(void **state)
{
        struct fixture *f = *state;
        struct sg_job_key other = key;
        struct sg_allocation a;
        char path[128], others[128];
        unsigned asked = 0;

        other.n++;
        sample(&a);
        make_team(f, &key, path, sizeof(path));
        make_team(f, &other, others, sizeof(others));
        assert_string_not_equal(path, others);
        assert_int_equal(sg_allocations_remove(f->a, &key), 0);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(access(others, F_OK), 0);
        assert_int_equal(sg_allocations_publish(f->a, &other, &a), 1);
        assert_int_equal(sg_allocations_sweep(f->a, is_twelve, &asked), 0);
        assert_int_equal(access(others, F_OK), -1);
}

static void test_team_that_is_none(void **state)
{
        struct fixture *f = *state;
        char path[128], target[256];

        team_path(f, &key, path, sizeof(path));
        assert_int_equal(sg_path_join(target, sizeof(target), f->dir, "target"), 0);
        assert_int_equal(sg_replace_file(AT_FDCWD, target, "", 0, 0600), 0);
        assert_return_code(symlink(target, path), errno);
        assert_int_equal(sg_allocations_remove(f->a, &key), 0);
        assert_int_equal(access(target, F_OK), 0);
        assert_return_code(unlink(path), errno);
        assert_return_code(mkdir(path, 0700), errno);
        assert_int_equal(sg_allocations_remove(f->a, &key), 0);
        assert_return_code(rmdir(path), errno);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_threads),
                cmocka_unit_test(test_nothing_known),
                cmocka_unit_test(test_text),
                cmocka_unit_test(test_text_seq),
                cmocka_unit_test(test_text_largest),
                cmocka_unit_test(test_too_many_gpus),
                cmocka_unit_test_setup_teardown(test_publish, setup, teardown),
                cmocka_unit_test_setup_teardown(test_publish_goes_on, setup, teardown),
                cmocka_unit_test_setup_teardown(test_publish_repairs, setup, teardown),
                cmocka_unit_test_setup_teardown(test_watchers, setup, teardown),
                cmocka_unit_test_setup_teardown(test_sweep, setup, teardown),
                cmocka_unit_test_setup_teardown(test_team, setup, teardown),
                cmocka_unit_test_setup_teardown(test_team_that_is_none, setup, teardown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
