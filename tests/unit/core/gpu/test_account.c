/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who holds and uses what of GPUs, in which state they are, and what is told of it. */
#include "tests/unit/core/gpu/account_world.h"

/* Who has how much */

static void test_shares_and_others(void **state)
{
        struct sg_gpu_use use;

        (void)state;
        node.gpus[1].memory_reserved = SG_GPU_UNKNOWN;
        look();
        claim(9, 50, 30 * GIB, "GPU-01");
        claim(12, 25, 5 * GIB, "GPU-01");
        assert_int_equal(gpu(1)->mode, SG_GPU_MODE_SHARED);
        own(100, 9, "python");
        own(101, 12, "python");
        own(102, 0, "python");
        node_add_process(&node, 1, 100, 10 * GIB);
        node_add_process(&node, 1, 101, 7 * GIB);
        node_add_process(&node, 1, 102, 4 * GIB);
        node.gpus[1].memory_used += GIB / 2;
        look();
        assert_int_equal(gpu(1)->foreign, 4 * GIB);
        assert_int_equal(gpu(1)->unattributed, GIB / 2);
        /* What is declared counts in full; what is used beyond that, too. */
        assert_int_equal(gpu(1)->promised, 30 * GIB + 7 * GIB + 4 * GIB + GIB / 2);
        assert_int_equal(gpu(1)->free, 80 * GIB - 80 * GIB / 50 - gpu(1)->promised);
        assert_true(sg_gpu_account_use(account, 9, &use));
        assert_int_equal(use.hundredths, 50);
        assert_int_equal(use.memory_bytes, 10 * GIB);
        assert_false(sg_gpu_account_use(account, 7, &use));
        assert_int_equal(sg_gpu_account_job_of(account, 101), 12);
        assert_int_equal(sg_gpu_account_job_of(account, 102), 0);
        assert_true(fits(want_part(25, 30 * GIB)));
        assert_false(fits(want_ids((char *)"1")));
}

static void test_declared_before_the_first_process(void **state)
{
        (void)state;
        look();
        claim(1, 50, 60 * GIB, "GPU-00");
        assert_int_equal(gpu(0)->promised, 60 * GIB);
        look();
        assert_int_equal(gpu(0)->free, 20 * GIB);
        sg_gpu_account_release(account, 1, 1, false, now); /* its start was taken back */
        assert_string_equal(state_of(0), "ok");
        assert_int_equal(gpu(0)->free, 80 * GIB);
}

static void test_others_take_a_whole_gpu_away(void **state)
{
        char *ignore[] = {(char *)"Xorg", (char *)"gnome-*", NULL};

        (void)state;
        sg_gpu_account_configure(account, NULL, ignore, now);
        own(50, 0, "Xorg");
        own(51, 0, "python");
        node_add_process(&node, 0, 50, GIB / 10);
        node_add_process(&node, 1, 51, GIB / 10);
        node_add_process(&node, 2, 52, SG_GPU_UNKNOWN);
        node.gpus[2].memory_used = GIB / 10;
        node.gpus[3].memory_used = 3 * GIB; /* of one that can't be seen */
        look();
        assert_true(fits(want_ids((char *)"0")));
        assert_false(fits(want_ids((char *)"1")));
        assert_false(fits(want_ids((char *)"2")));
        assert_false(fits(want_ids((char *)"3")));
        assert_int_equal(gpu(3)->free, 77 * GIB);
}

static void test_an_adopted_job_keeps_what_it_uses(void **state)
{
        const struct sg_gpu_pool *pool = sg_gpu_account_pool(account);

        (void)state;
        own(70, 5, "python");
        node_add_process(&node, 2, 70, 9 * GIB);
        look();
        assert_int_equal(pool->n_holds, 1);
        assert_int_equal(pool->holds[0].job, 5);
        assert_int_equal(pool->holds[0].share, 0);
        assert_int_equal(gpu(2)->foreign, 0);
        assert_int_equal(gpu(2)->free, 71 * GIB);
        assert_false(fits(want_ids((char *)"2")));
}

static void test_unknown_figures(void **state)
{
        struct sg_gpu_use use;

        (void)state;
        claim(1, 50, 10 * GIB, "GPU-00");
        own(100, 1, "python");
        node_add_process(&node, 0, 100, SG_GPU_UNKNOWN);
        node.gpus[0].memory_used = 3 * GIB;
        node.gpus[1].memory_used = node.gpus[1].memory_total = SG_GPU_UNKNOWN;
        node.gpus[2].processes_known = false;
        node.gpus[3].memory_total = 0;
        look();
        assert_true(sg_gpu_account_use(account, 1, &use));
        assert_true(use.memory_bytes == SG_GPU_UNKNOWN);
        assert_int_equal(gpu(0)->promised, 13 * GIB); /* what it declares, and what nobody says */
        assert_true(gpu(1)->free == SG_GPU_UNKNOWN);
        assert_true(fits(want_ids((char *)"1")));
        assert_string_equal(state_of(2), "unknown");
        assert_string_equal(gpu(2)->reason, "the driver doesn't say who uses it");
        assert_false(fits(want_ids((char *)"2")));
        assert_true(gpu(3)->free == SG_GPU_UNKNOWN);
}

static void test_instances(void **state)
{
        struct sg_gpu_use use;

        (void)state;
        node_add_instance(&node, 0, "3g.40gb", 40 * GIB);
        node_add_instance(&node, 0, "1g.10gb", 10 * GIB);
        look();
        claim(1, 100, SG_UNLIMITED, "MIG-00-1");
        look();
        assert_int_equal(gpu(0)->mode, SG_GPU_MODE_MIG);
        assert_int_equal(gpu(0)->free, 40 * GIB);
        assert_true(sg_gpu_account_use(account, 1, &use));
        assert_int_equal(use.hundredths, 12);
        assert_true(fits(want_mig((char *)"1g.10gb")));
        own(100, 1, "python");
        own(101, 0, "python");
        node_add_process(&node, 0, 100, GIB);
        node_add_process(&node, 0, 101, GIB);
        node.gpus[0].processes[0].gpu_instance = 2;
        node.gpus[0].processes[0].compute_instance = 0;
        node.gpus[0].processes[1].gpu_instance = 1;
        node.gpus[0].processes[1].compute_instance = 0;
        look();
        assert_false(fits(want_mig((char *)"1g.10gb")));
        assert_true(sg_gpu_account_use(account, 1, &use));
        assert_int_equal(use.memory_bytes, GIB);
        clear_processes();
        release(1);
        assert_false(fits(want_mig((char *)"1g.10gb")));
        look();
        assert_true(fits(want_mig((char *)"1g.10gb")));
}

/* States */

static void test_drained_and_excluded(void **state)
{
        char *exclude[] = {(char *)"GPU-03", NULL}, *none[] = {NULL};

        (void)state;
        look();
        assert_int_equal(sg_gpu_account_drain(account, "GPU-01", true, now), 0);
        sg_gpu_account_configure(account, exclude, NULL, now);
        assert_string_equal(state_of(1), "drained");
        assert_string_equal(state_of(3), "excluded");
        assert_false(fits(want(3, 3)));
        look();
        assert_string_equal(told(), "");
        node.inventory.n = 1; /* a reload of the driver, say */
        look();
        assert_string_equal(state_of(1), "lost");
        node.inventory.n = 4;
        look();
        assert_string_equal(state_of(1), "drained");
        assert_int_equal(sg_gpu_account_drain(account, "GPU-01", false, now), 0);
        sg_gpu_account_configure(account, none, NULL, now);
        assert_true(fits(want(4, 4)));
}

static void test_driver_that_hangs(void **state)
{
        struct sg_gpu_inventory hung = {.state = SG_GPU_DRIVER_HUNG};
        struct sg_gpu_request many = want(5, 5);
        struct sg_gpu_lack lack;

        (void)state;
        assert_true(sg_gpu_could_fit(sg_gpu_account_pool(account), &many, NULL));
        look();
        claim(1, 100, SG_UNLIMITED, "GPU-00");
        strcpy(hung.message, "no answer for 5s");
        assert_int_equal(sg_gpu_account_look(account, &hung, NULL, 0, now + SECOND), 0);
        assert_string_equal(told(), "");
        assert_string_equal(state_of(1), "unknown");
        assert_string_equal(gpu(1)->reason, "no answer for 5s");
        assert_int_equal(gpu(1)->since_usec, now + SECOND);
        assert_false(gpu(1)->fresh);
        assert_true(gpu(1)->free == SG_GPU_UNKNOWN);
        assert_false(fits(want(1, 1)));
        assert_int_equal(sg_gpu_account_pool(account)->n_holds, 1);
        assert_false(sg_gpu_could_fit(sg_gpu_account_pool(account), &many, &lack));
        look();
        assert_true(fits(want(3, 3)));
        assert_false(fits(want(4, 4)));
}

static void test_no_driver(void **state)
{
        const struct sg_gpu_inventory absent = {.state = SG_GPU_DRIVER_ABSENT};
        struct sg_gpu_request r = want(1, 1);
        struct sg_gpu_lack lack;
        char text[SG_GPU_LACK_TEXT_MAX];

        (void)state;
        assert_int_equal(sg_gpu_account_look(account, &absent, NULL, 0, now), 0);
        assert_int_equal(sg_gpu_account_n(account), 0);
        assert_false(sg_gpu_could_fit(sg_gpu_account_pool(account), &r, &lack));
        assert_string_equal(sg_gpu_lack_format(text, &r, &lack), "1 GPU, this node has none");
}

static void test_lost_and_back_elsewhere(void **state)
{
        struct sg_gpu first;

        (void)state;
        look();
        claim(1, 100, SG_UNLIMITED, "GPU-00");
        node.gpus[0].lost = true;
        look();
        assert_string_equal(told(), "GPU 0 is lost: the driver doesn't reach it; ");
        look();
        assert_string_equal(told(), "");
        first = node.gpus[0];
        memmove(&node.gpus[0], &node.gpus[1], 3 * sizeof(first));
        node.gpus[3] = first;
        node.gpus[3].lost = false;
        node.gpus[3].index = 0;
        look();
        assert_string_equal(told(), "GPU 0 is ok; ");
        assert_string_equal(gpu(0)->gpu->uuid, "GPU-00");
        assert_int_equal(gpu(0)->place, 3);
        assert_int_equal(sg_gpu_account_pool(account)->holds[0].gpu, 3);
        assert_false(fits(want_ids((char *)"GPU-00")));
        assert_ptr_equal(sg_gpu_account_find(account, "GPU-00"), gpu(0));
        assert_null(sg_gpu_account_find(account, "GPU-99"));
}

static bool could_fit(struct sg_gpu_request r)
{
        struct sg_gpu_lack lack;

        return sg_gpu_could_fit(sg_gpu_account_pool(account), &r, &lack);
}

/* What vanished may come back: it is waited for, but nobody is told to wait for more. */
static void test_gone_ones_are_waited_for(void **state)
{
        char *exclude[] = {(char *)"GPU-03", NULL};
        struct sg_gpu_request many = want(5, 5), typed = want(1, 1);
        struct sg_gpu_lack lack;
        char text[SG_GPU_LACK_TEXT_MAX];

        (void)state;
        node_board(&node, 2, "T4", 16 * GIB);
        look();
        node.inventory.n = 1;
        look();
        assert_string_equal(state_of(2), "lost");
        assert_false(fits(want(2, 2)));
        assert_true(could_fit(want(3, 3))); /* of one type: 0, and 1 and 3, which are gone */
        assert_false(could_fit(want(4, 4)));
        assert_true(could_fit(want_ids((char *)"2,GPU-01")));
        assert_false(could_fit(want_ids((char *)"2,7")));
        typed.type = (char *)"T4";
        assert_true(could_fit(typed));
        typed.memory_bytes = 17 * GIB;
        assert_false(could_fit(typed));
        assert_false(sg_gpu_could_fit(sg_gpu_account_pool(account), &many, &lack));
        assert_string_equal(sg_gpu_lack_format(text, &many, &lack),
                            "5 GPUs of one type, this node has 3");
        sg_gpu_account_configure(account, exclude, NULL, now);
        assert_false(could_fit(want(3, 3)));
        assert_true(could_fit(want(2, 2)));
        sg_gpu_account_configure(account, NULL, NULL, now);
        node.inventory.n = 0; /* all of them */
        look();
        assert_true(could_fit(want(3, 3)));
        node.inventory.n = 4;
        look();
        assert_true(fits(want(3, 3)));
        assert_false(could_fit(want(4, 4)));
}

static void test_two_of_one_uuid(void **state)
{
        (void)state;
        strcpy(node.gpus[2].uuid, "GPU-01");
        look();
        assert_int_equal(sg_gpu_account_n(account), 3);
        assert_string_equal(told(), "GPU 1 is unknown: two GPUs say that they are it; ");
        assert_false(fits(want(3, 3)));
        assert_true(fits(want(2, 2)));
}

/* Errors */

static void add_event(enum sg_gpu_event_type type, const char *uuid, uint64_t data)
{
        struct sg_gpu_event *e = &node.inventory.events[node.inventory.n_events++];

        e->type = type;
        e->data = data;
        strcpy(e->uuid, uuid);
}

static void test_errors(void **state)
{
        (void)state;
        look();
        claim(1, 50, GIB, "GPU-00");
        claim(2, 50, GIB, "GPU-00");
        for (unsigned i = 0; i < 20; i++)
                add_event(SG_GPU_EVENT_XID, "GPU-00", 31);
        add_event(SG_GPU_EVENT_XID, "GPU-01", 79);
        add_event(SG_GPU_EVENT_ECC, "GPU-02", SG_GPU_UNKNOWN);
        add_event(SG_GPU_EVENT_XID, "GPU-77", 79);
        node.inventory.n_events_lost = 1000;
        look();
        assert_string_equal(told(), "1 GPU 0: XID 31, memory page fault of the program; "
                                    "2 GPU 0: XID 31, memory page fault of the program; "
                                    "1000 events of GPUs were too many to be looked at; "
                                    "GPU 1 is unhealthy: XID 79, it has fallen off the bus; "
                                    "GPU 2 is unhealthy: memory errors that can't be corrected; ");
        look();
        assert_string_equal(told(), ""); /* the same ones, at once */
        assert_string_equal(state_of(0), "ok");
        node.inventory.n_events = node.inventory.n_events_lost = 0;
        look();
        assert_string_equal(state_of(1), "unhealthy");
        assert_int_equal(sg_gpu_account_drain(account, "GPU-01", false, now), 0);
        assert_string_equal(state_of(1), "ok");
        assert_int_equal(sg_gpu_account_distrust(account, "GPU-03", "XID 79", now), 0);
        assert_string_equal(gpu(3)->reason, "XID 79");
}

static void test_crowded(void **state)
{
        (void)state;
        look();
        claim(1, 50, 60 * GIB, "GPU-00");
        node_add_process(&node, 0, 7, 25 * GIB);
        look();
        assert_string_equal(told(), "GPU 0: with 25G of processes that aren't ours 85G of 80G is "
                                    "spoken for; ");
        look();
        assert_string_equal(told(), "");
}

/* After the end */

static void test_leak(void **state)
{
        (void)state;
        look();
        claim(7, 100, SG_UNLIMITED, "GPU-00,GPU-01");
        own(100, 7, "python");
        node_add_process(&node, 0, 100, 9 * GIB);
        look();
        release(7);
        n_owners = 0; /* its group is gone, and the process isn't */
        assert_string_equal(state_of(0), "leaking");
        assert_string_equal(gpu(0)->reason, "job 7 has ended, but isn't gone");
        assert_false(fits(want_ids((char *)"1")));
        assert_true(sg_gpu_account_unsettled(account));
        look();
        assert_string_equal(state_of(0), "leaking");
        assert_string_equal(state_of(1), "ok");
        assert_string_equal(told(), "");
        look_after(8 * SECOND);
        assert_string_equal(told(), "7 GPU 0: job 7 has ended, but process 100 with 9G is left; ");
        node.gpus[0].n_processes = 0; /* not listed, but the memory isn't back */
        look();
        assert_string_equal(state_of(0), "leaking");
        assert_string_equal(told(), "");
        node.gpus[0].memory_used = 0;
        look();
        assert_string_equal(state_of(0), "ok");
        assert_true(fits(want(4, 4)));
}

static void test_a_look_from_before_the_end(void **state)
{
        (void)state;
        look();
        claim(7, 100, SG_UNLIMITED, "GPU-00");
        now += SECOND;
        release(7);
        assert_int_equal(
                sg_gpu_account_look(account, &node.inventory, owners, n_owners, now + SECOND), 0);
        assert_string_equal(state_of(0), "leaking");
        look();
        assert_string_equal(state_of(0), "ok");
        assert_false(sg_gpu_account_unsettled(account));
}

static void test_next_attempt_waits_for_the_first(void **state)
{
        struct sg_gpu_claim second = {.job = 7,
                                      .attempt = 2,
                                      .share = 100,
                                      .memory_bytes = SG_UNLIMITED,
                                      .idle_limit_usec = SG_UNLIMITED,
                                      .gpus = "GPU-01"};

        (void)state;
        look();
        claim(7, 100, SG_UNLIMITED, "GPU-00");
        own(100, 7, "python");
        node_add_process(&node, 0, 100, 9 * GIB);
        look();
        release(7);
        assert_int_equal(sg_gpu_account_claim(account, &second, now), 0);
        look();
        assert_string_equal(state_of(0), "leaking");
        assert_int_equal(sg_gpu_account_pool(account)->n_holds, 1);
        assert_int_equal(sg_gpu_account_drain(account, "GPU-00", false, now), 0);
        look();
        assert_string_equal(state_of(0), "ok"); /* who undrains it takes it as it is … */
        assert_int_equal(gpu(0)->promised, 9 * GIB);
        assert_false(fits(want_ids((char *)"0"))); /* … which isn't whole */
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_shares_and_others),
                TEST(test_declared_before_the_first_process),
                TEST(test_others_take_a_whole_gpu_away),
                TEST(test_an_adopted_job_keeps_what_it_uses),
                TEST(test_unknown_figures),
                TEST(test_instances),
                TEST(test_drained_and_excluded),
                TEST(test_driver_that_hangs),
                TEST(test_no_driver),
                TEST(test_lost_and_back_elsewhere),
                TEST(test_gone_ones_are_waited_for),
                TEST(test_two_of_one_uuid),
                TEST(test_errors),
                TEST(test_crowded),
                TEST(test_leak),
                TEST(test_a_look_from_before_the_end),
                TEST(test_next_attempt_waits_for_the_first),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
