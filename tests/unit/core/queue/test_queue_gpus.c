/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GPUs in the queue: whose turn it is, who is passed, what is kept, and why one waits. */
#include "core/gpu/account.h"
#include "tests/unit/core/gpu/node.h"
#include "tests/unit/core/queue/test_queue.h"

static struct gpu_node gpus;
static struct sg_gpu_account *account;
static struct sg_gpu_request requests[N_MAX + 1];

static void look(struct fixture *f)
{
        gpus.inventory.looked_usec = f->node.now_usec;
        assert_int_equal(sg_gpu_account_look(account, &gpus.inventory, NULL, 0, f->node.now_usec),
                         0);
}

static int setup_gpus(void **state)
{
        struct fixture *f;

        setup(state);
        f = *state;
        node_make(&gpus, 4);
        assert_int_equal(sg_gpu_account_new(&account), 0);
        look(f);
        f->node.gpus = sg_gpu_account_pool(account);
        return 0;
}

static int teardown_gpus(void **state)
{
        int r = teardown(state);

        account = sg_gpu_account_free(account);
        return r;
}

static struct sg_queue_entry *add_gpu(struct fixture *f, const char *class, uint64_t uid,
                                      uint64_t n, struct sg_gpu_request r, uint64_t minutes)
{
        struct sg_queue_entry *e = &f->entries[n];

        requests[n] = r;
        *e = (struct sg_queue_entry){.n = n, .gpu = &requests[n], .limit_usec = minutes * MINUTE};
        assert_int_equal(sg_queue_add(f->q, e, class, uid, false), 0);
        return e;
}

static struct sg_queue_entry *add_wide(struct fixture *f, uint64_t uid, uint64_t n, uint64_t wants,
                                       uint64_t minutes)
{
        return add_gpu(f, "default", uid, n, want(wants, wants), minutes);
}

/* As next(), and its GPUs are taken; the account has them under its n. */
static uint64_t next_gpu(struct fixture *f)
{
        uint64_t n = next(f);
        _cleanup_free_ char *uuids = NULL;
        struct sg_gpu_claim c = {.job = n, .attempt = 1, .idle_limit_usec = SG_UNLIMITED};

        if (n == 0 || !f->entries[n].gpu)
                return n;
        assert_int_equal(sg_gpu_choice_uuids(f->node.gpus, sg_queue_choice(f->q), &uuids), 0);
        c.share = requests[n].share;
        c.memory_bytes = requests[n].memory_bytes;
        c.gpus = uuids;
        assert_int_equal(sg_gpu_account_claim(account, &c, f->node.now_usec), 0);
        return n;
}

static void end_gpu(struct fixture *f, uint64_t n)
{
        end(f, n);
        sg_gpu_account_release(account, n, 1, true, f->node.now_usec);
        look(f);
}

static const char *line(struct fixture *f, uint64_t n, struct sg_pending_info *ret)
{
        static char text[SG_GPU_LACK_TEXT_MAX];

        sg_queue_explain(f->q, &f->entries[n], &f->node, ret);
        return ret->gpu ? sg_gpu_lack_format(text, ret->gpu, &ret->lack) : "";
}

/* Nobody is held up who wants none */

static void test_others_pass(void **state)
{
        struct fixture *f = *state;
        struct sg_pending_info info;

        class(f, "strict")->backfill = false;
        configure(f);
        add_gpu(f, "strict", 1, 1, want(4, 4), 0);
        assert_int_equal(next_gpu(f), 1);
        for (uint64_t n = 2; n < 102; n++)
                add_gpu(f, "strict", 1, n, want(1, 1), 0);
        assert_int_equal(next_gpu(f), 0);
        f->node.now_usec += 20 * MINUTE; /* beyond patience */
        assert_int_equal(next_gpu(f), 0);
        add_to(f, "strict", 1, 200, 0, 9 * GIB);
        assert_int_equal(why(f, 200), SG_PENDING_NONE);
        assert_int_equal(next_gpu(f), 200);
        assert_string_equal(line(f, 2, &info), "1 GPU, 0 free");
        assert_int_equal(info.why, SG_PENDING_GPUS);
        assert_int_equal(info.until_n, 0);
        assert_int_equal(why(f, 50), SG_PENDING_GPUS);
}

static void test_no_slot_is_kept(void **state)
{
        struct fixture *f = *state;

        f->settings->max_jobs = 2;
        configure(f);
        add_wide(f, 1, 1, 4, 0);
        assert_int_equal(next_gpu(f), 1);
        add_wide(f, 1, 2, 1, 0);
        add(f, 2, 3);
        add(f, 2, 4);
        assert_int_equal(next_gpu(f), 3);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 2), SG_PENDING_NODE_FULL);
}

/* With its GPUs a head waits for memory as others do, and its GPUs wait with it. */
static void test_memory_after_gpus(void **state)
{
        struct fixture *f = *state;

        class(f, "strict")->backfill = false;
        configure(f);
        add_to(f, "default", 9, 1, 0, 6 * GIB);
        assert_int_equal(next_gpu(f), 1);
        add_gpu(f, "strict", 1, 2, want(4, 4), 0)->need[SG_STOCK_MEMORY] = 5 * GIB;
        add_gpu(f, "default", 2, 3, want(1, 1), 0);
        add_to(f, "default", 3, 4, 0, GIB);
        f->node.now_usec += MINUTE;
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 2), SG_PENDING_SHORT);
        assert_int_equal(why(f, 3), SG_PENDING_KEPT);
        assert_int_equal(why(f, 4), SG_PENDING_KEPT);
        end(f, 1);
        assert_int_equal(next_gpu(f), 2);
        assert_int_equal(next_gpu(f), 4);
}

/* Turns */

static void test_fewest_gpus_first(void **state)
{
        struct fixture *f = *state;

        add_gpu(f, "default", 1, 1, want_part(50, GIB), 0);
        assert_int_equal(next_gpu(f), 1);
        for (uint64_t n = 10; n < 15; n++) /* many slots, but no GPU */
                add(f, 2, n);
        while (next_gpu(f))
                ;
        add_wide(f, 1, 2, 1, 0);
        add_wide(f, 2, 3, 1, 0);
        add_wide(f, 2, 4, 1, 0);
        add_wide(f, 3, 5, 1, 0);
        assert_int_equal(next_gpu(f), 5);
        assert_int_equal(next_gpu(f), 3);
        assert_int_equal(next_gpu(f), 2); /* half a GPU against a whole one */
        assert_int_equal(next_gpu(f), 0);
        end_gpu(f, 5);
        assert_int_equal(next_gpu(f), 4);
}

/* Wide jobs */

static void test_passed_by_those_that_end(void **state)
{
        struct fixture *f = *state;
        struct sg_pending_info info;

        add_wide(f, 1, 1, 2, 30);
        add_wide(f, 2, 2, 1, 60);
        assert_int_equal(next_gpu(f), 1);
        assert_int_equal(next_gpu(f), 2);
        f->node.now_usec += 10 * MINUTE;
        add_wide(f, 3, 3, 3, 0);
        add_wide(f, 4, 4, 1, 21);
        add_wide(f, 5, 5, 1, 0);
        assert_int_equal(next_gpu(f), 0);
        assert_string_equal(line(f, 3, &info), "3 GPUs, 1 free");
        assert_int_equal(info.until_n, 1);
        assert_int_equal(info.until_usec, f->node.now_usec + 20 * MINUTE);
        assert_int_equal(why(f, 4), SG_PENDING_KEPT);
        assert_int_equal(why(f, 5), SG_PENDING_KEPT);
        add_wide(f, 6, 6, 1, 20);
        assert_int_equal(next_gpu(f), 6);
        f->node.now_usec += 20 * MINUTE;
        end_gpu(f, 1);
        assert_int_equal(next_gpu(f), 0);
        end_gpu(f, 6);
        assert_int_equal(next_gpu(f), 3);
}

/* What comes is enough: what is free isn't needed. */
static void test_passed_by_those_beside(void **state)
{
        struct fixture *f = *state;

        add_wide(f, 1, 1, 3, 30);
        assert_int_equal(next_gpu(f), 1);
        add_wide(f, 2, 2, 3, 0);
        add_wide(f, 3, 3, 1, 0);
        assert_int_equal(next_gpu(f), 3);
        assert_int_equal(next_gpu(f), 0);
}

static void test_kept_after_patience(void **state)
{
        struct fixture *f = *state;
        struct sg_pending_info info;

        for (uint64_t n = 1; n <= 3; n++)
                add_wide(f, 1, n, 1, 0);
        while (next_gpu(f))
                ;
        add_wide(f, 1, 4, 4, 0);
        assert_int_equal(next_gpu(f), 0);
        assert_string_equal(line(f, 4, &info), "4 GPUs, 1 free");
        assert_int_equal(info.until_n, 0); /* nobody knows */
        add_wide(f, 2, 5, 1, 0);
        f->node.now_usec += 9 * MINUTE;
        assert_int_equal(next_gpu(f), 5);
        end_gpu(f, 5);
        f->node.now_usec += MINUTE;
        add_wide(f, 2, 6, 1, 0);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 6), SG_PENDING_KEPT);
        end(f, 1); /* it isn't quite gone yet: what is kept stays so */
        sg_gpu_account_release(account, 1, 1, true, f->node.now_usec);
        assert_int_equal(next_gpu(f), 0);
        look(f);
        end_gpu(f, 2);
        assert_int_equal(next_gpu(f), 0);
        end_gpu(f, 3);
        assert_int_equal(next_gpu(f), 4);
}

/* What has ended isn't quite gone yet, and nothing else runs: patience doesn't begin anew. */
static void test_patience_outlasts_the_last_end(void **state)
{
        struct fixture *f = *state;

        add_wide(f, 1, 1, 4, 0);
        assert_int_equal(next_gpu(f), 1);
        add_wide(f, 1, 2, 4, 0);
        assert_int_equal(next_gpu(f), 0);
        f->node.now_usec += 20 * MINUTE;
        add_wide(f, 2, 3, 1, 0);
        end(f, 1);
        sg_gpu_account_release(account, 1, 1, true, f->node.now_usec);
        assert_int_equal(next_gpu(f), 0);
        look(f);
        assert_int_equal(next_gpu(f), 2);
}

/* No end of a job brings what it waits for: nothing is kept. */
static void test_not_kept_in_vain(void **state)
{
        struct fixture *f = *state;

        add_wide(f, 1, 1, 1, 0);
        assert_int_equal(next_gpu(f), 1);
        assert_int_equal(sg_gpu_account_drain(account, "GPU-03", true, f->node.now_usec), 0);
        add_wide(f, 2, 2, 4, 0);
        assert_int_equal(next_gpu(f), 0);
        f->node.now_usec += 20 * MINUTE;
        add_wide(f, 3, 3, 1, 0);
        assert_int_equal(next_gpu(f), 3);
}

/* Of another type, or what a part leaves. */
static void test_only_what_it_wants_is_kept(void **state)
{
        struct fixture *f = *state;
        struct sg_gpu_request t4 = want(1, 1), a100 = want(2, 2);

        node_board(&gpus, 3, "T4", 16 * GIB);
        look(f);
        a100.type = (char *)"A100*";
        t4.type = (char *)"T4";
        add_gpu(f, "default", 1, 1, a100, 0);
        assert_int_equal(next_gpu(f), 1);
        add_gpu(f, "default", 2, 2, a100, 0);
        assert_int_equal(next_gpu(f), 0);
        f->node.now_usec += 20 * MINUTE;
        add_gpu(f, "default", 3, 3, t4, 0);
        assert_int_equal(next_gpu(f), 3);
        add_gpu(f, "default", 4, 4, want_part(50, 10 * GIB), 0);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 4), SG_PENDING_KEPT);
}

/* Nobody knows */

static void test_unknown_gpus(void **state)
{
        struct sg_gpu_inventory hung = {.state = SG_GPU_DRIVER_HUNG};
        struct fixture *f = *state;
        struct sg_pending_info info;

        assert_int_equal(sg_gpu_account_look(account, &hung, NULL, 0, f->node.now_usec), 0);
        add_wide(f, 1, 1, 1, 0);
        add(f, 1, 2);
        assert_int_equal(next_gpu(f), 2);
        assert_int_equal(next_gpu(f), 0);
        assert_string_equal(line(f, 1, &info), "1 GPU, and nobody knows what is free");
        f->node.gpus = NULL;
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 1), SG_PENDING_GPUS);
        f->node.gpus = sg_gpu_account_pool(account);
        look(f);
        assert_int_equal(next_gpu(f), 1);
}

/* Accounts */

static void test_caps_count_both(void **state)
{
        struct fixture *f = *state;

        class(f, "few")->max_jobs_per_user = 2;
        configure(f);
        add_gpu(f, "few", 1, 1, want(1, 1), 0);
        add_to(f, "few", 1, 2, 0, SG_UNLIMITED);
        assert_int_equal(next_gpu(f), 1);
        assert_int_equal(next_gpu(f), 2);
        add_to(f, "few", 1, 3, 0, SG_UNLIMITED);
        add_gpu(f, "few", 1, 4, want(1, 1), 0);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 3), SG_PENDING_CLASS_USER_FULL);
        assert_int_equal(why(f, 4), SG_PENDING_CLASS_USER_FULL);
}

/* Those of one user in one class: parts and wide ones as such, in whichever way they are added up.
 */
static void test_class_bounds_what_a_user_holds(void **state)
{
        struct fixture *f = *state;
        struct sg_pending_info info;

        class(f, "few")->gpus.max_per_user = 2;
        configure(f);
        add_gpu(f, "few", 1, 1, want(1, 1), 0);
        add_gpu(f, "few", 1, 2, want_part(50, GIB), 0);
        assert_int_equal(next_gpu(f), 1);
        assert_int_equal(next_gpu(f), 2);
        add_gpu(f, "few", 1, 3, want(1, 1), 0);
        add_gpu(f, "few", 1, 4, want_part(50, GIB), 0);
        add_to(f, "few", 1, 5, 0, SG_UNLIMITED);
        add_gpu(f, "default", 1, 6, want(1, 1), 0);
        add_gpu(f, "few", 2, 7, want(1, 1), 0);
        assert_int_equal(next_gpu(f), 7); /* another user */
        assert_int_equal(next_gpu(f), 5); /* no GPUs */
        assert_int_equal(next_gpu(f), 6); /* another class */
        assert_int_equal(next_gpu(f), 0);
        sg_queue_explain(f->q, &f->entries[3], &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_CLASS_USER_GPUS);
        assert_int_equal(info.running, 150);
        assert_int_equal(info.max, 2);
        assert_string_equal(info.class, "few");
        assert_int_equal(why(f, 4), SG_PENDING_TURN); /* a wide one isn't passed for ever */
        end_gpu(f, 2);
        assert_int_equal(next_gpu(f), 3);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 4), SG_PENDING_CLASS_USER_GPUS);
        end_gpu(f, 1);
        assert_int_equal(next_gpu(f), 4);
}

static void test_no_more_than_the_class_allows(void **state)
{
        struct fixture *f = *state;

        class(f, "few")->gpus.max_per_user = 3;
        configure(f);
        add_gpu(f, "few", 1, 1, want_part(25, GIB), 0);
        assert_int_equal(next_gpu(f), 1);
        add_gpu(f, "few", 1, 2, want(1, 4), 0);
        assert_int_equal(next_gpu(f), 2);
        assert_int_equal(sg_queue_choice(f->q)->n, 2);
}

/* Found again after a restart, and counted before anything else starts. */
static void test_class_counts_what_is_found(void **state)
{
        struct fixture *f = *state;

        class(f, "few")->gpus.max_per_user = 2;
        configure(f);
        requests[1] = want(2, 2);
        f->entries[1] = (struct sg_queue_entry){.n = 1, .gpu = &requests[1], .gpu_hundredths = 200};
        assert_int_equal(sg_queue_add(f->q, &f->entries[1], "few", 1, true), 0);
        add_gpu(f, "few", 1, 2, want(1, 1), 0);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 2), SG_PENDING_CLASS_USER_GPUS);
        end(f, 1);
        assert_int_equal(next_gpu(f), 2);
}

/* What passes a wide head mustn't use up what the class allows both of them. */
static void test_passing_leaves_the_head_its_allowance(void **state)
{
        struct fixture *f = *state;

        class(f, "few")->gpus.max_per_user = 3;
        configure(f);
        add_wide(f, 9, 1, 2, 30);
        assert_int_equal(next_gpu(f), 1);
        add_gpu(f, "few", 1, 2, want(3, 3), 0); /* one is free beside its own, when 1 has ended */
        add_gpu(f, "few", 1, 3, want(1, 1), 0);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 3), SG_PENDING_KEPT);
        add_gpu(f, "few", 1, 4, want(1, 1), 20); /* ends before */
        assert_int_equal(next_gpu(f), 4);
        add_wide(f, 8, 5, 1, 0); /* of another user */
        assert_int_equal(next_gpu(f), 5);
        end_gpu(f, 4);
        end_gpu(f, 1);
        assert_int_equal(next_gpu(f), 2);
        assert_int_equal(why(f, 3), SG_PENDING_CLASS_USER_GPUS);
}

static void test_instances_count_as_parts(void **state)
{
        struct fixture *f = *state;

        for (size_t i = 0; i < 2; i++)
                for (size_t k = 0; k < 2; k++)
                        node_add_instance(&gpus, i, "3g.40gb", 40 * GIB);
        look(f);
        class(f, "few")->gpus.max_per_user = 1;
        configure(f);
        for (uint64_t n = 1; n <= 3; n++)
                add_gpu(f, "few", 1, n, want_mig((char *)"3g.40gb"), 0);
        assert_int_equal(next_gpu(f), 1);
        assert_int_equal(next_gpu(f), 2);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 3), SG_PENDING_CLASS_USER_GPUS);
}

static void test_change_of_mind(void **state)
{
        struct fixture *f = *state;

        add_wide(f, 1, 1, 4, 0);
        assert_int_equal(next_gpu(f), 1);
        add_wide(f, 1, 2, 1, 0);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(sg_queue_set_gpus(f->q, &f->entries[2], NULL), 0);
        assert_int_equal(next_gpu(f), 2);
        add(f, 1, 3);
        requests[3] = want(1, 1);
        assert_int_equal(sg_queue_set_gpus(f->q, &f->entries[3], &requests[3]), 0);
        assert_int_equal(next_gpu(f), 0);
        assert_int_equal(why(f, 3), SG_PENDING_GPUS);
}

static void test_would_start(void **state)
{
        struct fixture *f = *state;
        struct sg_gpu_request r = want(2, 2);
        struct sg_job j = {.uid = 2, .limits.memory_max = SG_UNLIMITED, .gpu = &r};
        struct sg_pending_info info;

        strcpy(j.class, "default");
        sg_queue_would_start(f->q, &j, NULL, &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_NONE);
        add_wide(f, 1, 1, 3, 10);
        assert_int_equal(next_gpu(f), 1);
        sg_queue_would_start(f->q, &j, NULL, &f->node, &info);
        assert_int_equal(info.why, SG_PENDING_GPUS);
        assert_int_equal(info.until_n, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_gpus, teardown_gpus)
        const struct CMUnitTest tests[] = {
                TEST(test_others_pass),
                TEST(test_no_slot_is_kept),
                TEST(test_memory_after_gpus),
                TEST(test_fewest_gpus_first),
                TEST(test_passed_by_those_that_end),
                TEST(test_passed_by_those_beside),
                TEST(test_kept_after_patience),
                TEST(test_patience_outlasts_the_last_end),
                TEST(test_not_kept_in_vain),
                TEST(test_only_what_it_wants_is_kept),
                TEST(test_unknown_gpus),
                TEST(test_caps_count_both),
                TEST(test_class_bounds_what_a_user_holds),
                TEST(test_no_more_than_the_class_allows),
                TEST(test_class_counts_what_is_found),
                TEST(test_passing_leaves_the_head_its_allowance),
                TEST(test_instances_count_as_parts),
                TEST(test_change_of_mind),
                TEST(test_would_start),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
