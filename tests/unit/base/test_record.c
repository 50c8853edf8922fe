/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/record.h"
#include "tests/unit/test.h"

static void test_layout_is_little_endian(void **state)
{
        static const uint8_t want[] = {
                0x34, 0x12, 8, 0, 0, 0, 8,   7,   6, 5, 4, 3, 2, 1, /* a number */
                0x01, 0x00, 2, 0, 0, 0, 'h', 'i',                   /* a string */
        };
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};

        (void)state;
        sg_record_put_u64(&r, 0x1234, 0x0102030405060708ULL);
        sg_record_put_str(&r, 1, "hi");
        assert_int_equal(r.error, 0);
        assert_int_equal(r.size, sizeof(want));
        assert_memory_equal(r.data, want, sizeof(want));
}

static void next_field(struct sg_reader *reader, uint16_t tag, struct sg_field *ret)
{
        assert_int_equal(sg_reader_next(reader, ret), 1);
        assert_int_equal(ret->tag, tag);
}

static void test_round_trip(void **state)
{
        static const int64_t numbers[] = {0, 1, -1, INT64_MAX, INT64_MIN};
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        struct sg_field f;
        int64_t v;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(numbers); i++)
                sg_record_put_i64(&r, (uint16_t)i, numbers[i]);
        sg_record_put(&r, UINT16_MAX, NULL, 0);
        sg_record_put_str(&r, 7, NULL); /* puts nothing */

        struct sg_reader reader = sg_reader_init(r.data, r.size);
        for (size_t i = 0; i < SG_ELEMENTSOF(numbers); i++) {
                next_field(&reader, (uint16_t)i, &f);
                assert_int_equal(sg_field_i64(&f, &v), 0);
                assert_true(v == numbers[i]);
        }
        next_field(&reader, UINT16_MAX, &f);
        assert_int_equal(f.size, 0);
        assert_int_equal(sg_reader_next(&reader, &f), 0);
        assert_int_equal(sg_reader_next(&reader, &f), 0); /* the end stays the end */
}

static void test_concatenation_is_a_record(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record a = {0}, b = {0};
        struct sg_field f;

        (void)state;
        sg_record_put_u64(&a, 1, 1);
        sg_record_put_u64(&b, 2, 2);
        sg_record_append(&a, b.data, b.size);
        sg_record_append(&a, NULL, 0);

        struct sg_reader reader = sg_reader_init(a.data, a.size);
        next_field(&reader, 1, &f);
        next_field(&reader, 2, &f);
        assert_int_equal(sg_reader_next(&reader, &f), 0);
}

static void test_nested(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        struct sg_field f, g;

        (void)state;
        size_t outer = sg_record_open(&r, 10);
        sg_record_put_str(&r, 11, "x");
        size_t inner = sg_record_open(&r, 12);
        sg_record_close(&r, inner);
        for (int i = 0; i < 1000; i++) /* moves the buffer while both are open */
                sg_record_put_u64(&r, 13, (uint64_t)i);
        sg_record_close(&r, outer);
        sg_record_put_u64(&r, 14, 0);

        struct sg_reader reader = sg_reader_init(r.data, r.size);
        next_field(&reader, 10, &f);
        assert_int_equal(f.size, 7 + 6 + 1000 * 14);
        struct sg_reader in = sg_reader_init(f.data, f.size);
        next_field(&in, 11, &g);
        next_field(&in, 12, &g);
        assert_int_equal(g.size, 0);
        next_field(&in, 13, &g);
        next_field(&reader, 14, &f);
        assert_int_equal(sg_reader_next(&reader, &f), 0);
}

static void test_every_truncation_is_noticed(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};

        (void)state;
        sg_record_put_str(&r, 1, "hello");
        sg_record_put_u64(&r, 2, 2);
        for (size_t cut = 0; cut <= r.size; cut++) {
                struct sg_reader reader = sg_reader_init(r.data, cut);
                struct sg_field f;
                int n = 0, e;

                while ((e = sg_reader_next(&reader, &f)) > 0)
                        n++;
                bool whole = cut == 0 || cut == 11 || cut == r.size;
                assert_int_equal(e, whole ? 0 : -EBADMSG);
                assert_int_equal(n, cut == r.size ? 2 : cut >= 11 ? 1 : 0);
        }
}

static void test_lengths_are_distrusted(void **state)
{
        static const uint8_t huge[] = {1, 0, 0xff, 0xff, 0xff, 0xff, 'x'};
        static const uint8_t by_one[] = {1, 0, 2, 0, 0, 0, 'x'};
        struct sg_field f = {.tag = 42};
        struct sg_reader reader = sg_reader_init(huge, sizeof(huge));

        (void)state;
        assert_int_equal(sg_reader_next(&reader, &f), -EBADMSG);
        assert_int_equal(sg_reader_next(&reader, &f), -EBADMSG);
        reader = sg_reader_init(by_one, sizeof(by_one));
        assert_int_equal(sg_reader_next(&reader, &f), -EBADMSG);
        assert_int_equal(f.tag, 42); /* untouched */
}

static void test_number_of_wrong_size(void **state)
{
        static const uint8_t bytes[9] = {1};
        uint64_t u = 5;
        int64_t i = 5;

        (void)state;
        for (size_t size = 0; size <= sizeof(bytes); size++) {
                struct sg_field f = {.data = bytes, .size = size};

                assert_int_equal(sg_field_u64(&f, &u), size == 8 ? 0 : -EBADMSG);
                assert_int_equal(sg_field_i64(&f, &i), size == 8 ? 0 : -EBADMSG);
                assert_int_equal(u, size >= 8 ? 1 : 5);
                assert_int_equal(i, size >= 8 ? 1 : 5);
        }
}

static struct sg_field text_field(const char *s, size_t size)
{
        return (struct sg_field){.data = (const uint8_t *)s, .size = size};
}

static void test_strdup(void **state)
{
        struct sg_field good = text_field("name", 4), nul = text_field("a\0b", 3),
                        last = text_field("a", 2), none = {0};
        _cleanup_free_ char *s = NULL;

        (void)state;
        assert_int_equal(sg_field_strdup(&good, &s), 0);
        assert_string_equal(s, "name");
        assert_int_equal(sg_field_strdup(&nul, &s), -EBADMSG);
        assert_int_equal(sg_field_strdup(&last, &s), -EBADMSG);
        assert_string_equal(s, "name"); /* untouched by a failure */
        assert_int_equal(sg_field_strdup(&none, &s), 0);
        assert_string_equal(s, ""); /* the old one is freed: LeakSanitizer watches */
}

static void test_strcpy(void **state)
{
        struct sg_field good = text_field("name", 4), nul = text_field("a\0b", 3), none = {0};
        char buf[5] = "old";

        (void)state;
        assert_int_equal(sg_field_strcpy(&good, buf, 4), -EBADMSG); /* no room for the NUL */
        assert_int_equal(sg_field_strcpy(&nul, buf, sizeof(buf)), -EBADMSG);
        assert_int_equal(sg_field_strcpy(&good, buf, 0), -EBADMSG);
        assert_string_equal(buf, "old");
        assert_int_equal(sg_field_strcpy(&good, buf, sizeof(buf)), 0);
        assert_string_equal(buf, "name");
        assert_int_equal(sg_field_strcpy(&none, buf, 1), 0);
        assert_string_equal(buf, "");
}

static void test_error_is_sticky(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        static const char byte;

        (void)state;
        sg_record_put_u64(&r, 1, 1);
        sg_record_put(&r, 2, &byte, (size_t)UINT32_MAX + 1); /* refused before it is read */
        assert_int_equal(r.error, -E2BIG);
        size_t size = r.size;
        sg_record_put_u64(&r, 3, 3);
        sg_record_append(&r, "x", 1);
        sg_record_close(&r, sg_record_open(&r, 4));
        assert_int_equal(r.size, size);
        assert_int_equal(r.error, -E2BIG);
}

static void test_whole_record_is_bounded(void **state)
{
        struct sg_record r = {.size = UINT32_MAX - 5};

        (void)state;
        sg_record_put(&r, 1, NULL, 0); /* its header of six bytes is one too many */
        assert_int_equal(r.error, -E2BIG);
        assert_int_equal(r.size, UINT32_MAX - 5);
        assert_null(r.data);
}

static void test_deinit_makes_it_usable_again(void **state)
{
        struct sg_record r = {.error = -E2BIG};

        (void)state;
        sg_record_deinit(&r);
        sg_record_put_u64(&r, 1, 1);
        assert_int_equal(r.error, 0);
        assert_int_equal(r.size, 14);
        sg_record_deinit(&r);
        assert_null(r.data);
}

static void test_crc32c(void **state)
{
        uint8_t zeros[32] = {0}, ones[32];

        (void)state;
        memset(ones, 0xff, sizeof(ones));
        /* The vectors of RFC 3720, B.4, and the usual check value. */
        assert_int_equal(sg_crc32c(zeros, sizeof(zeros)), 0x8a9136aa);
        assert_int_equal(sg_crc32c(ones, sizeof(ones)), 0x62a8ab43);
        assert_int_equal(sg_crc32c("123456789", 9), 0xe3069283);
        assert_int_equal(sg_crc32c(NULL, 0), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_layout_is_little_endian),
                cmocka_unit_test(test_round_trip),
                cmocka_unit_test(test_concatenation_is_a_record),
                cmocka_unit_test(test_nested),
                cmocka_unit_test(test_every_truncation_is_noticed),
                cmocka_unit_test(test_lengths_are_distrusted),
                cmocka_unit_test(test_number_of_wrong_size),
                cmocka_unit_test(test_strdup),
                cmocka_unit_test(test_strcpy),
                cmocka_unit_test(test_error_is_sticky),
                cmocka_unit_test(test_whole_record_is_bounded),
                cmocka_unit_test(test_deinit_makes_it_usable_again),
                cmocka_unit_test(test_crc32c),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
