/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/record.h"
#include "core/reports/tfevents.h"
#include "tests/unit/test.h"

#include <math.h>
#include <stdlib.h>

#define FILE_MAX (1U << 20)

/* A file as TensorFlow's writer makes it. */
struct file {
        uint8_t data[FILE_MAX];
        size_t n;
};

struct got {
        size_t n;
        struct sg_tfevents_scalar last;
        char tag[64];
};

static struct file file;

static void on_scalar(const struct sg_tfevents_scalar *s, void *userdata)
{
        struct got *g = userdata;

        g->n++;
        g->last = *s;
        assert_true(s->tag_size < sizeof(g->tag));
        memcpy(g->tag, s->tag, s->tag_size);
        g->tag[s->tag_size] = '\0';
}

/* --- writing ---------------------------------------------------------------------------------- */

static size_t put_le(uint8_t *p, uint64_t v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                p[i] = (uint8_t)(v >> (8 * i));
        return n;
}

static size_t put_crc(uint8_t *p, const void *data, size_t n)
{
        uint32_t crc = sg_crc32c(data, n);

        return put_le(p, (uint32_t)((crc >> 15 | crc << 17) + 0xa282ead8), 4);
}

static void put_record(struct file *f, const void *data, size_t n)
{
        uint8_t *p = f->data + f->n;

        assert_true(f->n + n + 16 <= sizeof(f->data));
        (void)put_le(p, n, 8);
        (void)put_crc(p + 8, p, 8);
        memcpy(p + 12, data, n);
        (void)put_crc(p + 12 + n, data, n);
        f->n += n + 16;
}

static size_t put_bytes(uint8_t *p, unsigned field, const void *data, size_t n)
{
        assert_true(n < 128);
        p[0] = (uint8_t)(field << 3 | 2);
        p[1] = (uint8_t)n;
        memcpy(p + 2, data, n);
        return n + 2;
}

/* An event with one value, whose payload (behind the tag) is given. */
static void put_event(struct file *f, int step, const char *tag, const void *payload, size_t n)
{
        uint8_t value[128], summary[128], event[160];
        double wall_time = 1700000000.5;
        uint64_t bits;
        size_t size;

        size = put_bytes(value, 1, tag, strlen(tag));
        memcpy(value + size, payload, n);
        size = put_bytes(summary, 1, value, size + n);
        memcpy(&bits, &wall_time, sizeof(bits));
        event[0] = 1 << 3 | 1;
        n = 1 + put_le(event + 1, bits, 8);
        event[n++] = 2 << 3;
        event[n++] = (uint8_t)step;
        n += put_bytes(event + n, 5, summary, size);
        put_record(f, event, n);
}

static void put_simple(struct file *f, int step, const char *tag, float v)
{
        uint8_t payload[5] = {2 << 3 | 5};
        uint32_t bits;

        memcpy(&bits, &v, sizeof(bits));
        (void)put_le(payload + 1, bits, 4);
        put_event(f, step, tag, payload, sizeof(payload));
}

static void put_tensor(struct file *f, int step, const char *tag, const void *tensor, size_t n)
{
        uint8_t payload[64];

        put_event(f, step, tag, payload, put_bytes(payload, 8, tensor, n));
}

static void put_several(struct file *f)
{
        static const char version[] = "\x09\0\0\0\0\0\0\0\0\x1a\x0d"
                                      "brain.Event:2";

        f->n = 0;
        put_record(f, version, sizeof(version) - 1);
        for (int i = 1; i <= 10; i++)
                put_simple(f, i, "loss", 1.0F / (float)i);
}

/* --- reading ---------------------------------------------------------------------------------- */

static int feed(struct sg_tfevents *t, size_t piece, struct got *g)
{
        int r = 0;

        for (size_t at = 0; at < file.n && r == 0; at += piece)
                r = sg_tfevents_feed(t, file.data + at, piece < file.n - at ? piece : file.n - at,
                                     on_scalar, g);
        return r;
}

static void test_grows(void **state)
{
        /* The length that every file of TensorFlow's begins with, and its check. */
        static const uint8_t head[] = {0x18, 0, 0, 0, 0, 0, 0, 0, 0xa3, 0x7f, 0x4b, 0x22};

        (void)state;
        put_several(&file);
        assert_memory_equal(file.data, head, sizeof(head));
        for (size_t piece = 1; piece <= file.n; piece++) {
                struct sg_tfevents t = {0};
                struct got g = {0};

                assert_int_equal(feed(&t, piece, &g), 0);
                assert_int_equal(t.n_records, 11);
                assert_int_equal(t.n_bad + t.n_skipped, 0);
                assert_int_equal(g.n, 10);
                assert_int_equal(g.last.step, 10);
                assert_near(g.last.value, (double)0.1F, 0);
                assert_near(g.last.wall_time, 1700000000.5, 0);
                assert_string_equal(g.tag, "loss");
                assert_null(t.partial);
                sg_tfevents_deinit(&t);
        }
}

static void test_tensors(void **state)
{
        static const uint8_t float_list[] = "\x08\x01\x12\0\x2a\x04\0\0\0\x3f"; /* 0.5, packed */
        static const uint8_t float_one[] = "\x08\x01\x2d\0\0\x80\x3f";          /* 1, not packed */
        static const uint8_t double_raw[] = "\x08\x02\x22\x08\0\0\0\0\0\0\0\x40"; /* 2 */
        static const uint8_t two[] = "\x08\x01\x2a\x08\0\0\0\x3f\0\0\0\x3f";
        static const uint8_t text[] = "\x08\x07\x42\x02hi";
        struct sg_tfevents t = {0};
        struct got g = {0};

        (void)state;
        file.n = 0;
        put_tensor(&file, 1, "a", float_list, sizeof(float_list) - 1);
        assert_int_equal(feed(&t, file.n, &g), 0);
        assert_int_equal(g.n, 1);
        assert_near(g.last.value, 0.5, 0);
        file.n = 0;
        put_tensor(&file, 2, "b", float_one, sizeof(float_one) - 1);
        assert_int_equal(feed(&t, file.n, &g), 0);
        assert_int_equal(g.n, 2);
        assert_near(g.last.value, 1, 0);
        file.n = 0;
        put_tensor(&file, 3, "c", double_raw, sizeof(double_raw) - 1);
        assert_int_equal(feed(&t, file.n, &g), 0);
        assert_int_equal(g.n, 3);
        assert_near(g.last.value, 2, 0);
        file.n = 0;
        put_tensor(&file, 4, "d", two, sizeof(two) - 1);
        put_tensor(&file, 5, "e", text, sizeof(text) - 1);
        put_simple(&file, 6, "nan", NAN);
        assert_int_equal(feed(&t, file.n, &g), 0);
        assert_int_equal(g.n, 4);
        assert_true(isnan(g.last.value));
        assert_int_equal(t.n_bad, 0);
        sg_tfevents_deinit(&t);
}

/* Each byte of a record in turn: a wrong value is never reported. */
static void test_garbled(void **state)
{
        size_t one, size;

        (void)state;
        file.n = 0;
        put_simple(&file, 1, "loss", 0.5F);
        one = file.n;
        put_simple(&file, 2, "loss", 0.25F);
        size = file.n;
        for (size_t at = 0; at < one; at++) {
                struct sg_tfevents t = {0};
                struct got g = {0};
                int r;

                file.data[at] ^= 0x10;
                r = feed(&t, 7, &g);
                file.data[at] ^= 0x10;
                assert_int_equal(r, at < 12 ? 1 : 0);
                assert_int_equal(g.n, at < 12 ? 0 : 1);
                assert_int_equal(t.n_bad, at < 12 ? 0 : 1);
                if (at >= 12)
                        assert_int_equal(g.last.step, 2);
                else
                        assert_int_equal(sg_tfevents_feed(&t, file.data, size, on_scalar, &g), 1);
                sg_tfevents_deinit(&t);
        }
}

/* Whole by its checks, but no event: nothing of it is reported. */
static void test_no_event(void **state)
{
        static const uint8_t cut[] = "\x2a\x0a\x0a\x05\x15\0\0\0\x3f\x0a\x7f";
        struct sg_tfevents t = {0};
        struct got g = {0};

        (void)state;
        file.n = 0;
        put_record(&file, cut, sizeof(cut) - 1);
        put_record(&file, "", 0);
        put_record(&file, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11);
        assert_int_equal(feed(&t, file.n, &g), 0);
        assert_int_equal(g.n, 0);
        assert_int_equal(t.n_records, 3);
        assert_int_equal(t.n_bad, 2);
        sg_tfevents_deinit(&t);
}

/* More than is kept: passed over, in whatever pieces, with next to no memory. */
static void test_too_large(void **state)
{
        uint64_t length = SG_TFEVENTS_RECORD_MAX + 1;
        static uint8_t zeros[1 << 16];
        uint8_t head[12];
        struct got g = {0};

        (void)state;
        (void)put_le(head, length, 8);
        (void)put_crc(head + 8, head, 8);
        file.n = 0;
        put_simple(&file, 3, "loss", 1);
        for (size_t piece = 1; piece <= sizeof(head); piece++) {
                struct sg_tfevents t = {0};
                uint64_t left = length + 4;

                for (size_t at = 0; at < sizeof(head); at += piece)
                        assert_int_equal(sg_tfevents_feed(&t, head + at,
                                                          piece < sizeof(head) - at
                                                                  ? piece
                                                                  : sizeof(head) - at,
                                                          on_scalar, &g),
                                         0);
                for (size_t n; left > 0; left -= n) {
                        n = left < sizeof(zeros) ? (size_t)left : sizeof(zeros);
                        assert_int_equal(sg_tfevents_feed(&t, zeros, n, on_scalar, &g), 0);
                        assert_true(t.allocated < 1024);
                }
                g.n = 0;
                assert_int_equal(feed(&t, file.n, &g), 0);
                assert_int_equal(g.n, 1);
                assert_int_equal(t.n_skipped, 1);
                sg_tfevents_deinit(&t);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_grows),     cmocka_unit_test(test_tensors),
                cmocka_unit_test(test_garbled),   cmocka_unit_test(test_no_event),
                cmocka_unit_test(test_too_large),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
