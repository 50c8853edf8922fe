/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a job's document says of GPUs. The manager's rooms are in no archive: the file comes in as
 * text. */
#include "tests/unit/test.h"

#include "api/gpus-json.c"

json_t *sg_json_number(uint64_t v)
{
        return v == SG_UNLIMITED ? json_null() : json_integer((json_int_t)v);
}

static void expect(json_t *o, const char *text)
{
        _cleanup_free_ char *got = json_dumps(o, JSON_ENCODE_ANY | JSON_COMPACT);

        json_decref(o);
        if (!got || strcmp(got, text) != 0)
                fail_msg("%s, not %s", got ? got : "nothing", text);
}

static void test_given(void **state)
{
        struct sg_job job;

        (void)state;
        sg_job_init(&job);
        expect(sg_json_given_gpus(&job), "null");
        job.gpus = strdup("");
        expect(sg_json_given_gpus(&job), "[]");
        free(job.gpus);
        job.gpus = strdup("GPU-b,GPU-a");
        expect(sg_json_given_gpus(&job), "[\"GPU-b\",\"GPU-a\"]");
        sg_job_deinit(&job);
}

static void test_asked(void **state)
{
        struct sg_gpu_now now = {SG_UNLIMITED, SG_UNLIMITED};
        struct sg_job job;

        (void)state;
        sg_job_init(&job);
        expect(sg_json_job_gpu(&job, &now), "null");
        job.gpu = sg_gpu_request_new();
        assert_non_null(job.gpu);
        expect(sg_json_job_gpu(&job, &now),
               "{\"min\":1,\"max\":1,\"share\":1.0,\"memory_bytes\":null,\"type\":null,\"ids\":"
               "null,"
               "\"mig\":null,\"memory_used_bytes\":null,\"utilization\":null,"
               "\"memory_peak_bytes\":null,\"gpu_usec\":null,\"energy_joules\":null}");
        job.gpu->share = 50;
        job.gpu->memory_bytes = 1 << 20;
        job.gpu->type = strdup("A100*");
        job.gpu->used = (struct sg_gpu_used){7, 8, 2500};
        now = (struct sg_gpu_now){5, 88};
        expect(sg_json_job_gpu(&job, &now),
               "{\"min\":1,\"max\":1,\"share\":0.5,\"memory_bytes\":1048576,\"type\":\"A100*\","
               "\"ids\":null,\"mig\":null,\"memory_used_bytes\":5,\"utilization\":88,"
               "\"memory_peak_bytes\":7,\"gpu_usec\":8,\"energy_joules\":2.5}");
        sg_job_deinit(&job);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_given),
                cmocka_unit_test(test_asked),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
