/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The files that a job is given, as it reads them. */
#include "base/file.h"
#include "client/allocation-text.h"
#include "client/follow.h"
#include "core/place/allocation.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sys/stat.h>

/* --- texts --- */

static int parse(const char *text, struct sgc_allocation *a)
{
        return sgc_allocation_parse(text, strlen(text), a);
}

static void test_texts(void **state)
{
        static const char *const bad[] = {
                "THREADS=0\n",
                "THREADS=\n",
                "THREADS=-1\n",
                "THREADS=2x\n",
                "THREADS=65537\n",
                "VERSION=2\n",
                "SEQ=1\nnothing\n",
                "CPUS=1.23456\n",
                "CPUS=.\n",
                "CPUS=1.\n",
                "CPUS=.5\n",
                "CPUS=1,5\n",
                "CPUS=9999999999999999999\n",
                "SEQ=99999999999999999999\n",
                "DEADLINE_USEC=x\n",
        };
        struct sgc_allocation a = {.seq = 99}, b;
        uint64_t threads = 0;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++) {
                if (parse(bad[i], &a) != -EBADMSG)
                        fail_msg("accepted: %s", bad[i]);
                assert_int_equal(a.seq, 99);
        }
        assert_int_equal(sgc_allocation_parse("SEQ=1\0\n", 7, &a), -EBADMSG);
        assert_int_equal(parse("VERSION=1\nLATER=x\nTHREADS=3\nCPUS=0.5", &a), 0);
        assert_int_equal(a.threads, 3);
        assert_int_equal(a.cpus_pm, 5000);
        assert_int_equal(parse("", &b), 0);
        assert_int_equal(b.threads, 0);
        assert_int_equal(sgc_threads_parse("", 0, &threads), -EBADMSG);
        assert_int_equal(sgc_threads_parse("VERSION=1\nTHREADS=5", 19, &threads), 0);
        assert_int_equal(threads, 5);
}

/* What the governor writes is what the job reads, whatever it is. */
static void test_round_trip(void **state)
{
        struct sg_allocation out = {.seq = UINT64_MAX,
                                    .cpus_pm = 10000ULL * 1024,
                                    .threads = 1024,
                                    .gpus_known = true,
                                    .deadline_usec = UINT64_MAX};
        static struct sgc_allocation in;
        char text[SG_ALLOCATION_TEXT_MAX];

        (void)state;
        for (unsigned cpu = 0; cpu < SG_CPUS_MAX; cpu += 2)
                sg_cpuset_add(&out.cpus, cpu);
        memset(out.gpus, 'g', sizeof(out.gpus) - 1);
        int n = sg_allocation_format(&out, text, sizeof(text));
        assert_in_range(n, 1, SGC_TEXT_MAX - 1);
        assert_int_equal(sgc_allocation_parse(text, (size_t)n, &in), 0);
        assert_int_equal(in.seq, out.seq);
        assert_int_equal(in.cpus_pm, out.cpus_pm);
        assert_int_equal(in.threads, out.threads);
        assert_int_equal(in.deadline_usec, out.deadline_usec);
        assert_string_equal(in.gpus, out.gpus);
        struct sg_cpuset set;
        assert_int_equal(sg_parse_cpuset(in.cpu_list, &set), 0);
        assert_memory_equal(&set, &out.cpus, sizeof(set));
}

/* --- following a file, whatever becomes of it --- */

static void put(const char *path, const char *text)
{
        assert_int_equal(sg_replace_file(AT_FDCWD, path, text, strlen(text), 0644), 0);
}

static void test_follow(void **state)
{
        char dir[] = "/tmp/sg-follow-XXXXXX", path[64], buf[64];
        struct sgc_follow w = SGC_FOLLOW_INIT;

        (void)state;
        assert_false(sgc_follow_changed(&w));
        assert_non_null(mkdtemp(dir));
        assert_int_equal(sg_path_join(path, sizeof(path), dir, "followed"), 0);
        w.path = path;
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), -ENOENT);
        assert_false(sgc_follow_changed(&w)); /* not at once */
        put(path, "one");
        sgc_follow_hurry(&w);
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), 3);
        assert_false(sgc_follow_changed(&w));
        put(path, "one"); /* the same text, but another file */
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), 3);
        assert_int_equal(sgc_follow_read(&w, buf, 3), -EFBIG);
        assert_int_equal(sgc_follow_read(&w, buf, 4), 3);

        _cleanup_close_ int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        assert_int_equal(write(fd, "+", 1), 1); /* written to, not replaced */
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), 4);
        assert_return_code(unlink(path), errno);
        assert_true(sgc_follow_changed(&w));
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), -ENOENT);
        assert_return_code(mkfifo(path, 0600), errno);
        assert_int_equal(sgc_follow_read(&w, buf, sizeof(buf)), -EBADF);
        sgc_follow_close(&w);
        assert_int_equal(sg_remove_tree(AT_FDCWD, dir), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_texts),
                cmocka_unit_test(test_round_trip),
                cmocka_unit_test(test_follow),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
