/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a request asks for of GPUs, with what its class gives or its job asked for before. */
#include "tests/unit/test.h"

#include "core/ask/request.h"
#include <errno.h>

static struct sg_gpu_request *got;

/* "gpus=2 gpu_mem=1G"; true: it is taken, and `got` is what it comes to. */
static bool take(const char *words, const struct sg_gpu_request *from, char line[256])
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        _cleanup_(sg_request_deinit) struct sg_request q;
        char copy[256], *rest = copy, *word;
        int r = 0;

        sg_request_init(&q, SG_REQUEST_SUBMIT);
        (void)snprintf(copy, sizeof(copy), "%s", words);
        while (r >= 0 && (word = strsep(&rest, " ")) && *word) {
                const char *name = strsep(&word, "=");
                const struct sg_param *p = NULL;
                struct sg_value v;

                assert_int_equal(sg_request_find(&q, name, &p, &a), 0);
                v = (struct sg_value){.type = p->type, .text = word};
                if (p->type == SG_VALUE_U64)
                        assert_int_equal(sg_parse_bytes(word, &v.number), 0);
                r = sg_request_put(&q, p, &v, &a);
        }
        if (r >= 0)
                r = sg_request_check_gpus(&q, &a);
        if (r >= 0) {
                got = sg_gpu_request_free(got);
                r = sg_request_take_gpus(&q, from, &got, &a);
        }
        (void)snprintf(line, 256, "%s", r < 0 ? a.line : "");
        return r >= 0;
}

static void expect(const char *words, const struct sg_gpu_request *from, unsigned min, unsigned max,
                   unsigned share, uint64_t memory)
{
        char line[256];

        if (!take(words, from, line))
                fail_msg("%s is refused: %s", words, line);
        if (min == 0) {
                if (got)
                        fail_msg("%s asks for GPUs", words);
                return;
        }
        if (!got)
                fail_msg("%s asks for none", words);
        if (got->min != min || got->max != max || got->share != share ||
            got->memory_bytes != memory)
                fail_msg("%s: %ju to %ju, %ju %%, %ju bytes", words, (uintmax_t)got->min,
                         (uintmax_t)got->max, (uintmax_t)got->share, (uintmax_t)got->memory_bytes);
}

static void refused(const char *words, const struct sg_gpu_request *from, const char *why)
{
        char line[256];

        if (take(words, from, line))
                fail_msg("%s isn't refused", words);
        if (!strstr(line, why))
                fail_msg("%s: %s", words, line);
}

#define NO SG_UNLIMITED
#define GIB (1ULL << 30)

static void test_alone(void **state)
{
        (void)state;
        expect("", NULL, 0, 0, 0, 0);
        expect("gpus=2", NULL, 2, 2, 100, NO);
        expect("gpus=1-4 gpu_type=A100*", NULL, 1, 4, 100, NO);
        assert_string_equal(got->type, "A100*");
        expect("gpus=0.5 gpu_mem=20G", NULL, 1, 1, 50, 20 * GIB);
        expect("gpu_mem=10G", NULL, 1, 1, 100, 10 * GIB);
        expect("gpu_type=T4", NULL, 1, 1, 100, NO);
        expect("gpu_ids=2,0", NULL, 2, 2, 100, NO);
        assert_string_equal(got->ids, "2,0");
        expect("gpu_ids=GPU-x gpus=0.25 gpu_mem=1G", NULL, 1, 1, 25, GIB);
        expect("mig=1g.10gb", NULL, 1, 1, 100, NO);
        assert_string_equal(got->mig, "1g.10gb");
        expect("gpus=0", NULL, 0, 0, 0, 0);
}

static void test_contradictions(void **state)
{
        (void)state;
        refused("gpus=none", NULL, "gpus: wants a number of GPUs such as 2 or 1-4");
        refused("gpus=65", NULL, "at most 64");
        refused("gpus=0.5", NULL, "its memory must be said");
        refused("gpu_mem=1K", NULL, "gpu_mem: at least 1M, not 1K");
        refused("gpus=0 gpu_mem=1G", NULL, "gpus: 0 asks for none");
        refused("gpus=2 mig=1g.10gb", NULL, "mig: one instance a job");
        refused("gpus=0.5 gpu_mem=1G mig=1g.10gb", NULL, "mig: an instance is a part");
        refused("mig=big", NULL, "mig: wants a profile such as 1g.10gb, not 'big'");
        refused("mig=1g.10gb gpu_ids=0", NULL, "mig: not together with gpu-ids");
        refused("gpu_ids=0,0", NULL, "gpu-ids: wants indexes or UUIDs");
        refused("gpu_ids=0,1 gpus=3", NULL, "gpu-ids: names 2 GPUs, and gpus asks for 3");
        refused("gpu_ids=0,1 gpus=1-2", NULL, "gpu-ids: names 2 GPUs, and gpus asks for 1-2");
        refused("gpu_ids=0 gpu_type=T4", NULL, "gpu-type: not together with gpu-ids");
}

static void test_class(void **state)
{
        struct sg_gpu_request class;

        (void)state;
        sg_gpu_request_init(&class);
        class.memory_bytes = 4 * GIB;
        class.min = class.max = 0; /* GpuMemory= alone */
        expect("", &class, 0, 0, 0, 0);
        expect("gpus=0.5", &class, 1, 1, 50, 4 * GIB);
        expect("gpus=2 gpu_mem=infinity", &class, 2, 2, 100, NO);
        class.min = class.max = 1;
        class.share = 25;
        expect("", &class, 1, 1, 25, 4 * GIB);
        expect("gpu_mem=8G", &class, 1, 1, 25, 8 * GIB);
        expect("gpus=0", &class, 0, 0, 0, 0);
        expect("gpu_ids=3", &class, 1, 1, 25, 4 * GIB);
        expect("gpu_ids=3,4", &class, 2, 2, 100, 4 * GIB);
        refused("gpu_mem=infinity", &class, "its memory must be said");
}

/* `set`, of a job that asks for something. */
static void test_again(void **state)
{
        struct sg_gpu_request *before;
        char line[256];

        (void)state;
        assert_true(take("gpu_ids=2,0 gpu_mem=1G", NULL, line));
        before = got;
        got = NULL;
        expect("gpu_mem=2G", before, 2, 2, 100, 2 * GIB);
        assert_string_equal(got->ids, "2,0");
        refused("gpus=1", before, "gpu-ids: names 2 GPUs, and gpus asks for 1");
        expect("gpus=1 gpu_ids=any", before, 1, 1, 100, GIB);
        assert_null(got->ids);
        expect("gpus=1 gpu_ids=any gpu_type=T4", before, 1, 1, 100, GIB);
        expect("gpus=0", before, 0, 0, 0, 0);
        sg_gpu_request_free(before);
        assert_true(take("mig=1g.10gb", NULL, line));
        before = got;
        got = NULL;
        expect("mig=none gpus=2", before, 2, 2, 100, NO);
        assert_null(got->mig);
        sg_gpu_request_free(before);
        got = sg_gpu_request_free(got);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_alone),
                cmocka_unit_test(test_contradictions),
                cmocka_unit_test(test_class),
                cmocka_unit_test(test_again),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
