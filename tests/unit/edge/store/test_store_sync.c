/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What of a job is on disk when: the writer's calls of fsync(2) and fdatasync(2), which are ours
 * here. */

#include "tests/unit/edge/store/fixture.h"
#include <sys/mman.h>
#include <sys/syscall.h>

#define SYNCS_MAX 64

/* Names of files in the state directory, as the writer has synced them. */
static struct {
        unsigned n;
        char names[SYNCS_MAX][64];
} * syncs;

static void note(int fd)
{
        char link[64], path[PATH_MAX];
        size_t top = strlen(state_dir);
        ssize_t n;

        (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
        n = readlink(link, path, sizeof(path) - 1);
        if (!syncs || n < 0 || syncs->n == SYNCS_MAX)
                return;
        path[n] = '\0';
        if (strncmp(path, state_dir, top) == 0 && path[top] == '/')
                (void)snprintf(syncs->names[syncs->n++], sizeof(syncs->names[0]), "%.63s",
                               path + top + 1);
}

__attribute__((visibility("default"))) int fsync(int fd)
{
        note(fd);
        return (int)syscall(SYS_fsync, fd);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
        note(fd);
        return (int)syscall(SYS_fdatasync, fd);
}

static int map(void **state)
{
        syncs = mmap(NULL, sizeof(*syncs), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                     0);
        return syncs == MAP_FAILED ? -1 : set_up(state);
}

/* The names since the last call, in order. */
static const char *synced(void)
{
        static char all[SYNCS_MAX * 64];

        all[0] = '\0';
        for (unsigned i = 0; i < syncs->n; i++) {
                (void)strcat(all, i > 0 ? " " : "");
                (void)strcat(all, syncs->names[i]);
        }
        syncs->n = 0;
        return all;
}

/* The first COMMIT of all also syncs the header of the log. */
static struct sg_store *open_used(void)
{
        struct sg_store *s = open_store();

        assert_int_equal(submit(s, 9), 0);
        (void)synced();
        return s;
}

static int submit_run(struct sg_store *s, uint64_t n)
{
        struct sg_job job;

        make_job(&job, n);
        job.foreground = 1;
        return submit_n(s, &job, 1, NULL, NULL, 0);
}

static void test_background(void **state)
{
        struct sg_store *s = open_used();
        struct sg_job job;

        (void)state;
        assert_int_equal(submit(s, 1), 0);
        assert_string_equal(synced(), "schedgov.db-wal");
        make_starting(&job, 1, 1);
        assert_int_equal(start(s, &job, NULL), 0);
        assert_string_equal(synced(), "schedgov.db-wal jobs");
        sg_store_close(s);
}

/* Nothing is known of it that must outlive a power failure, until it may run. */
static void test_run(void **state)
{
        struct sg_store *s = open_used();
        struct sg_attempt_info info;
        struct sg_job job;

        (void)state;
        assert_int_equal(submit_run(s, 1), 0);
        make_starting(&job, 1, 1);
        job.foreground = 1;
        assert_int_equal(start(s, &job, NULL), 0);
        assert_string_equal(synced(), "");
        assert_int_equal(inspect(s, &job.key, SG_PUBLISH_RUN, &info), 0);
        assert_int_equal(info.fate, SG_ATTEMPT_RUN);
        assert_string_equal(synced(), "schedgov.db-wal jobs jobs/1-home-1");
        assert_int_equal(write_job(s, sg_store_update, &job), 0);
        assert_string_equal(synced(), "schedgov.db-wal");
        sg_store_close(s);
}

/* Whoever else's is stored then takes it along, and is synced itself. */
static void test_both(void **state)
{
        struct sg_store *s = open_used();

        (void)state;
        assert_int_equal(submit_run(s, 1), 0);
        assert_string_equal(synced(), "");
        assert_int_equal(submit(s, 2), 0);
        assert_string_equal(synced(), "schedgov.db-wal");
        sg_store_close(s);
}

/* What isn't synced is with the kernel. */
static void test_killed(void **state)
{
        struct sg_store *s = open_store();
        struct answer a = {.calls = 0};

        (void)state;
        assert_int_equal(submit_run(s, 1), 0);
        kill_writer(s);
        sg_store_close(s);
        s = open_store();
        get(s, 1, &a);
        assert_int_equal(a.rows, 1);
        sg_store_close(s);
        answer_reset(&a);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_background, map, tear_down),
                cmocka_unit_test_setup_teardown(test_run, map, tear_down),
                cmocka_unit_test_setup_teardown(test_both, map, tear_down),
                cmocka_unit_test_setup_teardown(test_killed, map, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
