/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which GPUs a request gets, and what is said if it gets none. */
#include "tests/unit/core/gpu/node.h"
#include "tests/unit/test.h"

static struct gpu_node node;
static struct sg_gpu_pool pool;

static void make(size_t n)
{
        node_make(&node, n);
        sg_gpu_pool_init(&pool, &node.inventory);
}

/* Of GPUs: "0,1"; of an instance "0.2"; "-": none. */
static const char *place(const struct sg_gpu_pool *p, struct sg_gpu_request r)
{
        static char text[256];
        struct sg_gpu_choice c = {0};
        size_t used = 0;
        bool fits = sg_gpu_fits(p, &r, NULL);

        assert_int_equal(sg_gpu_place(p, &r, &c), fits);
        if (!fits)
                return "-";
        for (size_t k = 0; k < c.n; k++)
                used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%u", k ? "," : "",
                                         c.gpus[k]);
        if (c.instance != SG_GPU_NONE)
                (void)snprintf(text + used, sizeof(text) - used, ".%u", c.instance);
        return text;
}

static const char *takes(struct sg_gpu_request r)
{
        const char *text = place(&pool, r);
        struct sg_gpu_choice c;

        if (sg_gpu_place(&pool, &r, &c))
                sg_gpu_pool_take(&pool, &c);
        return text;
}

static const char *why_not(struct sg_gpu_request r)
{
        static char text[SG_GPU_LACK_TEXT_MAX];
        struct sg_gpu_lack lack = {0};

        if (sg_gpu_fits(&pool, &r, &lack))
                return "";
        return sg_gpu_lack_format(text, &r, &lack);
}

static const char *refused(struct sg_gpu_request r)
{
        static char text[SG_GPU_LACK_TEXT_MAX];
        struct sg_gpu_lack lack = {0};

        if (sg_gpu_could_fit(&pool, &r, &lack))
                return "";
        return sg_gpu_lack_format(text, &r, &lack);
}

static void hold_whole(const char *gpus)
{
        assert_string_equal(takes(want_ids((char *)gpus)), gpus);
}

/* Whole GPUs */

static void test_pairs_stay_together(void **state)
{
        (void)state;
        make(8);
        assert_string_equal(takes(want(1, 1)), "0");
        assert_string_equal(takes(want(2, 2)), "2,3");
        assert_string_equal(takes(want(1, 1)), "1"); /* whose neighbour is taken */
        assert_string_equal(takes(want(2, 2)), "4,5");
        assert_string_equal(takes(want(3, 3)), "-");
        assert_string_equal(takes(want(2, 2)), "6,7");
}

static void test_largest_distance_first(void **state)
{
        (void)state;
        make(8);
        hold_whole("0");
        hold_whole("5");
        /* 1 with 2, 3 are at most a switch apart; so are 4, 6, 7, which break as many pairs. */
        assert_string_equal(place(&pool, want(3, 3)), "1,2,3");
        hold_whole("2");
        assert_string_equal(place(&pool, want(3, 3)), "4,6,7");
        assert_string_equal(place(&pool, want(2, 2)), "6,7");
        assert_string_equal(place(&pool, want(5, 5)), "1,3,4,6,7");
}

static void test_as_many_as_there_are(void **state)
{
        (void)state;
        make(4);
        hold_whole("1");
        assert_string_equal(place(&pool, want(2, 8)), "0,2,3");
        assert_string_equal(place(&pool, want(1, 2)), "2,3");
        assert_string_equal(place(&pool, want(4, 8)), "-");
}

static void test_one_type(void **state)
{
        struct sg_gpu_request r = want(2, 2);

        (void)state;
        make(4);
        node_board(&node, 0, "T4", 16 * GIB);
        node_join(&node, 0, 1, SG_GPU_LINKED);
        sg_gpu_pool_init(&pool, &node.inventory);
        assert_string_equal(place(&pool, r), "2,3");
        hold_whole("2");
        assert_string_equal(place(&pool, r), "1,3");
        r.type = (char *)"T*";
        assert_string_equal(why_not(r), "2 GPUs of type T*, 1 free");
        assert_string_equal(refused(r), "2 GPUs of type T*, this node has 1");
        r.type = (char *)"*a100-*"; /* as Slurm's users write it */
        assert_string_equal(place(&pool, r), "1,3");
        r.type = (char *)"[h]100*";
        assert_string_equal(refused(r), "2 GPUs of type [h]100*, this node has none such");
        r.type = (char *)"H100*";
        assert_string_equal(refused(r), "2 GPUs of type H100*, this node has none such");
        r.type = NULL;
        hold_whole("3");
        assert_string_equal(why_not(r), "2 GPUs of one type, 1 free");
        assert_string_equal(refused(r), "");
        assert_string_equal(refused(want(4, 4)), "4 GPUs of one type, this node has 3");
}

static void test_memory(void **state)
{
        struct sg_gpu_request r = want(1, 1);

        (void)state;
        make(2);
        node.gpus[0].memory_total = 24 * GIB;
        node.gpus[1].memory_reserved = SG_GPU_UNKNOWN;
        sg_gpu_pool_init(&pool, &node.inventory);
        /* The smaller one; and of the larger one a part is the driver's. */
        assert_string_equal(place(&pool, r), "0");
        r.memory_bytes = 30 * GIB;
        assert_string_equal(place(&pool, r), "1");
        r.memory_bytes = 80 * GIB;
        assert_string_equal(refused(r), "1 GPU with 80G, this node has none such");
        r.memory_bytes = 78 * GIB;
        assert_string_equal(refused(r), "");
        node.gpus[1].memory_total = SG_GPU_UNKNOWN;
        sg_gpu_pool_init(&pool, &node.inventory);
        assert_string_equal(refused(r), "1 GPU with 78G, this node has none such");
        hold_whole("0");
        assert_string_equal(place(&pool, want(1, 1)), "1"); /* nothing is asked of its memory */
        assert_string_equal(place(&pool, want_part(50, GIB)), "-");
}

static void test_all_alike_are_found_at_once(void **state)
{
        (void)state;
        make(64);
        for (size_t i = 0; i < 64; i++)
                for (size_t j = i + 1; j < 64; j++)
                        node_join(&node, i, j, SG_GPU_LINKED);
        sg_gpu_pool_init(&pool, &node.inventory);
        hold_whole("0");
        /* The one whose partner is gone, and pairs. */
        assert_string_equal(place(&pool, want(5, 5)), "1,2,3,4,5");
        assert_string_equal(place(&pool, want(4, 4)), "2,3,4,5");
        assert_string_equal(strrchr(place(&pool, want(63, 63)), ','), ",63");
}

/* Named ones */

static void test_named(void **state)
{
        (void)state;
        make(4);
        node.gpus[3].index = 7;
        assert_string_equal(place(&pool, want_ids((char *)"2,0")), "2,0");
        assert_string_equal(place(&pool, want_ids((char *)"7,GPU-01")), "3,1");
        hold_whole("1");
        assert_string_equal(why_not(want_ids((char *)"7,1,0")), "GPUs 7,1,0, 1 isn't free");
        assert_string_equal(refused(want_ids((char *)"7,1,0")), "");
        assert_string_equal(refused(want_ids((char *)"0,3")),
                            "GPUs 0,3, 3 can't be had like that on this node");
        assert_string_equal(refused(want_ids((char *)"0,2,0")),
                            "GPUs 0,2,0, 0 can't be had like that on this node");
        pool.rooms[2].excluded = true;
        assert_string_equal(refused(want_ids((char *)"0,2")),
                            "GPUs 0,2, 2 can't be had like that on this node");
}

/* Parts */

static void test_parts_fill_up(void **state)
{
        (void)state;
        make(4);
        hold_whole("2");
        assert_string_equal(takes(want_part(50, 20 * GIB)), "3"); /* its neighbour is taken */
        assert_string_equal(takes(want_part(25, 20 * GIB)), "3");
        assert_string_equal(takes(want_part(25, 50 * GIB)), "0"); /* too much memory for it */
        assert_string_equal(takes(want_part(25, 10 * GIB)), "0"); /* there is less left over */
        assert_string_equal(takes(want_part(50, 30 * GIB)), "1");
        assert_string_equal(why_not(want_part(55, 20 * GIB)),
                            "0.55 of a GPU with 20G, none has that much left");
        assert_string_equal(why_not(want(1, 1)), "1 GPU, 0 free");
        assert_string_equal(refused(want_part(50, 81 * GIB)),
                            "0.5 of a GPU with 81G, this node has none such");
}

static void test_not_whole_with_others(void **state)
{
        (void)state;
        make(2);
        pool.rooms[0].foreign = true;
        assert_string_equal(place(&pool, want(1, 1)), "1");
        assert_string_equal(place(&pool, want_part(50, GIB)), "0");
        node.gpus[0].exclusive = true;
        assert_string_equal(place(&pool, want_part(50, GIB)), "1");
        pool.rooms[1].closed = true;
        assert_string_equal(why_not(want(1, 1)), "1 GPU, 0 free");
        pool.known = false;
        assert_string_equal(why_not(want(1, 1)), "1 GPU, and nobody knows what is free");
        assert_string_equal(refused(want(1, 1)), "");
}

/* MIG */

static void test_smallest_instance(void **state)
{
        (void)state;
        make(3);
        for (size_t i = 0; i < 2; i++) {
                node_add_instance(&node, i, "3g.40gb", 40 * GIB);
                for (size_t k = 0; k < 2 + i; k++)
                        node_add_instance(&node, i, "1g.10gb", 10 * GIB);
        }
        sg_gpu_pool_init(&pool, &node.inventory);
        assert_string_equal(takes(want_mig((char *)"1g.10gb")), "0.1"); /* the fewest are free */
        assert_string_equal(takes(want_mig((char *)"1g.10gb")), "0.2");
        assert_string_equal(takes(want_mig((char *)"1g.10gb")), "1.1");
        assert_string_equal(takes(want_mig((char *)"2g.20gb")),
                            "0.0"); /* no smaller one is so large */
        assert_string_equal(takes(want_mig((char *)"3g.40gb")), "1.0");
        assert_string_equal(why_not(want_mig((char *)"3g.40gb")),
                            "a MIG instance of 3g.40gb, of 2 none is free");
        assert_string_equal(refused(want_mig((char *)"7g.80gb")),
                            "a MIG instance of 7g.80gb, this node has only 3g.40gb, 1g.10gb");
        assert_string_equal(refused(want_mig((char *)"1g.10gb+me")),
                            "a MIG instance of 1g.10gb+me, this node has only 3g.40gb, 1g.10gb");
        /* A GPU of instances is given to nobody as a whole. */
        assert_string_equal(place(&pool, want(1, 4)), "2");
        assert_string_equal(place(&pool, want_ids((char *)"0")), "-");
        pool.rooms[1].users = 1;
        assert_string_equal(place(&pool, want_mig((char *)"1g.10gb")), "-");
}

/* Pools */

static void test_release(void **state)
{
        const struct sg_gpu_hold holds[] = {
                {.job = 5, .gpu = 0, .instance = SG_GPU_NONE, .share = 50, .promised = 20 * GIB},
                {.job = 7, .gpu = 0, .instance = SG_GPU_NONE, .share = 25, .promised = 30 * GIB},
                {.job = 7, .gpu = 1, .instance = SG_GPU_NONE, .share = 0, .promised = GIB},
        };

        (void)state;
        make(2);
        pool.holds = holds;
        pool.n_holds = 3;
        pool.rooms[0].hundredths = 75;
        pool.rooms[0].left = 30 * GIB;
        pool.rooms[1].users = 1;
        pool.rooms[1].left = 79 * GIB;
        assert_string_equal(place(&pool, want(1, 1)), "-");
        sg_gpu_pool_release(&pool, 6);
        assert_int_equal(pool.rooms[0].hundredths, 75);
        sg_gpu_pool_release(&pool, 7);
        assert_int_equal(pool.rooms[0].hundredths, 50);
        assert_int_equal(pool.rooms[0].left, 60 * GIB);
        assert_int_equal(pool.rooms[1].left, 80 * GIB);
        assert_string_equal(place(&pool, want(1, 2)), "1");
        sg_gpu_pool_release(&pool, 5);
        assert_string_equal(place(&pool, want(2, 2)), "0,1");
}

static void test_fragmentation(void **state)
{
        (void)state;
        make(4);
        assert_int_equal(sg_gpu_fragmentation_pm(&pool), 0);
        hold_whole("0");
        assert_int_equal(sg_gpu_fragmentation_pm(&pool), 0);
        assert_string_equal(takes(want_part(50, 40 * GIB)), "1");
        assert_int_equal(sg_gpu_fragmentation_pm(&pool), 2000); /* 40 of 200 GiB */
        hold_whole("2");
        hold_whole("3");
        assert_int_equal(sg_gpu_fragmentation_pm(&pool), 10000);
        pool.known = false;
        assert_true(sg_gpu_fragmentation_pm(&pool) == SG_GPU_UNKNOWN);
}

static void test_uuids(void **state)
{
        const struct sg_gpu_choice two = {.n = 2, .gpus = {1, 0}, .instance = SG_GPU_NONE};
        const struct sg_gpu_choice part = {.n = 1, .gpus = {0}, .instance = 0};
        _cleanup_free_ char *text = NULL, *mig = NULL;

        (void)state;
        make(2);
        node_add_instance(&node, 0, "1g.10gb", GIB);
        assert_int_equal(sg_gpu_choice_uuids(&pool, &two, &text), 0);
        assert_string_equal(text, "GPU-01,GPU-00");
        assert_int_equal(sg_gpu_choice_uuids(&pool, &part, &mig), 0);
        assert_string_equal(mig, "MIG-00-0");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_pairs_stay_together),
                cmocka_unit_test(test_largest_distance_first),
                cmocka_unit_test(test_as_many_as_there_are),
                cmocka_unit_test(test_one_type),
                cmocka_unit_test(test_memory),
                cmocka_unit_test(test_all_alike_are_found_at_once),
                cmocka_unit_test(test_named),
                cmocka_unit_test(test_parts_fill_up),
                cmocka_unit_test(test_not_whole_with_others),
                cmocka_unit_test(test_smallest_instance),
                cmocka_unit_test(test_release),
                cmocka_unit_test(test_fragmentation),
                cmocka_unit_test(test_uuids),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
