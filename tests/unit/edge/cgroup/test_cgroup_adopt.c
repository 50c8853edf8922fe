/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scopes that outlive the daemon's objects, and what is left behind. */

#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include "test_cgroup_jobs.h"
#include <sys/stat.h>

static int setup(void **state)
{
        return fixture_setup_as(state, "cgroupfs");
}

static void test_adopt(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope_request req = request(&l, 0), missing = request(&l, 3);
        struct sg_scope *s, *none = NULL;
        struct sg_cpuset cpus = {};
        pid_t pid;

        l.tasks_max = 9;
        l.cpu_weight = 250;
        l.pin = 1;
        sg_cpuset_add(&cpus, 0);
        req.limits = l;
        req.cpus = cpus;
        s = scope_with(f, &req);
        pid = spawn(f, s, true, idle, NULL);
        f->scopes[0] = sg_scope_free(s);
        f->n_scopes = 0;
        f->backend = sg_backend_free(f->backend);
        assert_int_equal(kill(pid, 0), 0);

        fixture_backend(f, "cgroupfs");
        assert_int_equal(sg_scope_adopt(&none, f->backend, &missing), -ENOENT);
        /* The kernel holds what the request says, also where it had been changed meanwhile. */
        req.limits.tasks_max = 11;
        assert_int_equal(sg_scope_adopt(&s, f->backend, &req), 0);
        f->scopes[f->n_scopes++] = s;
        assert_int_equal(sg_scope_unenforced(s) & ~sg_backend_unenforced(f->backend), 0);
        assert_int_equal(sg_scope_holds(s, pid, true), 1);
        assert_int_equal(sg_scope_populated(s), 1);
        if (sg_scope_dir(s, SG_HIER_PIDS)) {
                char job[PATH_MAX];
                uint64_t v;

                assert_int_equal(sg_group_join(job, sg_scope_dir(s, SG_HIER_PIDS), "job"), 0);
                assert_int_equal(sg_group_read_u64(job, "pids.max", &v), 0);
                assert_int_equal(v, 11);
        }
        assert_true(sg_scope_signal(s, SIGKILL) > 0);
        (void)reap(f, pid);
        WAIT_FOR(sg_scope_remove(s) == 0);
}

/* Only the populated one is left to ask about. */
static bool is_owned(const char *attempt, void *userdata)
{
        assert_string_equal(attempt, "1-host-a-1");
        return *(bool *)userdata;
}

static void test_leftovers(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        struct sg_scope_request req = request(&l, 0);
        bool owned = false;
        char *empty, foreign[PATH_MAX], neighbour[PATH_MAX];
        struct sg_scope *s;
        pid_t pid;

        s = scope(f, &l, 0);
        pid = spawn(f, s, false, idle, NULL);
        (void)scope(f, &l, 1);
        empty = strdup(f->scopes[1]->dirs[0].path);
        assert_non_null(empty);
        (void)snprintf(foreign, sizeof(foreign), "%s/train/not-ours",
                       f->backend->hier[s->dirs[0].hier].base);
        (void)snprintf(neighbour, sizeof(neighbour), "%sx", f->backend->hier[s->dirs[0].hier].base);
        assert_int_equal(mkdir(foreign, 0755), 0);
        assert_int_equal(mkdir(neighbour, 0755), 0);
        /* As after a crash: nothing is freed in an orderly way but the memory. */
        for (int i = 0; i < 2; i++)
                f->scopes[i] = sg_scope_free(f->scopes[i]);
        f->n_scopes = 0;
        f->backend = sg_backend_free(f->backend);

        fixture_backend(f, "cgroupfs");
        assert_int_equal(access(empty, F_OK), -1);
        assert_int_equal(access(foreign, F_OK), 0);
        assert_int_equal(access(neighbour, F_OK), 0);
        assert_int_equal(sg_backend_sweep(f->backend, is_owned, &owned), 1);
        owned = true;
        assert_int_equal(sg_backend_sweep(f->backend, is_owned, &owned), 0);
        assert_int_equal(rmdir(foreign), 0);
        assert_int_equal(rmdir(neighbour), 0);
        free(empty);
        assert_int_equal(sg_scope_adopt(&s, f->backend, &req), 0);
        f->scopes[f->n_scopes++] = s;
        assert_int_equal(sg_scope_holds(s, pid, false), 1);
}

/* A keeper that outlives its job's end and our restart by a moment. */
static void test_sweep(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        bool owned = false;
        struct sg_scope *s = scope(f, &l, 0);
        char *dir = strdup(s->dirs[0].path);
        pid_t pid = spawn(f, s, false, idle, NULL);

        f->scopes[0] = sg_scope_free(s);
        f->n_scopes = 0;
        f->backend = sg_backend_free(f->backend);
        fixture_backend(f, "cgroupfs");
        assert_int_equal(sg_backend_sweep(f->backend, is_owned, &owned), 1);
        assert_int_equal(access(dir, F_OK), 0);
        assert_int_equal(kill(pid, SIGKILL), 0);
        (void)reap(f, pid);
        WAIT_FOR(sg_backend_sweep(f->backend, is_owned, &owned) == 0);
        assert_int_equal(access(dir, F_OK), -1);
        free(dir);
}

static void test_nothing_is_left(void **state)
{
        struct fixture *f = *state;
        struct sg_limits l = limits();
        char *bases[SG_HIER_MAX] = {};

        l.pin = 1;
        (void)scope(f, &l, 0);
        assert_int_equal(sg_scope_remove(f->scopes[0]), 0);
        f->scopes[0] = sg_scope_free(f->scopes[0]);
        f->n_scopes = 0;
        for (int i = 0; i < SG_HIER_MAX; i++)
                if (f->backend->hier[i].base)
                        bases[i] = strdup(f->backend->hier[i].base);
        f->backend = sg_backend_free(f->backend);
        for (int i = 0; i < SG_HIER_MAX; i++) {
                if (bases[i])
                        assert_int_equal(access(bases[i], F_OK), -1);
                free(bases[i]);
        }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_adopt),
                TEST(test_leftovers),
                TEST(test_sweep),
                TEST(test_nothing_is_left),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
