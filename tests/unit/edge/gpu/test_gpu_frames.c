/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames between the daemon and schedgov-gpu: what is sent arrives, and nothing else is taken. */

#include "tests/unit/edge/gpu/fixture.h"
#include "tests/unit/test.h"

static int take(const struct sg_record *frame, size_t size, struct sg_gpu_inventory *ret)
{
        /* Of exactly that size, so that sanitizers see who reads beyond. */
        _cleanup_free_ uint8_t *copy = malloc(size ? size : 1);

        memcpy(copy, frame->data, size);
        return sg_gpu_take_inventory(copy, size, ret);
}

static void arrives(size_t n, enum fill fill)
{
        _cleanup_(sg_record_deinitp) struct sg_record frame = {0};
        struct sg_gpu_inventory sent, got;
        struct sg_gpu *gpus;

        make_inventory(&sent, n, fill);
        sg_gpu_put_inventory(&frame, &sent);
        assert_int_equal(frame.error, 0);
        assert_in_range(frame.size, 1, SG_GPU_FRAME_MAX);
        memset(&got, 0, sizeof(got));
        assert_int_equal(take(&frame, frame.size, &got), 0);
        assert_int_equal(got.n, n);
        if (n > 0)
                assert_memory_equal(got.gpus, sent.gpus, n * sizeof(*got.gpus));
        gpus = got.gpus;
        free(sent.gpus);
        sent.gpus = got.gpus = NULL;
        assert_memory_equal(&got, &sent, sizeof(got));
        free(gpus);
}

static void test_arrives(void **state)
{
        (void)state;
        arrives(0, FEW);
        arrives(1, FEW);
        arrives(8, FEW);
        arrives(SG_GPUS_MAX, FEW);
        arrives(SG_GPUS_MAX, FULL);
}

static void test_size_of_usual_one(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record frame = {0};
        struct sg_gpu_inventory sent;

        (void)state;
        make_inventory(&sent, 8, FEW);
        sg_gpu_put_inventory(&frame, &sent);
        assert_in_range(frame.size, 1000, 6000);
        free(sent.gpus);
}

/* Nothing that is shorter, and nothing that is longer. */
static void test_truncated(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record frame = {0};
        struct sg_gpu_inventory sent, got = {.n = 42};

        (void)state;
        make_inventory(&sent, 3, FEW);
        sent.gpus[1].mig = true;
        sent.gpus[1].n_instances = 1;
        (void)strcpy(sent.gpus[1].instances[0].uuid, "MIG-0");
        sent.gpus[1].instances[0].memory_total = SG_GPU_UNKNOWN;
        sg_gpu_put_inventory(&frame, &sent);
        free(sent.gpus);
        for (size_t size = 0; size < frame.size; size++)
                if (take(&frame, size, &got) != -EBADMSG)
                        fail_msg("%zu of %zu bytes were taken", size, frame.size);
        assert_int_equal(got.n, 42);
        assert_null(got.gpus);
        sg_record_append(&frame, "", 1);
        assert_int_equal(take(&frame, frame.size, &got), -EBADMSG);
}

/* A byte that isn't what it was is refused, or gives another inventory that is sound. */
static void test_damaged(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record frame = {0};
        struct sg_gpu_inventory sent, got;
        unsigned refused = 0;

        (void)state;
        make_inventory(&sent, 3, FEW);
        sg_gpu_put_inventory(&frame, &sent);
        free(sent.gpus);
        for (size_t i = 0; i < frame.size; i++) {
                int r;

                frame.data[i] ^= 0xff;
                r = take(&frame, frame.size, &got);
                frame.data[i] ^= 0xff;
                refused += r < 0;
                assert_int_equal(r < 0 || sg_gpu_inventory_is_sound(&got), true);
                if (r >= 0)
                        free(got.gpus);
        }
        assert_in_range(refused, frame.size / 2, frame.size - 1);
}

static void test_another_version(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record frame = {0}, order = {0};
        struct sg_gpu_inventory sent, got;
        struct sg_gpu_order o = {.every_usec = 2000000, .root = "/"};

        (void)state;
        make_inventory(&sent, 1, FEW);
        sg_gpu_put_inventory(&frame, &sent);
        free(sent.gpus);
        frame.data[0]++;
        assert_int_equal(take(&frame, frame.size, &got), -EPROTO);
        /* … whatever it says */
        assert_int_equal(take(&frame, 8, &got), -EPROTO);
        sg_gpu_put_order(&order, &o);
        order.data[0]++;
        assert_int_equal(sg_gpu_take_order(order.data, order.size, &o), -EPROTO);
}

/* What is refused. */
static struct sg_gpu *gpu(struct sg_gpu_inventory *v)
{
        return &v->gpus[1];
}

static void no_uuid(struct sg_gpu_inventory *v)
{
        gpu(v)->uuid[0] = '\0';
}

static void list_in_uuid(struct sg_gpu_inventory *v)
{
        (void)strcpy(gpu(v)->uuid, "GPU-1,GPU-2");
}

static void line_break_in_name(struct sg_gpu_inventory *v)
{
        (void)strcpy(gpu(v)->name, "A100\nGPU 1 is fine");
}

static void no_utf8(struct sg_gpu_inventory *v)
{
        (void)strcpy(v->message, "caf\xe9");
}

static void path_in_bus_id(struct sg_gpu_inventory *v)
{
        (void)strcpy(gpu(v)->bus_id, "0000:0/../00.0");
}

static void one_uuid_twice(struct sg_gpu_inventory *v)
{
        (void)strcpy(v->gpus[2].uuid, v->gpus[0].uuid);
}

static void one_uuid_of_gpu_and_instance(struct sg_gpu_inventory *v)
{
        gpu(v)->mig = true;
        gpu(v)->n_instances = 1;
        gpu(v)->instances[0].memory_total = 1;
        (void)strcpy(gpu(v)->instances[0].uuid, v->gpus[0].uuid);
}

static void instances_without_mig(struct sg_gpu_inventory *v)
{
        gpu(v)->n_instances = 1;
        gpu(v)->instances[0].memory_total = 1;
        (void)strcpy(gpu(v)->instances[0].uuid, "MIG-1");
}

static void out_of_order(struct sg_gpu_inventory *v)
{
        (void)strcpy(v->gpus[2].bus_id, "0000:00:00.0");
}

static void no_memory(struct sg_gpu_inventory *v)
{
        gpu(v)->memory_total = 0;
}

static void too_much_memory(struct sg_gpu_inventory *v)
{
        gpu(v)->memory_total = SG_GPU_BYTES_MAX + 1;
}

static void more_used_than_there_is(struct sg_gpu_inventory *v)
{
        gpu(v)->memory_used = gpu(v)->memory_total + 1;
}

static void more_than_all_of_it(struct sg_gpu_inventory *v)
{
        gpu(v)->utilization = 101;
}

static void too_much_power(struct sg_gpu_inventory *v)
{
        gpu(v)->power_max_mw = SG_GPU_POWER_MAX + 1ULL;
}

static void pid_0(struct sg_gpu_inventory *v)
{
        gpu(v)->processes[0].pid = 0;
}

static void pid_of_64_bits(struct sg_gpu_inventory *v)
{
        gpu(v)->processes[1].pid = 1ULL << 32;
}

static void process_twice(struct sg_gpu_inventory *v)
{
        gpu(v)->processes[1].pid = gpu(v)->processes[0].pid;
}

static void processes_that_are_unknown(struct sg_gpu_inventory *v)
{
        gpu(v)->processes_known = false;
}

static void too_much_of_a_process(struct sg_gpu_inventory *v)
{
        gpu(v)->processes[1].memory = SG_GPU_BYTES_MAX + 1;
}

static void no_such_distance(struct sg_gpu_inventory *v)
{
        gpu(v)->near[0].distance = v->gpus[0].near[1].distance = 15;
}

static void near_to_itself(struct sg_gpu_inventory *v)
{
        gpu(v)->near[1].distance = SG_GPU_LINKED;
}

static void nearer_from_one_side(struct sg_gpu_inventory *v)
{
        gpu(v)->near[2].distance = SG_GPU_NODE;
}

static void no_uuid_of_event(struct sg_gpu_inventory *v)
{
        v->events[0].uuid[0] = '\0';
}

static void test_bounds(void **state)
{
#define ROW(f)                                                                                     \
        {                                                                                          \
                f, #f                                                                              \
        }
        static const struct {
                void (*spoil)(struct sg_gpu_inventory *v);
                const char *what;
        } rows[] = {
                ROW(no_uuid),
                ROW(list_in_uuid),
                ROW(line_break_in_name),
                ROW(no_utf8),
                ROW(path_in_bus_id),
                ROW(one_uuid_twice),
                ROW(one_uuid_of_gpu_and_instance),
                ROW(instances_without_mig),
                ROW(out_of_order),
                ROW(no_memory),
                ROW(too_much_memory),
                ROW(more_used_than_there_is),
                ROW(more_than_all_of_it),
                ROW(too_much_power),
                ROW(pid_0),
                ROW(pid_of_64_bits),
                ROW(process_twice),
                ROW(processes_that_are_unknown),
                ROW(too_much_of_a_process),
                ROW(no_such_distance),
                ROW(near_to_itself),
                ROW(nearer_from_one_side),
                ROW(no_uuid_of_event),
        };
        struct sg_gpu_inventory sent, got;

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(rows); i++) {
                _cleanup_(sg_record_deinitp) struct sg_record frame = {0};

                make_inventory(&sent, 3, FEW);
                assert_true(sg_gpu_inventory_is_sound(&sent));
                rows[i].spoil(&sent);
                if (sg_gpu_inventory_is_sound(&sent))
                        fail_msg("sound in spite of %s", rows[i].what);
                sg_gpu_put_inventory(&frame, &sent);
                free(sent.gpus);
                if (take(&frame, frame.size, &got) != -EBADMSG)
                        fail_msg("taken in spite of %s", rows[i].what);
        }
}

static void test_unknown(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record frame = {0};
        struct sg_gpu_inventory sent, got;
        struct sg_gpu *g;

        (void)state;
        make_inventory(&sent, 3, FEW);
        g = gpu(&sent);
        g->lost = true;
        memset(g->bus_id, 0, sizeof(g->bus_id));
        g->index = g->minor = g->numa_node = g->memory_total = g->memory_used = SG_GPU_UNKNOWN;
        g->memory_reserved = g->utilization = g->temperature = g->power_mw = SG_GPU_UNKNOWN;
        g->power_limit_mw = g->power_default_mw = g->power_min_mw = SG_GPU_UNKNOWN;
        g->power_max_mw = g->energy_mj = sent.cuda = SG_GPU_UNKNOWN;
        g->processes_known = false;
        g->n_processes = 0;
        memset(g->processes, 0, sizeof(g->processes));
        memset(sent.gpus[0].bus_id, 0, sizeof(g->bus_id)); /* so that they are in order */
        sg_gpu_put_inventory(&frame, &sent);
        assert_int_equal(take(&frame, frame.size, &got), 0);
        assert_memory_equal(got.gpus, sent.gpus, 3 * sizeof(*got.gpus));
        free(sent.gpus);
        free(got.gpus);
}

static void test_orders(void **state)
{
        static const struct sg_gpu_order good = {2000000, "/usr/lib/libnvidia-ml.so.1",
                                                 "/run/nvidia"};
        struct sg_gpu_order o = good, got = {0};
        int want = 0;

        (void)state;
        for (int i = 0; i < 6; i++, want = -EBADMSG) {
                _cleanup_(sg_record_deinitp) struct sg_record frame = {0};

                o = good;
                o.every_usec = i == 1 ? 0 : i == 2 ? SG_GPU_EVERY_MAX_USEC + 1 : o.every_usec;
                o.root[0] = i == 3 ? '\0' : o.root[0];
                o.library[0] = i == 4 ? '.' : o.library[0];
                sg_gpu_put_order(&frame, &o);
                if (sg_gpu_take_order(frame.data, frame.size - (i == 5), &got) != want)
                        fail_msg("order %d isn't %s", i, want == 0 ? "taken" : "refused");
                assert_memory_equal(&got, &good, sizeof(got));
        }
}

/* The two aren't taken for each other. */
static void test_kinds(void **state)
{
        _cleanup_(sg_record_deinitp) struct sg_record frame = {0}, order = {0};
        struct sg_gpu_order o = {.every_usec = 2000000, .root = "/"};
        struct sg_gpu_inventory v;

        (void)state;
        make_inventory(&v, 0, FEW);
        sg_gpu_put_inventory(&frame, &v);
        free(TAKE_PTR(v.gpus));
        sg_gpu_put_order(&order, &o);
        assert_int_equal(sg_gpu_take_inventory(order.data, order.size, &v), -EBADMSG);
        assert_int_equal(sg_gpu_take_order(frame.data, frame.size, &o), -EBADMSG);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_arrives),         cmocka_unit_test(test_size_of_usual_one),
                cmocka_unit_test(test_truncated),       cmocka_unit_test(test_damaged),
                cmocka_unit_test(test_another_version), cmocka_unit_test(test_bounds),
                cmocka_unit_test(test_unknown),         cmocka_unit_test(test_orders),
                cmocka_unit_test(test_kinds),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
