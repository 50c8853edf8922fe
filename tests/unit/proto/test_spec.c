/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/spec.h"
#include "tests/unit/test.h"

static void deinit_specp(struct sg_spec *s)
{
        sg_spec_deinit(s);
}
#define _cleanup_spec_ _cleanup_(deinit_specp)
#define _cleanup_record_ _cleanup_(sg_record_deinitp)

static void put_dir(struct sg_record *r, uint8_t hier, const char *path)
{
        uint8_t buf[64] = {hier};

        memcpy(buf + 1, path, strlen(path));
        sg_record_put(r, SG_SPEC_GROUP_DIR, buf, 1 + strlen(path));
}

static int decode(const struct sg_record *r, struct sg_spec *ret)
{
        assert_int_equal(r->error, 0);
        return sg_spec_decode(ret, r->data, r->size);
}

static void assert_strings(char *const *have, const char *const *want)
{
        for (; *want; want++, have++)
                assert_string_equal(*have, *want);
        assert_null(*have);
}

static void test_submitted(void **state)
{
        static const char script[] = "#!/bin/sh\0binary";
        static const gid_t groups[] = {4, 24, 100};
        static const uint64_t rlimits[][3] = {{RLIMIT_NOFILE, 64, 128},
                                              {RLIMIT_CORE, 0, RLIM_INFINITY}};
        _cleanup_record_ struct sg_record r = {0};
        _cleanup_spec_ struct sg_spec s = {0};

        (void)state;
        sg_record_put_u64(&r, SG_SPEC_UID, 1000);
        sg_record_put_u64(&r, SG_SPEC_GID, 100);
        for (size_t i = 0; i < SG_ELEMENTSOF(groups); i++)
                sg_record_put_u64(&r, SG_SPEC_GROUP, groups[i]);
        sg_record_put_u64(&r, SG_SPEC_UMASK, 027);
        for (size_t i = 0; i < SG_ELEMENTSOF(rlimits); i++)
                sg_record_put(&r, SG_SPEC_RLIMIT, rlimits[i], sizeof(rlimits[i]));
        sg_record_put_str(&r, SG_SPEC_ARG, "prog");
        sg_record_put_str(&r, SG_SPEC_ARG, "");
        sg_record_put_str(&r, SG_SPEC_ARG, "two words");
        sg_record_put_str(&r, SG_SPEC_ENV, "A=1");
        sg_record_put_str(&r, SG_SPEC_ENV, "no assignment");
        sg_record_put(&r, SG_SPEC_SCRIPT, script, sizeof(script));
        sg_record_put_str(&r, SG_SPEC_WORKDIR, "/tmp");
        sg_record_put_str(&r, SG_SPEC_OUTPUT, "o");
        sg_record_put_str(&r, SG_SPEC_ERROR, "e");
        sg_record_put_str(&r, SG_SPEC_ON_END, "true");
        assert_int_equal(decode(&r, &s), 0);
        assert_int_equal(s.uid, 1000);
        assert_int_equal(s.gid, 100);
        assert_int_equal(s.umask, 027);
        assert_int_equal(s.n_groups, 3);
        assert_memory_equal(s.groups, groups, sizeof(groups));
        assert_int_equal(s.n_rlimits, 2);
        assert_int_equal(s.rlimits[0].resource, RLIMIT_NOFILE);
        assert_int_equal(s.rlimits[0].limit.rlim_max, 128);
        assert_true(s.rlimits[1].limit.rlim_max == RLIM_INFINITY);
        assert_strings(s.argv, (const char *const[]){"prog", "", "two words", NULL});
        assert_strings(s.env, (const char *const[]){"A=1", "no assignment", NULL});
        assert_int_equal(s.script_size, sizeof(script));
        assert_memory_equal(s.script, script, sizeof(script));
        assert_string_equal(s.workdir, "/tmp");
        assert_string_equal(s.output, "o");
        assert_string_equal(s.error, "e");
        assert_string_equal(s.on_end, "true");
}

static void test_launch_part_behind_submitted(void **state)
{
        _cleanup_record_ struct sg_record r = {0};
        _cleanup_spec_ struct sg_spec s = {0};

        (void)state;
        sg_record_put_u64(&r, SG_SPEC_UID, 7);
        sg_record_put_str(&r, SG_SPEC_ARG, "x");
        put_dir(&r, SG_HIER_MEMORY, "/m");
        put_dir(&r, SG_HIER_UNIFIED, "/u");
        sg_record_put_str(&r, SG_SPEC_ENV_FORCE, "F=1");
        sg_record_put_str(&r, SG_SPEC_ENV_DEFAULT, "D=");
        sg_record_put_str(&r, SG_SPEC_LOG, "/log");
        sg_record_put_u64(&r, SG_SPEC_LOG_MAX, 1 << 20);
        sg_record_put_u64(&r, SG_SPEC_LOG_KEEP, 3);
        sg_record_put_str(&r, SG_SPEC_CPU_AFFINITY, "0-1");
        sg_record_put_str(&r, SG_SPEC_SCRIPT_FILE, "/script");
        sg_record_put_str(&r, 9999, "of a later version");
        assert_int_equal(decode(&r, &s), 0);
        assert_int_equal(s.n_dirs, 2);
        assert_int_equal(s.dirs[0].hier, SG_HIER_MEMORY);
        assert_string_equal(s.dirs[1].path, "/u");
        assert_strings(s.env_force, (const char *const[]){"F=1", NULL});
        assert_strings(s.env_default, (const char *const[]){"D=", NULL});
        assert_string_equal(s.log, "/log");
        assert_int_equal(s.log_max, 1 << 20);
        assert_int_equal(s.log_keep, 3);
        assert_string_equal(s.cpu_affinity, "0-1");
        assert_string_equal(s.script_file, "/script");
}

static void test_absent_is_harmless(void **state)
{
        _cleanup_spec_ struct sg_spec s = {0};

        (void)state;
        assert_int_equal(sg_spec_decode(&s, "", 0), 0);
        assert_true(s.uid == (uid_t)-1);
        assert_true(s.gid == (gid_t)-1); /* never root by omission */
        assert_int_equal(s.umask, 022);
        assert_null(s.argv);
        assert_null(s.workdir);
}

static void test_last_scalar_wins(void **state)
{
        _cleanup_record_ struct sg_record r = {0};
        _cleanup_spec_ struct sg_spec s = {0};

        (void)state;
        for (uint64_t i = 1; i < 4; i++) {
                sg_record_put_u64(&r, SG_SPEC_UID, i);
                sg_record_put_str(&r, SG_SPEC_WORKDIR, i == 3 ? "/last" : "/first");
                sg_record_put(&r, SG_SPEC_SCRIPT, "abc", i);
        }
        assert_int_equal(decode(&r, &s), 0);
        assert_int_equal(s.uid, 3);
        assert_string_equal(s.workdir, "/last");
        assert_int_equal(s.script_size, 3);
}

static void test_many_of_each(void **state)
{
        enum { N = 1000 };
        _cleanup_record_ struct sg_record r = {0};
        _cleanup_spec_ struct sg_spec s = {0};
        char buf[32];

        (void)state;
        for (unsigned i = 0; i < N; i++) {
                (void)snprintf(buf, sizeof(buf), "V%u=%u", i, i);
                sg_record_put_str(&r, SG_SPEC_ENV, buf);
                sg_record_put_u64(&r, SG_SPEC_GROUP, i);
        }
        assert_int_equal(decode(&r, &s), 0);
        assert_int_equal(s.n_groups, N);
        for (unsigned i = 0; i < N; i++) {
                (void)snprintf(buf, sizeof(buf), "V%u=%u", i, i);
                assert_string_equal(s.env[i], buf);
                assert_int_equal(s.groups[i], i);
        }
        assert_null(s.env[N]);
}

struct bad {
        uint16_t tag;
        const char *data;
        size_t size;
};

static void test_malformed_is_refused(void **state)
{
        static const struct bad bad[] = {
                {SG_SPEC_UID, "\0\0\0\0", 4},
                {SG_SPEC_UID, "\xff\xff\xff\xff\0\0\0\0", 8}, /* (uid_t)−1 */
                {SG_SPEC_GID, "\0\0\0\0\1\0\0\0", 8},         /* more than 32 bits */
                {SG_SPEC_UMASK, "\0\2\0\0\0\0\0\0", 8},       /* 01000 */
                {SG_SPEC_ARG, "a\0b", 3},
                {SG_SPEC_WORKDIR, "/\0", 2},
                {SG_SPEC_RLIMIT, "short", 5},
                {SG_SPEC_RLIMIT,
                 "\xc8\0\0\0\0\0\0\0"
                 "\0\0\0\0\0\0\0\0"
                 "\0\0\0\0\0\0\0\0",
                 24},
                {SG_SPEC_RLIMIT,
                 "\1\0\0\0\0\0\0\0"
                 "\2\0\0\0\0\0\0\0"
                 "\1\0\0\0\0\0\0\0",
                 24},
                {SG_SPEC_GROUP_DIR, "\0", 1},
                {SG_SPEC_GROUP_DIR, "\0relative", 9},
                {SG_SPEC_GROUP_DIR, "\x63/x", 3},
                {SG_SPEC_GROUP_DIR, "\1/a\0b", 5},
                {SG_SPEC_ENV_FORCE, "NOVALUE", 7},
                {SG_SPEC_ENV_DEFAULT, "=x", 2},
                {SG_SPEC_LOG_MAX, "1", 1},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(bad); i++) {
                _cleanup_record_ struct sg_record r = {0};
                struct sg_spec s = {.uid = 5};

                /* Behind good fields, which must not leak nor come out. */
                sg_record_put_str(&r, SG_SPEC_ARG, "good");
                sg_record_put_u64(&r, SG_SPEC_UID, 6);
                sg_record_put(&r, bad[i].tag, bad[i].data, bad[i].size);
                assert_int_equal(decode(&r, &s), -EBADMSG);
                assert_int_equal(s.uid, 5);
                assert_null(s.argv);
        }
}

static void test_truncated_is_refused(void **state)
{
        _cleanup_record_ struct sg_record r = {0};

        (void)state;
        sg_record_put_str(&r, SG_SPEC_ARG, "argument");
        for (size_t size = 1; size < r.size; size++) {
                struct sg_spec s = {0};

                assert_int_equal(sg_spec_decode(&s, r.data, size), -EBADMSG);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_submitted),
                cmocka_unit_test(test_launch_part_behind_submitted),
                cmocka_unit_test(test_absent_is_harmless),
                cmocka_unit_test(test_last_scalar_wins),
                cmocka_unit_test(test_many_of_each),
                cmocka_unit_test(test_malformed_is_refused),
                cmocka_unit_test(test_truncated_is_refused),
        };

        return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
