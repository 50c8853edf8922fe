/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts of real kernels, and the same texts broken. Values are wrong (MARK) until they are set. */

#include "core/measure/cadence.h"
#include "core/measure/kernel-text.h"
#include "core/measure/sample.h"
#include "tests/unit/test.h"

#define MARK 4711

static int number(const char *text, uint64_t *ret)
{
        return sg_kernel_number(text, strlen(text), ret);
}

static void test_number(void **state)
{
        static const char *const bad[] = {"",
                                          "\n",
                                          "12",
                                          "12\n\n",
                                          " 12\n",
                                          "-1\n",
                                          "+1\n",
                                          "1 \n",
                                          "0x10\n",
                                          "max\n",
                                          "1\n2\n",
                                          "18446744073709551616\n",
                                          "18446744073709551615\n"};
        uint64_t v = MARK;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(number(bad[i], &v), -EBADMSG);
        assert_int_equal(sg_kernel_number("1\0002\n", 4, &v), -EBADMSG);
        assert_int_equal(v, MARK);
        assert_int_equal(number("0\n", &v), 0);
        assert_int_equal(v, 0);
        assert_int_equal(number("18446744073709551614\n", &v), 0);
        assert_true(v == UINT64_MAX - 1);
        /* Not a byte beyond what is said to be there. */
        assert_int_equal(sg_kernel_number("12\n34", 3, &v), 0);
        assert_int_equal(v, 12);
}

static int keyed(const char *text, uint64_t *usage, uint64_t *throttled)
{
        const struct sg_kernel_key keys[] = {{"usage_usec", usage}, {"nr_throttled", throttled}};

        return sg_kernel_keyed(text, strlen(text), keys, SG_ELEMENTSOF(keys));
}

static void test_keyed(void **state)
{
        uint64_t usage = MARK, throttled = MARK;

        (void)state;
        assert_int_equal(keyed("usage_usec 500\nuser_usec 300\nnr_periods 0\nnr_throttled 7\n",
                               &usage, &throttled),
                         2);
        assert_int_equal(usage, 500);
        assert_int_equal(throttled, 7);
        throttled = MARK;
        assert_int_equal(keyed("usage_usec 600\n", &usage, &throttled), 1);
        assert_int_equal(usage, 600);
        assert_int_equal(throttled, MARK);
        assert_int_equal(keyed("", &usage, &throttled), 0);
        /* What isn't asked for may look as it likes, and a key is a whole word. */
        assert_int_equal(keyed("usage_usecs x\nusage_use 5\n\n= ?\nusage\n", &usage, &throttled),
                         0);
        assert_int_equal(usage, 600);
}

static void test_keyed_garbled(void **state)
{
        static const char *const bad[] = {
                "nr_throttled 1\nusage_usec 50",    /* cut within the number */
                "nr_throttled 1\nusage_usec \n",    /* none */
                "nr_throttled 1\nusage_usec  5\n",  /* a blank too many */
                "nr_throttled 1\nusage_usec 5 6\n", /* two */
                "nr_throttled 1\nusage_usec 5x\n",
                "nr_throttled 1\nusage_usec -5\n",
                "nr_throttled 1\nusage_usec: 5\n",
                "nr_throttled 1\nusage_usec 1\nusage_usec 2\n",
                "nr_throttled 1\nusage_usec 99999999999999999999999\n",
                "nr_throttled 1\nsomething els",
        };
        uint64_t usage = MARK, throttled = MARK;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(keyed(bad[i], &usage, &throttled), -EBADMSG);
        assert_int_equal(usage, MARK);
        assert_int_equal(throttled, MARK);
}

static int meminfo(const char *text, uint64_t *total, uint64_t *huge)
{
        const struct sg_kernel_key keys[] = {{"MemTotal", total}, {"HugePages_Total", huge}};

        return sg_kernel_meminfo(text, strlen(text), keys, SG_ELEMENTSOF(keys));
}

static void test_meminfo(void **state)
{
        static const char *const bad[] = {"MemTotal: 12 MB\n", "MemTotal 12 kB\n", "MemTotal: kB\n",
                                          "MemTotal: 12 kB", "MemTotal: 18014398509481984 kB\n"};
        uint64_t total = MARK, huge = MARK;

        (void)state;
        assert_int_equal(meminfo("MemTotal:       24689452 kB\nMemFree:  1 kB\n"
                                 "HugePages_Total:       3\n",
                                 &total, &huge),
                         2);
        assert_int_equal(total, 24689452 * UINT64_C(1024));
        assert_int_equal(huge, 3);
        total = MARK;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(meminfo(bad[i], &total, &huge), -EBADMSG);
        assert_int_equal(total, MARK);
}

#define SOME "some avg10=65.46 avg60=34.05 avg300=37.17 total=9362736473\n"
#define FULL "full avg10=1.91 avg60=2.58 avg300=0.79 total=126434189\n"

static int psi(const char *text, struct sg_kernel_psi *ret)
{
        return sg_kernel_psi(text, strlen(text), ret);
}

static void test_psi(void **state)
{
        struct sg_kernel_psi p;

        (void)state;
        assert_int_equal(psi(SOME FULL, &p), 0);
        assert_int_equal(p.some_usec, 9362736473);
        assert_int_equal(p.full_usec, 126434189);
        assert_int_equal(p.some_avg10_pm, 6546);
        assert_int_equal(p.full_avg10_pm, 191);
        assert_int_equal(psi(SOME, &p), 0); /* cpu before 5.13 */
        assert_int_equal(p.full_usec, SG_UNLIMITED);
        assert_int_equal(p.full_avg10_pm, SG_UNLIMITED);
        assert_int_equal(psi(FULL, &p), 0); /* irq */
        assert_true(p.some_usec == SG_UNLIMITED);
        assert_int_equal(p.full_usec, 126434189);
}

static void test_psi_garbled(void **state)
{
        static const char *const bad[] = {
                "",
                "\n",
                SOME SOME,
                "some avg10=65.46 avg60=34.05 avg300=37.17 total=93627364",
                SOME "full avg10=1.91 avg60=2.58 avg300=0.79 total=1264341",
                SOME "full avg10=1.91 avg60=2.58 avg300=0.79 total=\n",
                SOME "full avg10=1.9 avg60=2.58 avg300=0.79 total=5\n",
                SOME "full avg10=1,91 avg60=2.58 avg300=0.79 total=5\n",
                SOME "full avg10=nan avg60=2.58 avg300=0.79 total=5\n",
                SOME "full avg60=2.58 avg300=0.79 total=5\n",
                SOME "full avg10=1.91 avg60=2.58 avg300=0.79 total=5x\n",
                SOME "full\n",
        };
        struct sg_kernel_psi p = {MARK, MARK, MARK, MARK};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(psi(bad[i], &p), -EBADMSG);
        assert_int_equal(p.some_usec, MARK);
        assert_int_equal(p.full_usec, MARK);
}

static int io_stat(const char *text, struct sg_kernel_io *ret)
{
        return sg_kernel_io_stat(text, strlen(text), ret);
}

static void test_io_stat(void **state)
{
        struct sg_kernel_io io;

        (void)state;
        assert_int_equal(io_stat("8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 "
                                 "dios=0\n8:0 rbytes=90430464 wbytes=299008000 rios=8950 wios=1252 "
                                 "dbytes=50331648 dios=3021\n",
                                 &io),
                         0);
        assert_int_equal(io.read_bytes, 1459200 + 90430464);
        assert_int_equal(io.write_bytes, 314773504 + 299008000);
        assert_int_equal(io.read_ops, 192 + 8950);
        assert_int_equal(io.write_ops, 353 + 1252);
        /* What io.cost and io.latency add, and what 5.16 printed. */
        assert_int_equal(io_stat("8:0 rbytes=5 wbytes=6 rios=7 wios=8 dbytes=0 dios=0 "
                                 "use_delay=0 delay_nsec=0 depth=max cost.vrate=100.00\n"
                                 "7:7 7:6 7:5 8:1 rbytes=1 wbytes=1 rios=1 wios=1\n254:0 \n254:1\n",
                                 &io),
                         0);
        assert_int_equal(io.read_bytes, 6);
        assert_int_equal(io.write_ops, 9);
        assert_int_equal(io_stat("", &io), 0);
        assert_int_equal(io.read_bytes, 0);
}

/* As met: disks without a name, and without a line's end. */
static void test_io_stat_odd(void **state)
{
        struct sg_kernel_io io;

        (void)state;
        assert_int_equal(io_stat("(unknown) rbytes=0 wbytes=0 rios=6 wios=0 dbytes=0 dios=0\n"
                                 "179:0 rbytes=17 wbytes=20 rios=3 wios=19 dbytes=0 dios=0\n"
                                 "7:7 7:6 7:5 1:15 1:14 1:0 ",
                                 &io),
                         0);
        assert_int_equal(io.read_bytes, 17);
        assert_int_equal(io.read_ops, 3);
        assert_int_equal(io_stat("252:0 ", &io), 0); /* its counters come in a moment */
        assert_int_equal(io.read_bytes, 0);
        assert_int_equal(io_stat("252:0", &io), -EBADMSG);
        assert_int_equal(io_stat("7:7 7:6 rbytes=1", &io), -EBADMSG);
}

static void test_io_stat_garbled(void **state)
{
        static const char *const bad[] = {
                "8:0 rbytes=1 wbytes=2",
                "8:0 rbytes=1 wbytes=x rios=1 wios=1\n",
                "8:0 rbytes= wbytes=2\n",
                "8:0 rbytes=1, wbytes=2\n",
                "rbytes=1 wbytes=2\n",
                "8:0 word\n",
                "\n",
                "8:0 rbytes=18446744073709551614\n8:1 rbytes=2\n",
                "8:0 rbytes=18446744073709551614\n8:1 rbytes=1\n",
        };
        struct sg_kernel_io io = {MARK, MARK, MARK, MARK};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(io_stat(bad[i], &io), -EBADMSG);
        assert_int_equal(io.read_bytes, MARK);
        assert_int_equal(io.write_ops, MARK);
}

static int blkio(const char *text, uint64_t *ret_read, uint64_t *ret_write)
{
        return sg_kernel_blkio(text, strlen(text), ret_read, ret_write);
}

static void test_blkio(void **state)
{
        static const char *const bad[] = {"8:0 Read 12",           "8:0 Read\n", "8:0 Read x\n",
                                          "8:0 Read 1 2\n",        "Read 12\n",  "Total\n",
                                          "8:0 Write 1\nTotal x\n"};
        uint64_t r = MARK, w = MARK;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(blkio(bad[i], &r, &w), -EBADMSG);
        assert_int_equal(r, MARK);
        assert_int_equal(w, MARK);
        assert_int_equal(blkio("254:0 Read 9444454400\n254:0 Write 41947963392\n254:0 Sync 1\n"
                               "254:0 Async 2\n254:0 Discard 3\n254:0 Total 4\n254:16 Read 10\n"
                               "(unknown) Read 0\n"
                               "Total 5\n",
                               &r, &w),
                         0);
        assert_int_equal(r, 9444454410);
        assert_int_equal(w, 41947963392);
        assert_int_equal(blkio("Total 0\n", &r, &w), 0);
        assert_int_equal(r, 0);
        assert_int_equal(w, 0);
}

#define CPU "cpu  1854 10 799 77000 41 0 12 5 3 0\ncpu0 900 10 400 38000 20 0 6 2 1 0\n"
#define TAIL "intr 1 2 3\nctxt 99\nbtime 1795000000\nprocesses 5\nprocs_running 3\n"

static int stat_of(const char *text, struct sg_kernel_stat *ret)
{
        return sg_kernel_stat(text, strlen(text), ret);
}

static void test_stat(void **state)
{
        static const char *const bad[] = {"",
                                          CPU,
                                          CPU TAIL,
                                          CPU TAIL "procs_blocked x\n",
                                          CPU TAIL "procs_blocked 1",
                                          "cpu0 1 2 3 4 5 6 7 8\n" TAIL "procs_blocked 1\n",
                                          "cpu  1 2 3 4 5 6 7\n" TAIL "procs_blocked 1\n",
                                          "cpu  1 2 3 x 5 6 7 8\n" TAIL "procs_blocked 1\n"};
        struct sg_kernel_stat s = {.total = MARK};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(stat_of(bad[i], &s), -EBADMSG);
        assert_int_equal(s.total, MARK);
        assert_int_equal(stat_of(CPU TAIL "procs_blocked 1\n", &s), 0);
        /* Guests are in `user` already. */
        assert_int_equal(s.total, 1854 + 10 + 799 + 77000 + 41 + 0 + 12 + 5);
        assert_int_equal(s.idle, 77000);
        assert_int_equal(s.iowait, 41);
        assert_int_equal(s.steal, 5);
        assert_int_equal(s.procs_running, 3);
        assert_int_equal(s.procs_blocked, 1);
}

static int loadavg(const char *text, struct sg_kernel_load *ret)
{
        return sg_kernel_loadavg(text, strlen(text), ret);
}

static void test_loadavg(void **state)
{
        static const char *const bad[] = {"",
                                          "0.20 0.18 0.12 1/80\n",
                                          "0.20 0.18 0.12 1/80 11206",
                                          "0.2 0.18 0.12 1/80 11206\n",
                                          "0.20 0.18 1/80 11206\n",
                                          "-0.20 0.18 0.12 1/80 11206\n",
                                          "0.20 0.18 0.12 1/80 11206\n\n"};
        struct sg_kernel_load l = {.load1_pm = MARK};

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++)
                assert_int_equal(loadavg(bad[i], &l), -EBADMSG);
        assert_int_equal(l.load1_pm, MARK);
        assert_int_equal(loadavg("95.83 67.79 38.83 3/1180 11206\n", &l), 0);
        assert_int_equal(l.load1_pm, 958300);
        assert_int_equal(l.load15_pm, 388300);
        assert_int_equal(l.running, 3);
        assert_int_equal(l.tasks, 1180);
}

/* --- what is made of them */

static void test_rate(void **state)
{
        double v = MARK;

        (void)state;
        assert_false(sg_sample_rate(SG_UNLIMITED, 5, 1000000, &v));
        assert_false(sg_sample_rate(5, SG_UNLIMITED, 1000000, &v));
        assert_false(sg_sample_rate(6, 5, 1000000, &v));
        assert_false(sg_sample_rate(5, 6, 0, &v));
        assert_true(v == MARK);
        assert_true(sg_sample_rate(5, 5, 1000000, &v));
        assert_true(v == 0);
        assert_true(sg_sample_rate(1000000, 2500000, 500000, &v));
        assert_true(v == 3e6);
}

static void test_active(void **state)
{
        struct sg_sample a, b;

        (void)state;
        sg_sample_init(&a);
        a.now_usec = 1000000;
        a.cpu_usec = 500;
        a.memory_bytes = 1000000;
        a.pids = 2;
        b = a;
        b.now_usec = 2000000;
        assert_false(sg_sample_active(&a, &b));
        b.cpu_usec = 500 + 9999;
        b.memory_bytes = 991000;
        assert_false(sg_sample_active(&a, &b));
        b.cpu_usec++;
        assert_true(sg_sample_active(&a, &b));
        b.cpu_usec = 0; /* went backwards: no rate */
        assert_false(sg_sample_active(&a, &b));
        b.memory_bytes = 989999;
        assert_true(sg_sample_active(&a, &b));
        b = a;
        b.pids = 3;
        assert_true(sg_sample_active(&a, &b));
        b = a;
        b.io_read_bytes = 0;
        assert_true(sg_sample_active(&a, &b));
}

/* Jobs that have this due in a round. */
static size_t due(uint64_t round, size_t jobs, uint32_t bit)
{
        size_t n = 0;

        for (size_t job = 0; job < jobs; job++)
                n += (sg_sample_due(round, job, jobs) & bit) != 0;
        return n;
}

/* In 32 rounds each job has had everything, and any round costs what the others do. */
static void test_due(void **state)
{
        const size_t jobs = 64;

        (void)state;
        for (size_t job = 0; job < jobs; job++) {
                uint32_t had = 0;

                for (uint64_t round = 100; round < 132; round++)
                        had |= sg_sample_due(round, job, jobs);
                assert_int_equal(had, SG_SAMPLE_ALL);
        }
        for (size_t job = 0; job < jobs; job++) /* when delays are asked for */
                for (uint64_t round = 100; round < 132; round++)
                        assert_int_equal((sg_sample_due(round, job, jobs) & SG_SAMPLE_PSI) != 0,
                                         (round + job) % 16 == 0);
        for (uint64_t round = 0; round < 40; round++) {
                assert_int_equal(due(round, jobs, SG_SAMPLE_CPU), jobs);
                assert_int_equal(due(round, jobs, SG_SAMPLE_MEMORY), jobs / 8);
                assert_int_equal(due(round, jobs, SG_SAMPLE_PSI), jobs / 16);
                assert_int_equal(due(round, jobs, SG_SAMPLE_IO), jobs / 16);
                assert_int_equal(due(round, jobs, SG_SAMPLE_PIDS), jobs / 16);
                assert_int_equal(due(round, jobs, SG_SAMPLE_EVENTS), jobs / 32);
                assert_int_equal(due(round, jobs, SG_SAMPLE_WORKING_SET), jobs / 32);
                assert_int_equal(sg_sample_due(round, 3, SG_SAMPLE_FEW), SG_SAMPLE_ALL);
        }
}

static void test_cadence(void **state)
{
        struct sg_cadence c;

        (void)state;
        sg_cadence_init(&c, 1000000, 30000000);
        assert_int_equal(c.interval_usec, 1000000);
        assert_false(sg_cadence_reset(&c));
        assert_int_equal(sg_cadence_next(&c, true), 1000000);
        for (uint64_t want = 2000000; want <= 16000000; want *= 2)
                assert_int_equal(sg_cadence_next(&c, false), want);
        assert_int_equal(sg_cadence_next(&c, false), 30000000);
        assert_int_equal(sg_cadence_next(&c, false), 30000000);
        assert_true(sg_cadence_reset(&c));
        assert_int_equal(c.interval_usec, 1000000);
        (void)sg_cadence_next(&c, false);
        assert_int_equal(sg_cadence_next(&c, true), 1000000);

        sg_cadence_init(&c, 5000000, 1000000); /* fixed */
        assert_int_equal(sg_cadence_next(&c, false), 5000000);
        sg_cadence_init(&c, 1000000, UINT64_MAX);
        for (int i = 0; i < 100; i++)
                assert_true(sg_cadence_next(&c, false) >= 1000000);
        assert_true(c.interval_usec == UINT64_MAX);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_number),        cmocka_unit_test(test_keyed),
                cmocka_unit_test(test_keyed_garbled), cmocka_unit_test(test_meminfo),
                cmocka_unit_test(test_psi),           cmocka_unit_test(test_psi_garbled),
                cmocka_unit_test(test_io_stat),       cmocka_unit_test(test_io_stat_garbled),
                cmocka_unit_test(test_io_stat_odd),   cmocka_unit_test(test_blkio),
                cmocka_unit_test(test_stat),          cmocka_unit_test(test_loadavg),
                cmocka_unit_test(test_rate),          cmocka_unit_test(test_active),
                cmocka_unit_test(test_due),           cmocka_unit_test(test_cadence),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
