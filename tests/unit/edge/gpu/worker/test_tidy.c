/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Inventories of what any driver may say. */

#include "tests/unit/edge/gpu/worker/fixture.h"

static struct sg_gpu *add(const char *uuid, const char *bus_id)
{
        struct sg_gpu *g = sg_gpu_add(&seen);

        (void)strcpy(g->uuid, uuid);
        (void)strcpy(g->bus_id, bus_id);
        g->processes_known = true;
        return g;
}

static void put_near(size_t a, size_t b, unsigned distance, unsigned links)
{
        seen.gpus[a].near[b] = (struct sg_gpu_near){(uint8_t)distance, (uint8_t)links};
}

static void expect_near(size_t a, size_t b, unsigned distance, unsigned links)
{
        assert_int_equal(seen.gpus[a].near[b].distance, distance);
        assert_int_equal(seen.gpus[a].near[b].links, links);
}

static void tidy(void)
{
        sg_gpu_tidy(&seen);
        assert_true(sg_gpu_inventory_is_sound(&seen));
}

/* Distances stay with their GPUs, whatever order those come in. */
static void test_order(void **state)
{
        static const char *const names[] = {"c", "a", "d", "b"};

        (void)state;
        sg_gpu_begin(&seen);
        seen.state = SG_GPU_DRIVER_OK;
        for (size_t i = 0; i < 4; i++)
                (void)add(names[i], i < 3 ? "0000:02:00.0" : "0000:01:00.0");
        put_near(0, 2, SG_GPU_LINKED, 4); /* c and d */
        put_near(2, 0, SG_GPU_LINKED, 4);
        put_near(1, 3, SG_GPU_HOST, 0); /* a and b */
        put_near(3, 1, SG_GPU_HOST, 0);
        tidy();
        assert_string_equal(seen.gpus[0].uuid, "b");
        assert_string_equal(seen.gpus[1].uuid, "a");
        assert_string_equal(seen.gpus[2].uuid, "c");
        assert_string_equal(seen.gpus[3].uuid, "d");
        expect_near(2, 3, SG_GPU_LINKED, 4);
        expect_near(3, 2, SG_GPU_LINKED, 4);
        expect_near(0, 1, SG_GPU_HOST, 0);
        expect_near(0, 2, SG_GPU_SYSTEM, 0);
        expect_near(1, 1, 0, 0);
}

/* What is said of a distance from one side only, or differs, is the farther. */
static void test_distances(void **state)
{
        (void)state;
        sg_gpu_begin(&seen);
        for (unsigned i = 0; i < 3; i++)
                (void)add(i == 0 ? "a" : i == 1 ? "b" : "c", "0000:01:00.0");
        put_near(0, 0, SG_GPU_LINKED, 1);
        put_near(0, 1, SG_GPU_LINKED, 12);
        put_near(1, 0, SG_GPU_NODE, 0);
        put_near(1, 2, SG_GPU_LINKED, 12);
        put_near(2, 1, SG_GPU_LINKED, 4);
        tidy();
        expect_near(0, 0, 0, 0);
        expect_near(0, 1, SG_GPU_NODE, 0);
        expect_near(1, 2, SG_GPU_LINKED, 4);
        expect_near(2, 1, SG_GPU_LINKED, 4);
        expect_near(0, 2, SG_GPU_SYSTEM, 0);
}

static void add_instance(struct sg_gpu *g, const char *uuid, uint64_t memory)
{
        struct sg_gpu_instance *m = &g->instances[g->n_instances++];

        g->mig = true;
        *m = (struct sg_gpu_instance){.memory_total = memory};
        (void)strcpy(m->uuid, uuid);
        (void)strcpy(m->profile, "1g.10gb");
}

static void test_instances(void **state)
{
        struct sg_gpu *a, *b;

        (void)state;
        sg_gpu_begin(&seen);
        a = add("a", "0000:01:00.0");
        b = add("b", "0000:02:00.0");
        add_instance(a, "MIG-1", 0);
        add_instance(a, "MIG-twice", GB);
        add_instance(a, "MIG-2", UINT64_MAX - 1);
        add_instance(a, "b", GB); /* a GPU's name */
        add_instance(b, "MIG-twice", GB);
        add_instance(b, "MIG-3", GB);
        (void)strcpy(b->instances[1].profile, "1g/../10gb");
        tidy();
        assert_int_equal(a->n_instances, 2);
        assert_string_equal(a->instances[0].uuid, "MIG-1");
        assert_int_equal(a->instances[0].memory_total, SG_GPU_UNKNOWN);
        assert_string_equal(a->instances[1].uuid, "MIG-2");
        assert_int_equal(a->instances[1].memory_total, SG_GPU_UNKNOWN);
        assert_int_equal(b->n_instances, 1);
        assert_string_equal(b->instances[0].uuid, "MIG-3");
        assert_string_equal(b->instances[0].profile, "");
        assert_string_equal(seen.message, "two instances call themselves MIG-twice");
}

static void test_events(void **state)
{
        (void)state;
        sg_gpu_begin(&seen);
        sg_gpu_add_event(&seen, SG_GPU_EVENT_XID, "", 31);
        sg_gpu_add_event(&seen, SG_GPU_EVENT_XID, "GPU-a", 13);
        tidy();
        assert_int_equal(seen.n_events, 1);
        assert_int_equal(seen.events[0].data, 13);
        assert_int_equal(seen.n_events_lost, 1);
}

/* The first of what is wrong is what is said, and it is one line. */
static void test_message(void **state)
{
        (void)state;
        sg_gpu_begin(&seen);
        sg_gpu_say(&seen, "%s",
                   "one\nline\x1b of 200 characters ......................................"
                   "................................................................."
                   ".............................................................");
        sg_gpu_say(&seen, "another");
        tidy();
        assert_int_equal(strncmp(seen.message, "one?line? of", 12), 0);
        assert_int_equal(strlen(seen.message), sizeof(seen.message) - 1);
}

/* What nobody has thought of is no inventory at all. */
static void test_nonsense(void **state)
{
        (void)state;
        sg_gpu_begin(&seen);
        seen.state = SG_GPU_DRIVER_OK;
        add_instance(add("a", "0000:01:00.0"), "MIG-1", GB);
        seen.gpus[0].mig = false;
        tidy();
        assert_int_equal(seen.state, SG_GPU_DRIVER_ERROR);
        assert_int_equal(seen.n, 0);
        assert_string_equal(seen.message, "what the driver says makes no sense");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
        const struct CMUnitTest tests[] = {
                TEST(test_order),  TEST(test_distances), TEST(test_instances),
                TEST(test_events), TEST(test_message),   TEST(test_nonsense),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
