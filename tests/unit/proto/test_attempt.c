/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/attempt.h"
#include "tests/unit/test.h"

static const struct sg_exit example = {
        .exit_code = 3,
        .signal = 0,
        .stage = SG_STAGE_NONE,
        .started_usec = 1789000000000000,
        .ended_usec = 1789000001000000,
        .cpu_usec = 12345,
        .memory_peak_bytes = UINT64_MAX,
        .oom_kills = 2,
        .io_read_bytes = 4096,
        .io_write_bytes = 8192,
        .pid = 4711,
        .main_oom_killed = 1,
};

static void test_round_trip(void **state)
{
        uint8_t buf[SG_EXIT_SIZE];
        struct sg_exit e;

        (void)state;
        sg_exit_pack(&example, buf);
        assert_int_equal(sg_exit_unpack(&e, buf, sizeof(buf)), 0);
        assert_string_equal(e.magic, SG_EXIT_MAGIC);
        memset(e.magic, 0, sizeof(e.magic));
        assert_memory_equal(&e, &example, sizeof(e));
}

/* Every single flipped bit must show: a record is believed without a second look. */
static void test_any_damage_shows(void **state)
{
        uint8_t buf[SG_EXIT_SIZE];
        struct sg_exit e = {.exit_code = 77};

        (void)state;
        sg_exit_pack(&example, buf);
        for (unsigned bit = 0; bit < SG_EXIT_SIZE * 8; bit++) {
                buf[bit / 8] ^= (uint8_t)(1U << (bit % 8));
                assert_int_equal(sg_exit_unpack(&e, buf, sizeof(buf)), -EBADMSG);
                buf[bit / 8] ^= (uint8_t)(1U << (bit % 8));
        }
        assert_int_equal(e.exit_code, 77);
}

static void test_other_sizes_and_zeros(void **state)
{
        uint8_t buf[SG_EXIT_SIZE + 1];
        struct sg_exit e;

        (void)state;
        sg_exit_pack(&example, buf);
        assert_int_equal(sg_exit_unpack(&e, buf, 0), -EBADMSG);
        assert_int_equal(sg_exit_unpack(&e, buf, SG_EXIT_SIZE - 1), -EBADMSG);
        assert_int_equal(sg_exit_unpack(&e, buf, SG_EXIT_SIZE + 1), -EBADMSG);
        memset(buf, 0, sizeof(buf)); /* preallocated, never written */
        assert_int_equal(sg_exit_unpack(&e, buf, SG_EXIT_SIZE), -EBADMSG);
}

static int unpack(struct sg_exit e)
{
        uint8_t buf[SG_EXIT_SIZE];
        struct sg_exit back = {.pid = 88};
        int r;

        sg_exit_pack(&e, buf);
        r = sg_exit_unpack(&back, buf, sizeof(buf));
        assert_int_equal(back.pid, r < 0 ? 88 : e.pid); /* untouched on failure */
        return r;
}

#define KILLED .exit_code = -1, .signal
#define FAILED .exit_code = -1, .stage

/* All that a keeper can have seen, to its limits. */
static void test_possible(void **state)
{
        static const struct sg_exit possible[] = {
                {.exit_code = 0},
                {.exit_code = 255},
                {KILLED = 1},
                {KILLED = 33}, /* which has no name */
                {KILLED = 64},
                {KILLED = 9, .main_oom_killed = 1},
                {FAILED = SG_STAGE_SETUP, .error = 1},
                {FAILED = SG_STAGE_EXEC, .error = 4095},
                {FAILED = SG_STAGE_EXEC, .error = 2, .signal = 9},
                {.exit_code = 0, .started_usec = INT64_MAX, .ended_usec = 0}, /* a clock was set */
                {.exit_code = 0, .cpu_usec = UINT64_MAX, .oom_kills = UINT64_MAX},
                {.exit_code = 0, .pid = INT32_MAX},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(possible); i++)
                assert_int_equal(unpack(possible[i]), 0);
}

/* A user's own keeper can give any bytes a checksum. */
static void test_impossible(void **state)
{
        static const struct sg_exit impossible[] = {
                {.exit_code = 256},
                {.exit_code = -1},
                {.exit_code = -2, .signal = 9},
                {.exit_code = 0, .signal = 9},
                {.exit_code = 0, .error = 2},
                {KILLED = -1},
                {KILLED = 65},
                {KILLED = 12345},
                {KILLED = 9, .main_oom_killed = 2},
                {FAILED = SG_STAGE_EXEC},
                {FAILED = SG_STAGE_EXEC, .error = -2},
                {FAILED = SG_STAGE_EXEC, .error = 4096},
                {FAILED = SG_STAGE_EXEC, .error = 2, .signal = 65},
                {FAILED = _SG_STAGE_MAX, .error = 2},
                {FAILED = UINT32_MAX, .error = 2},
                {.exit_code = 3, .stage = SG_STAGE_EXEC, .error = 2},
                {.exit_code = 0, .pid = -1},
                {.exit_code = 0, .started_usec = UINT64_MAX},
                {.exit_code = 0, .ended_usec = 1ULL << 63},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(impossible); i++)
                assert_int_equal(unpack(impossible[i]), -EBADMSG);
}

static void test_stages_have_words(void **state)
{
        (void)state;
        for (int s = SG_STAGE_SETUP; s < _SG_STAGE_MAX; s++)
                assert_non_null(sg_stage_to_string((enum sg_stage)s));
        assert_null(sg_stage_to_string(SG_STAGE_NONE));
        assert_null(sg_stage_to_string(_SG_STAGE_MAX));
        assert_string_equal(sg_stage_to_string(SG_STAGE_WORKDIR), "enter the working directory");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_round_trip),
                cmocka_unit_test(test_any_damage_shows),
                cmocka_unit_test(test_other_sizes_and_zeros),
                cmocka_unit_test(test_possible),
                cmocka_unit_test(test_impossible),
                cmocka_unit_test(test_stages_have_words),
        };

        return cmocka_run_group_tests_name("attempt", tests, NULL, NULL);
}
