/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of limits: rows that can't be mixed up, and values by row. */
#include "core/job/job.h"
#include "tests/unit/test.h"

#define UNIQUE(kind, field, tag, unit, option, request, document, class_key, ...)                  \
        {                                                                                          \
                SG_LIMIT_##kind, option, request, document, class_key, SG_LEAST_##unit,            \
                        SG_UNIT_MOST(SG_UNIT_##unit), SG_UNIT_UNSET(SG_UNIT_##unit)                \
        }

static const struct row {
        enum sg_limit_kind kind;
        const char *option, *request, *document, *class_key;
        uint64_t least, most, unset;
} rows[] = {SG_LIMITS(UNIQUE)};

static void test_rows(void **state)
{
        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(rows); i++) {
                const struct row *a = &rows[i];

                assert_in_range(a->kind, 0, _SG_LIMIT_ROW_MAX - 1);
                assert_int_not_equal(a->kind, SG_LIMIT_CPUSET);
                assert_true(a->kind < SG_LIMIT_DEVICES || a->kind == SG_LIMIT_TIME);
                assert_true(a->least < a->most);
                assert_in_range(a->unset, a->least, a->most);
                assert_int_equal(strlen(a->option), strlen(a->request));
                for (size_t k = 0; a->option[k]; k++)
                        assert_int_equal(a->option[k] == '-' ? '_' : a->option[k], a->request[k]);
                for (const struct row *b = rows; b < a; b++) {
                        assert_int_not_equal(a->kind, b->kind);
                        assert_string_not_equal(a->option, b->option);
                        assert_string_not_equal(a->document, b->document);
                        assert_string_not_equal(a->class_key, b->class_key);
                }
        }
}

/* Every kind but what has no row, and --cpus twice. */
static void test_table(void **state)
{
        uint64_t seen = 1ULL << SG_LIMIT_DEVICES | 1ULL << SG_LIMIT_FREEZE;

        (void)state;
        assert_int_equal(sg_n_limits, SG_ELEMENTSOF(rows) + 2);
        for (size_t i = 0; i < sg_n_limits; i++)
                seen |= 1ULL << sg_limit_table[i].kind;
        assert_true(seen == (1ULL << _SG_LIMIT_ROW_MAX) - 1);
        for (enum sg_limit_kind k = 0; k < _SG_LIMIT_MAX; k++)
                assert_non_null(sg_limit_kind_to_string(k));
        assert_string_equal(sg_limit_kind_to_string(SG_LIMIT_CPUSET), "cpus");
        assert_string_equal(sg_limit_kind_to_string(SG_LIMIT_SWAP), "memory_swap_max");
        assert_string_equal(sg_limit_kind_to_string(SG_LIMIT_FREEZE), "freeze");
        assert_null(sg_limit_kind_to_string(_SG_LIMIT_ROW_MAX));
}

static void test_default(void **state)
{
        struct sg_limits l;

        (void)state;
        memset(&l, 0x55, sizeof(l));
        sg_limits_default(&l);
        assert_int_equal(l.cpu_weight, 100);
        assert_int_equal(l.io_weight, 100);
        assert_int_equal(l.cpu_quota_pm, SG_UNLIMITED);
        assert_int_equal(l.time_limit_usec, SG_UNLIMITED);
        assert_int_equal(l.memory_swap_max, SG_UNLIMITED);
        assert_int_equal(l.io_write_max, SG_UNLIMITED);
        assert_int_equal(l.cpus, 0);
        assert_int_equal(l.cpus_max, 0);
        assert_int_equal(l.pin, 0);
        assert_int_equal(l.threads, SG_THREADS_FOLLOW);
        assert_int_equal(sg_limits_asked(&l), 0);
}

/* Each value is asked for by its own bit, but for what the kernel doesn't hold. */
static void test_asked(void **state)
{
        struct sg_limits l;

        (void)state;
        for (size_t i = 0; i < sg_n_limits; i++) {
                const struct sg_limit *k = &sg_limit_table[i];
                bool held = k->kind != SG_LIMIT_CPUSET && k->kind != SG_LIMIT_TIME;

                sg_limits_default(&l);
                *sg_limit_at(&l, k) = 7;
                assert_int_equal(sg_limit_of(&l, k), 7);
                assert_int_equal(sg_limits_asked(&l), held ? 1U << k->kind : 0);
        }
        sg_limits_default(&l);
        l.pin = 1;
        assert_int_equal(sg_limits_asked(&l), 1U << SG_LIMIT_CPUSET);
}

static void test_format(void **state)
{
        static const struct {
                enum sg_limit_unit unit;
                uint64_t value;
                const char *text;
        } cases[] = {
                {SG_UNIT_WEIGHT, 300, "300"},           {SG_UNIT_PERCENT, 15000, "150%"},
                {SG_UNIT_BYTES, 512 << 20, "512M"},     {SG_UNIT_SWAP, 0, "0B"},
                {SG_UNIT_RATE, 64 << 10, "64K"},        {SG_UNIT_COUNT, 4096, "4096"},
                {SG_UNIT_TIME, 5400000000, "1h 30min"},
        };
        char buf[SG_FORMAT_MAX];

        (void)state;
        assert_int_equal(SG_ELEMENTSOF(cases), _SG_UNIT_MAX);
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++)
                assert_string_equal(sg_limit_format(buf, cases[i].unit, cases[i].value),
                                    cases[i].text);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_rows),    cmocka_unit_test(test_table),
                cmocka_unit_test(test_default), cmocka_unit_test(test_asked),
                cmocka_unit_test(test_format),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
