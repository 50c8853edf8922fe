/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Series of points: how they are thinned out, and their files over crashes and damage. */

#include "tests/unit/test.h"

#include "base/file.h"
#include "base/parse.h"
#include "core/measure/series.h"
#include "edge/history/series-file.h"
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SEC 1000000ULL
#define START (1800000000 * SEC)

static struct sg_point point(uint64_t sec, double eval, float cpu)
{
        return (struct sg_point){.time_usec = START + sec * SEC,
                                 .eval = eval,
                                 .step = sec,
                                 .memory_bytes = sec,
                                 .cpu = cpu,
                                 .share = 0.5F};
}

static void assert_in_order(const struct sg_series *s)
{
        assert_in_range(s->n, 1, SG_SERIES_MAX);
        for (uint64_t i = 1; i < s->n; i++)
                assert_true(s->points[i].time_usec > s->points[i - 1].time_usec);
}

/* CPU time is the area below: it has to survive whatever is merged. */
static double area(const struct sg_series *s)
{
        double sum = 0;

        for (uint64_t i = 1; i < s->n; i++)
                sum += (double)s->points[i].cpu *
                       (double)(s->points[i].time_usec - s->points[i - 1].time_usec) / 1e6;
        return sum;
}

static void a_long_series_keeps_its_ends_and_its_cpu_time(void **state)
{
        struct sg_series s = {0};
        double used = 0;

        (void)state;
        for (uint64_t i = 0; i <= 100000; i++) {
                struct sg_point p = point(i, 1.0 / (double)(i + 1), (float)(i % 4));

                sg_series_add(&s, &p);
                if (i > 0)
                        used += (double)(i % 4);
        }
        assert_in_order(&s);
        assert_in_range(s.n, SG_SERIES_MAX / 2, SG_SERIES_MAX);
        assert_int_equal(s.points[0].time_usec, START);
        assert_true(s.points[0].eval > 0.99);
        assert_int_equal(s.points[s.n - 1].time_usec, START + 100000 * SEC);
        assert_int_equal(s.points[s.n - 1].step, 100000);
        assert_int_equal(s.points[s.n - 1].memory_bytes, 100000);
        assert_near(area(&s) / used, 1, 1e-4);
        for (uint64_t i = 2; i + 1 < s.n; i++) /* evenly */
                assert_in_range(s.points[i].time_usec - s.points[i - 1].time_usec,
                                s.spacing_usec / 2, s.spacing_usec * 2);
}

static void short_ones_are_kept_as_they_are(void **state)
{
        struct sg_series s = {0};

        (void)state;
        for (uint64_t i = 0; i < SG_SERIES_MAX; i++) {
                struct sg_point p = point(i * i + i, (double)i, 1);

                sg_series_add(&s, &p);
                assert_memory_equal(&s.points[i], &p, sizeof(p));
        }
        assert_int_equal(s.n, SG_SERIES_MAX);
        assert_int_equal(s.spacing_usec, 0);
}

static void uneven_rounds_stay_bounded(void **state)
{
        static const uint64_t step[] = {1, 1, 10, 60, 1, 3600, 2, 86400};
        struct sg_series s = {0};
        uint64_t at = 1;

        (void)state;
        for (unsigned i = 0; i < 200000; i++) {
                struct sg_point p = point(at, 1, 1);

                sg_series_add(&s, &p);
                at += step[i / 700 % SG_ELEMENTSOF(step)];
                assert_int_equal(s.points[s.n - 1].time_usec, p.time_usec);
        }
        assert_in_order(&s);
        assert_int_equal(s.points[0].time_usec, START + SEC);
}

static void what_is_not_known_spoils_nothing(void **state)
{
        struct sg_point p = {.time_usec = START,
                             .eval = NAN,
                             .step = SG_UNLIMITED,
                             .memory_bytes = SG_UNLIMITED,
                             .cpu = NAN,
                             .share = NAN};
        struct sg_series s = {.spacing_usec = 10 * SEC};

        (void)state;
        sg_series_add(&s, &p);
        p.time_usec += SEC;
        sg_series_add(&s, &p);
        assert_int_equal(s.n, 2);
        assert_true(isnan(s.points[1].cpu));
        assert_true(isnan(s.points[1].eval));
        p = point(2, 0.5, 2);
        sg_series_add(&s, &p); /* belongs to the second */
        assert_int_equal(s.n, 2);
        assert_near(s.points[1].cpu, 2, 0);
        assert_near(s.points[1].eval, 0.5, 0);
        assert_int_equal(s.points[1].step, 2);
        p = point(3, NAN, NAN);
        p.step = p.memory_bytes = SG_UNLIMITED;
        sg_series_add(&s, &p);
        assert_near(s.points[1].cpu, 2, 0);
        assert_near(s.points[1].eval, 0.5, 0);
        assert_near(s.points[1].share, 0.5F, 0);
        assert_int_equal(s.points[1].step, 2);
        assert_int_equal(s.points[1].memory_bytes, 2);
        assert_int_equal(s.points[1].time_usec, START + 3 * SEC);
}

static void a_clock_that_is_set_back_stands_still(void **state)
{
        struct sg_point p = point(100, 1, 1), back = point(50, 2, 3);
        struct sg_series s = {0};

        (void)state;
        sg_series_add(&s, &p);
        sg_series_add(&s, &back);
        assert_int_equal(s.n, 1);
        assert_int_equal(s.points[0].time_usec, p.time_usec);
        assert_true(s.points[0].eval == 2);
        p = point(101, 1, 1);
        sg_series_add(&s, &p);
        assert_int_equal(s.n, 2);
        assert_true(s.points[1].cpu == 1);
}

/* A kill while it is being thinned out, at any store: the thinned head in front of what was. */
static void half_thinned_out_is_repaired(void **state)
{
        static struct sg_series full, thin, torn;

        (void)state;
        full = thin = (struct sg_series){0};
        for (uint64_t i = 0; i < SG_SERIES_MAX; i++) {
                struct sg_point p = point(i, 1, (float)(i % 3));

                sg_series_add(&full, &p);
        }
        thin = full;
        for (uint64_t i = 0; i < 2; i++) {
                struct sg_point p = point(SG_SERIES_MAX + 10 * i, 1, 1);

                sg_series_add(&thin, &p);
        }
        for (uint64_t done = 1; done < SG_SERIES_MAX / 2; done++) {
                torn = full;
                memcpy(torn.points, thin.points, done * sizeof(torn.points[0]));
                assert_int_equal(sg_series_repair(&torn), done - 1);
                assert_in_order(&torn);
                assert_near(area(&torn), area(&full), 1e-3);
                assert_int_equal(sg_series_repair(&torn), 0);
        }
}

static void garbage_is_repaired(void **state)
{
        static struct sg_series s;

        (void)state;
        memset(&s, 0xff, sizeof(s));
        (void)sg_series_repair(&s);
        assert_int_equal(s.n, 1);
        assert_int_equal(s.spacing_usec, 0);
        assert_true(isnan(s.points[0].cpu));
        s = (struct sg_series){.n = 40, .spacing_usec = 5};
        assert_int_equal(sg_series_repair(&s), 40);
        assert_int_equal(s.n, 0);
}

/* --- the file --- */

static char dir[64];
static const struct sg_job_key key = {.origin = "node", .n = 7, .attempt = 1};

static int make_dir(void **state)
{
        (void)state;
        (void)strcpy(dir, "/tmp/sg-series-XXXXXX");
        return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
        (void)state;
        return sg_remove_tree(AT_FDCWD, dir);
}

static const char *path(void)
{
        static char buf[128];

        (void)snprintf(buf, sizeof(buf), "%s/series/7-node", dir);
        return buf;
}

static struct sg_series *fill(uint64_t n)
{
        struct sg_series *s;

        assert_int_equal(sg_series_open(dir, &key, &s), 0);
        for (uint64_t i = 0; i < n; i++) {
                struct sg_point p = point(i, 1, 1);

                sg_series_add(s, &p);
        }
        return s;
}

static uint64_t read_n(void)
{
        _cleanup_free_ struct sg_series *s = NULL;

        assert_int_equal(sg_series_read(dir, &key, &s), 0);
        return s->n;
}

static void a_file_is_what_it_was(void **state)
{
        struct sg_series *s = fill(10);
        struct stat st;

        (void)state;
        assert_int_equal(read_n(), 10); /* while it is open, too */
        assert_int_equal(stat(path(), &st), 0);
        assert_int_equal(st.st_size, 20480);
        assert_true(st.st_blocks * 512 >= st.st_size); /* a full disk does no harm any more */
        assert_int_equal(st.st_mode & 0777, 0600);
        assert_null(sg_series_close(s));
        s = fill(0);
        assert_int_equal(s->n, 10);
        assert_null(sg_series_finish(dir, &key, s));
        assert_int_equal(stat(path(), &st), 0);
        assert_int_equal(st.st_size, 64 + 16 + 10 * 40);
        assert_int_equal(read_n(), 10);
        s = fill(0); /* another attempt */
        for (uint64_t i = 10; i < 20; i++) {
                struct sg_point p = point(i, 1, 1);

                sg_series_add(s, &p);
        }
        assert_null(sg_series_close(s));
        assert_int_equal(read_n(), 20);
        assert_int_equal(unlink(path()), 0);
        assert_int_equal(sg_series_read(dir, &key, &s), -ENOENT);
}

static void a_killed_writer_loses_nothing(void **state)
{
        int status;
        pid_t pid = fork();

        (void)state;
        assert_true(pid >= 0);
        if (pid == 0) {
                (void)fill(300);
                (void)kill(getpid(), SIGKILL);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(read_n(), 300);
}

/* A byte of the header, or its end, and it is something else: started anew. */
static void damage_is_noticed(void **state)
{
        struct sg_series *s = sg_series_close(fill(3));

        (void)state;
        for (off_t at = 0; at < 24; at++) {
                _cleanup_close_ int fd = open(path(), O_RDWR | O_CLOEXEC);
                char c;

                assert_int_equal(pread(fd, &c, 1, at), 1);
                c ^= 1;
                assert_int_equal(pwrite(fd, &c, 1, at), 1);
                assert_int_equal(sg_series_read(dir, &key, &s), -EBADMSG);
                s = fill(0);
                assert_int_equal(s->n, 0);
                (void)sg_series_close(s);
                (void)sg_series_close(fill(3));
        }
        assert_int_equal(truncate(path(), 30), 0);
        assert_int_equal(sg_series_read(dir, &key, &s), -EBADMSG);
        (void)sg_series_close(fill(2));
        assert_int_equal(read_n(), 2);
        assert_int_equal(truncate(path(), 0), 0); /* made, and then a crash */
        (void)sg_series_close(fill(4));
        assert_int_equal(read_n(), 4);
}

static void a_link_is_not_followed(void **state)
{
        struct sg_series *s;

        (void)state;
        (void)sg_series_close(fill(1));
        assert_int_equal(unlink(path()), 0);
        assert_int_equal(symlink("/dev/null", path()), 0);
        assert_int_equal(sg_series_open(dir, &key, &s), -ELOOP);
}

/* No room: that is said at once, not by a signal later, and nothing half made is left. */
static void a_full_disk_is_said_at_the_start(void **state)
{
        struct rlimit before, small = {.rlim_cur = 4096};
        struct sg_series *s;

        (void)state;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        small.rlim_max = before.rlim_max;
        assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        assert_int_equal(sg_series_open(dir, &key, &s), -EFBIG);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(access(path(), F_OK), -1);
        (void)sg_series_close(fill(3));
        assert_int_equal(read_n(), 3);
}

#define JOBS 1000

static uint64_t anonymous_kib(void)
{
        _cleanup_free_ char *text = NULL;
        const char *p;

        assert_int_equal(sg_read_file(AT_FDCWD, "/proc/self/status", 65536, &text, NULL), 0);
        p = strstr(text, "RssAnon:");
        assert_non_null(p);
        return strtoull(p + 8, NULL, 10);
}

static void a_thousand_cost_no_memory(void **state)
{
        static struct sg_series *all[JOBS];
        uint64_t before = anonymous_kib();

        (void)state;
        for (uint64_t n = 0; n < JOBS; n++) {
                struct sg_job_key k = {.origin = "node", .n = n + 1};

                assert_int_equal(sg_series_open(dir, &k, &all[n]), 0);
                for (uint64_t i = 0; i < 600; i++) {
                        struct sg_point p = point(i, 1, 1);

                        sg_series_add(all[n], &p);
                }
        }
        assert_in_range(anonymous_kib() - before, 0, 256);
        for (uint64_t n = 0; n < JOBS; n++)
                (void)sg_series_close(all[n]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_long_series_keeps_its_ends_and_its_cpu_time),
                cmocka_unit_test(short_ones_are_kept_as_they_are),
                cmocka_unit_test(uneven_rounds_stay_bounded),
                cmocka_unit_test(what_is_not_known_spoils_nothing),
                cmocka_unit_test(a_clock_that_is_set_back_stands_still),
                cmocka_unit_test(half_thinned_out_is_repaired),
                cmocka_unit_test(garbage_is_repaired),
                cmocka_unit_test_setup_teardown(a_file_is_what_it_was, make_dir, drop_dir),
                cmocka_unit_test_setup_teardown(a_killed_writer_loses_nothing, make_dir, drop_dir),
                cmocka_unit_test_setup_teardown(damage_is_noticed, make_dir, drop_dir),
                cmocka_unit_test_setup_teardown(a_link_is_not_followed, make_dir, drop_dir),
                cmocka_unit_test_setup_teardown(a_full_disk_is_said_at_the_start, make_dir,
                                                drop_dir),
                cmocka_unit_test_setup_teardown(a_thousand_cost_no_memory, make_dir, drop_dir),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
