/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Processes that wait, and what the kernel says of that. */

#include "base/file.h"
#include "base/parse.h"
#include "base/time-util.h"
#include "edge/kernel/delays.h"
#include "tests/unit/test.h"
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define SYSCTL "/proc/sys/kernel/task_delayacct"
#define WAIT_USEC (60 * SG_USEC_PER_SEC)
#define MANY 100

static struct sg_taskstats *open_stats(void)
{
        struct sg_taskstats *t = NULL;
        const char *why = NULL;
        int r = sg_taskstats_new(&t, &why);

        if (r != 0)
                fail_msg("no taskstats: %d %s", r, why ? why : "?");
        return t;
}

static pid_t start(void (*body)(void))
{
        pid_t pid = fork();

        assert_true(pid >= 0);
        if (pid == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                body();
                _exit(0);
        }
        return pid;
}

static void stop(pid_t pid)
{
        (void)kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Two of them wait for each other on the first CPU that we have. */
static void burn(void)
{
        cpu_set_t all, one;

        CPU_ZERO(&one);
        (void)sched_getaffinity(0, sizeof(all), &all);
        for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
                if (CPU_ISSET(cpu, &all))
                        CPU_SET(cpu, &one);
        (void)sched_setaffinity(0, sizeof(one), &one);
        for (volatile unsigned n = 0;; n++)
                ;
}

static void sleep_on(void)
{
        for (;;)
                (void)pause();
}

/* Reads a file of its own from the disk, again and again. */
static void read_disk(void)
{
        char path[] = "/var/tmp/sg-test-delays-XXXXXX";
        int fd = mkostemp(path, O_CLOEXEC);
        static char data[1 << 20];

        (void)unlink(path);
        for (int i = 0; i < 16; i++)
                (void)sg_write_all(fd, data, sizeof(data));
        for (;;) {
                (void)fsync(fd);
                (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
                for (off_t at = 0; at < 16 << 20; at += (off_t)sizeof(data))
                        (void)!pread(fd, data, sizeof(data), at);
        }
}

static uint64_t cpu_of(struct sg_delays *d, struct sg_taskstats *t, const pid_t *pids, size_t n)
{
        int r = sg_delays_update(d, t, pids, n);

        if (r != 0)
                fail_msg("update: %s", strerror(-r));
        assert_int_not_equal(d->cpu_usec, SG_UNLIMITED);
        return d->cpu_usec;
}

static void test_waiting_for_a_cpu(void **state)
{
        struct sg_taskstats *t = open_stats();
        pid_t pids[] = {start(burn), start(burn)}, idle = start(sleep_on);
        uint64_t end = sg_now_monotonic_usec() + WAIT_USEC, begun, sum;
        struct sg_delays both, one, none, asleep;
        uint64_t idled;

        (void)state;
        sg_delays_init(&both);
        sg_delays_init(&one);
        sg_delays_init(&none);
        assert_int_equal(both.cpu_usec, SG_UNLIMITED);
        (void)cpu_of(&both, t, pids, 2);
        begun = cpu_of(&both, t, pids, 2);
        sg_delays_init(&asleep);
        idled = cpu_of(&asleep, t, &idle, 1); /* what it waited for to fall asleep */
        while (cpu_of(&both, t, pids, 2) < begun + 300 * SG_USEC_PER_MSEC) {
                assert_true(sg_now_monotonic_usec() < end);
                (void)usleep(10000);
        }
        sum = cpu_of(&one, t, pids, 1) + cpu_of(&none, t, pids + 1, 1);
        assert_true(sum + 100 * SG_USEC_PER_MSEC > both.cpu_usec);
        sg_delays_deinit(&none);
        sg_delays_init(&none);
        assert_true(cpu_of(&asleep, t, &idle, 1) < idled + 100 * SG_USEC_PER_MSEC);
        sg_delays_deinit(&asleep);
        /* What one has waited stays when it has ended, and never becomes less. */
        sum = cpu_of(&both, t, pids, 2);
        stop(pids[0]);
        assert_true(cpu_of(&both, t, pids, 2) >= sum);
        assert_int_equal(both.n_known, 1);
        stop(pids[1]);
        sum = both.cpu_usec;
        assert_int_equal(cpu_of(&both, t, pids, 2), sum);
        assert_int_equal(both.n_known, 0);
        stop(idle);
        sg_delays_deinit(&both);
        sg_delays_deinit(&one);
        sg_delays_deinit(&none);
        sg_taskstats_free(t);
}

static bool sysctl_is_on(void)
{
        char value[8];

        assert_int_equal(sg_read_line_file(AT_FDCWD, SYSCTL, value, sizeof(value)), 0);
        return value[0] != '0';
}

static bool was_on;

static int note_sysctl(void **state)
{
        (void)state;
        was_on = sysctl_is_on();
        return 0;
}

static int restore_sysctl(void **state)
{
        (void)state;
        if (sysctl_is_on() != was_on)
                return sg_write_file(AT_FDCWD, SYSCTL, was_on ? "1" : "0");
        return 0;
}

/* Where the sysctl may be changed, both ways; else what it is. */
static void test_waiting_for_io(void **state)
{
        struct sg_taskstats *t = open_stats();
        const char *why = NULL;
        uint64_t end = sg_now_monotonic_usec() + WAIT_USEC;
        struct sg_delays d;
        pid_t pid;

        (void)state;
        sg_delays_init(&d);
        (void)sg_write_file(AT_FDCWD, SYSCTL, "0");
        pid = getpid();
        (void)cpu_of(&d, t, &pid, 1);
        if (!sysctl_is_on()) {
                assert_false(sg_taskstats_counts_io(t, &why));
                assert_non_null(strstr(why, "kernel.task_delayacct"));
                assert_int_equal(d.io_usec, SG_UNLIMITED);
                assert_int_equal(d.swap_usec, SG_UNLIMITED);
        }
        if (sg_write_file(AT_FDCWD, SYSCTL, "1") == 0) {
                pid = start(read_disk);
                do {
                        assert_true(sg_now_monotonic_usec() < end);
                        (void)usleep(10000);
                        (void)cpu_of(&d, t, &pid, 1);
                } while (d.io_usec == 0);
                assert_true(sg_taskstats_counts_io(t, &why));
                assert_int_not_equal(d.io_usec, SG_UNLIMITED);
                assert_int_not_equal(d.swap_usec, SG_UNLIMITED);
                stop(pid);
        }
        sg_delays_deinit(&d);
        sg_taskstats_free(t);
}

static void test_many(void **state)
{
        struct sg_taskstats *t = open_stats();
        pid_t pids[MANY];
        struct sg_delays d;
        uint64_t begin;

        (void)state;
        sg_delays_init(&d);
        for (int i = 0; i < MANY; i++)
                pids[i] = start(sleep_on);
        (void)cpu_of(&d, t, pids, MANY);
        assert_int_equal(d.n_known, MANY);
        begin = sg_now_monotonic_usec();
        (void)cpu_of(&d, t, pids, MANY);
        print_message("%d processes in %d us\n", MANY, (int)(sg_now_monotonic_usec() - begin));
        for (int i = 0; i < MANY; i += 2)
                stop(pids[i]);
        (void)cpu_of(&d, t, pids, MANY);
        assert_int_equal(d.n_known, MANY / 2);
        for (int i = 1; i < MANY; i += 2)
                stop(pids[i]);
        (void)cpu_of(&d, t, NULL, 0);
        assert_int_equal(d.n_known, 0);
        sg_delays_deinit(&d);
        sg_taskstats_free(t);
}

static int drop_capability(unsigned capability)
{
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[2];

        if (syscall(SYS_capget, &head, data) < 0)
                return -errno;
        data[capability / 32].effective &= ~(1U << capability % 32);
        return syscall(SYS_capset, &head, data) < 0 ? -errno : 0;
}

static void not_permitted(void)
{
        struct sg_taskstats *t = (void *)1;
        const char *why = NULL;
        pid_t self = getpid();
        struct sg_delays d;

        sg_delays_init(&d);
        if (drop_capability(CAP_NET_ADMIN) < 0 || sg_taskstats_new(&t, &why) <= 0 || t ||
            !strstr(why, "CAP_NET_ADMIN"))
                _exit(1);
        if (sg_delays_update(&d, t, &self, 1) != 0 || d.cpu_usec != SG_UNLIMITED ||
            sg_taskstats_counts_io(t, &why) || !strstr(why, "not available"))
                _exit(2);
        _exit(0);
}

static void test_not_available(void **state)
{
        pid_t pid = start(not_permitted);
        int status;

        (void)state;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_waiting_for_a_cpu),
                cmocka_unit_test_setup_teardown(test_waiting_for_io, note_sysctl, restore_sysctl),
                cmocka_unit_test(test_many),
                cmocka_unit_test(test_not_available),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
