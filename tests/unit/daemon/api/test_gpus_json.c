/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The document of the node's GPUs: what is known is as it is, what isn't is null, never 0. The
 * manager's rooms are in no archive: the file comes in as text. */
#include "tests/unit/test.h"

#include "api/gpus-json.c"

#include <string.h>

#define UNKNOWN SG_GPU_UNKNOWN
#define GIB (1ULL << 30)

static struct sg_gpu two[2];
static struct sg_gpu_inventory inventory = {.n = 2, .gpus = two};

static void make_gpu(struct sg_gpu *g, const char *uuid, uint64_t index)
{
        *g = (struct sg_gpu){
                .index = index,
                .minor = index,
                .numa_node = UNKNOWN,
                .memory_total = 80 * GIB,
                .memory_used = 22 * GIB,
                .memory_reserved = UNKNOWN,
                .utilization = 88,
                .temperature = 58,
                .power_mw = 296500,
                .power_limit_mw = 400000,
                .power_default_mw = UNKNOWN,
                .energy_mj = 1500,
                .throttled_power = true,
                .processes_known = true,
        };
        strcpy(g->uuid, uuid);
        strcpy(g->name, "A100-SXM4-80GB");
        strcpy(g->vendor, "nvidia");
        strcpy(g->bus_id, "0000:3b:00.0");
}

static int setup(void **state)
{
        (void)state;
        make_gpu(&two[0], "GPU-a", 1);
        make_gpu(&two[1], "GPU-b", 0);
        two[0].near[1] = (struct sg_gpu_near){SG_GPU_LINKED, 12};
        two[1].near[0] = (struct sg_gpu_near){SG_GPU_SWITCHES, 0};
        return 0;
}

static void expect(const json_t *o, const char *key, const char *text)
{
        _cleanup_free_ char *got =
                json_dumps(json_object_get(o, key), JSON_ENCODE_ANY | JSON_COMPACT);

        if (!got || strcmp(got, text) != 0)
                fail_msg("%s: %s, not %s", key, got ? got : "isn't there", text);
}

static const json_t *first(const json_t *doc, const char *key)
{
        const json_t *o = json_array_get(json_object_get(doc, key), 0);

        assert_non_null(o);
        return o;
}

static void test_absent(void **state)
{
        const struct sg_gpu_view view = {
                .managed = true, .cuda = UNKNOWN, .fragmentation_pm = UNKNOWN};
        json_t *doc = sg_json_gpus(&view);

        (void)state;
        expect(doc, "schema", "\"schedgov.gpus/1\"");
        expect(doc, "driver",
               "{\"state\":\"absent\",\"version\":null,\"cuda\":null,\"since\":null,\"message\":"
               "null}");
        expect(doc, "fragmentation", "null");
        expect(doc, "gpus", "[]");
        json_decref(doc);
}

static void test_known(void **state)
{
        static const char *const nodes[] = {"/dev/nvidia1"};
        static const struct sg_gpu_process process = {4411, 4 * GIB, UNKNOWN, UNKNOWN, UNKNOWN};
        const struct sg_gpu_view_job job = {.id = "9",
                                            .user = "bob",
                                            .share = 50,
                                            .memory_limit = 20 * GIB,
                                            .memory = UNKNOWN,
                                            .instance = SG_GPU_NO_INSTANCE};
        const struct sg_gpu_view_process shown = {.process = &process, .user = "bob"};
        const struct sg_gpu_view_gpu gpu = {.gpu = &two[0],
                                            .fresh = true,
                                            .state = "ok",
                                            .reason = "",
                                            .mode = "shared",
                                            .promised = 24 * GIB,
                                            .free = 55 * GIB,
                                            .foreign = 4 * GIB,
                                            .unattributed = UNKNOWN,
                                            .nodes = nodes,
                                            .n_nodes = 1,
                                            .jobs = &job,
                                            .n_jobs = 1,
                                            .processes = &shown,
                                            .n_processes = 1};
        const struct sg_gpu_view view = {.managed = true,
                                         .driver = SG_GPU_DRIVER_OK,
                                         .version = "550.54.15",
                                         .cuda = 12040,
                                         .fragmentation_pm = 3400,
                                         .gpus = &gpu,
                                         .n = 1,
                                         .inventory = &inventory};
        json_t *doc = sg_json_gpus(&view);
        const json_t *o = first(doc, "gpus");

        (void)state;
        expect(json_object_get(doc, "driver"), "cuda", "\"12.4\"");
        expect(json_object_get(doc, "driver"), "version", "\"550.54.15\"");
        expect(doc, "fragmentation", "0.34000000000000002");
        expect(o, "uuid", "\"GPU-a\"");
        expect(o, "reason", "null");
        expect(o, "since", "null");
        expect(o, "numa_node", "null");
        expect(o, "nodes", "[\"/dev/nvidia1\"]");
        expect(o, "memory",
               "{\"total_bytes\":85899345920,\"used_bytes\":23622320128,\"promised_bytes\":"
               "25769803776,"
               "\"free_bytes\":59055800320,\"foreign_bytes\":4294967296,\"unattributed_bytes\":"
               "null}");
        expect(o, "power", "{\"watts\":296.5,\"limit_watts\":400.0,\"default_watts\":null}");
        expect(o, "energy_joules", "1.5");
        expect(o, "throttled", "[\"power\"]");
        expect(o, "near", "[{\"gpu\":0,\"level\":\"nvlink\",\"links\":12}]");
        expect(o, "jobs",
               "[{\"id\":\"9\",\"user\":\"bob\",\"share\":0.5,\"memory_limit_bytes\":21474836480,"
               "\"memory_bytes\":null,\"idle_sec\":0.0}]");
        expect(o, "processes",
               "[{\"pid\":4411,\"user\":\"bob\",\"command\":null,\"job\":null,"
               "\"memory_bytes\":4294967296,\"utilization\":null}]");
        expect(o, "mig", "[]");
        json_decref(doc);
}

/* Of a driver that doesn't answer: what never changes, and no figure. */
static void test_stale(void **state)
{
        const struct sg_gpu_view_gpu gpu = {.gpu = &two[1],
                                            .state = "unknown",
                                            .reason = "the driver hasn't answered",
                                            .mode = "free",
                                            .since_usec = 1800000000000000,
                                            .promised = UNKNOWN,
                                            .free = UNKNOWN,
                                            .foreign = UNKNOWN,
                                            .unattributed = UNKNOWN};
        const struct sg_gpu_view view = {.managed = true,
                                         .driver = SG_GPU_DRIVER_HUNG,
                                         .cuda = UNKNOWN,
                                         .fragmentation_pm = UNKNOWN,
                                         .message = "no answer\n for 5s",
                                         .gpus = &gpu,
                                         .n = 1,
                                         .inventory = &inventory};
        static const char *const figures[] = {"utilization", "temperature_celsius", "energy_joules",
                                              "processes"};
        json_t *doc = sg_json_gpus(&view);
        const json_t *o = first(doc, "gpus");

        (void)state;
        expect(json_object_get(doc, "driver"), "state", "\"hung\"");
        expect(json_object_get(doc, "driver"), "message", "\"no answer? for 5s\"");
        expect(o, "since", "\"2027-01-15T08:00:00.000000Z\"");
        for (size_t i = 0; i < SG_ELEMENTSOF(figures); i++)
                expect(o, figures[i], "null");
        expect(o, "throttled", "[]");
        expect(json_object_get(o, "memory"), "used_bytes", "null");
        expect(json_object_get(o, "memory"), "total_bytes", "85899345920");
        expect(json_object_get(o, "power"), "watts", "null");
        expect(o, "near", "[{\"gpu\":1,\"level\":\"switch\",\"links\":null}]");
        json_decref(doc);
}

static void test_mig(void **state)
{
        const struct sg_gpu_view_job jobs[] = {
                {.id = "7",
                 .user = "a",
                 .share = 100,
                 .memory_limit = UNKNOWN,
                 .memory = 1,
                 .instance = 1},
        };
        const struct sg_gpu_view_gpu gpu = {.gpu = &two[0],
                                            .fresh = true,
                                            .state = "ok",
                                            .mode = "mig",
                                            .jobs = jobs,
                                            .n_jobs = 1};
        const struct sg_gpu_view view = {
                .managed = true, .driver = SG_GPU_DRIVER_OK, .gpus = &gpu, .n = 1};
        json_t *doc;
        const json_t *list;

        (void)state;
        two[0].n_instances = 2;
        for (unsigned i = 0; i < 2; i++) {
                two[0].instances[i] =
                        (struct sg_gpu_instance){.gpu_instance = 7 + i, .memory_total = 10 * GIB};
                strcpy(two[0].instances[i].uuid, i ? "MIG-1" : "MIG-0");
                strcpy(two[0].instances[i].profile, "1g.10gb");
        }
        doc = sg_json_gpus(&view);
        list = json_object_get(first(doc, "gpus"), "mig");
        assert_int_equal(json_array_size(list), 2);
        expect(json_array_get(list, 0), "job", "null");
        expect(json_array_get(list, 1), "job", "\"7\"");
        expect(json_array_get(list, 1), "gpu_instance", "8");
        json_decref(doc);
}

static void test_not_managed(void **state)
{
        const struct sg_gpu_view view = {
                .managed = false, .cuda = UNKNOWN, .fragmentation_pm = UNKNOWN};
        json_t *doc = sg_json_gpus(&view);

        (void)state;
        expect(doc, "managed", "false");
        expect(json_object_get(doc, "driver"), "state", "null");
        json_decref(doc);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup(test_absent, setup),
                cmocka_unit_test_setup(test_known, setup),
                cmocka_unit_test_setup(test_stale, setup),
                cmocka_unit_test_setup(test_mig, setup),
                cmocka_unit_test_setup(test_not_managed, setup),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
