/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an attempt's directory means, in all combinations. */
#include "core/life/fate.h"
#include "tests/unit/test.h"

enum { NO, YES, ANY };

/* What can be found, one by one. */
struct found {
        int fate;   /* enum sg_fate */
        int record; /* whether there is one */
        int stage;  /* … of that */
        int unnamed, lives, foreground, met, went_down;
        int state; /* of the row */
};

/* The table in docs/architecture.md; NO_DIR isn't in it. */
static const struct {
        int fate, record, lives;
        enum sg_finding finding;
} documented[] = {
        {ANY, YES, NO, SG_FOUND_RECORD},
        {ANY, YES, YES, SG_FOUND_RECORD},
        {SG_ATTEMPT_NO_FATE, NO, ANY, SG_FOUND_NEVER_RAN},
        {SG_ATTEMPT_VOID, NO, ANY, SG_FOUND_NEVER_RAN},
        {SG_ATTEMPT_RUN, NO, YES, SG_FOUND_RUNNING},
        {SG_ATTEMPT_RUN, NO, NO, SG_FOUND_LOST},
};
#define ANY_FATE(i) (documented[i].record == YES)

/* Whether the record says anything of this attempt that will still be true later. */
static bool is_its_record(const struct found *f)
{
        if (!f->record)
                return false;
        if (f->foreground && f->lives) /* its user's shim can still write another one */
                return false;
        return !(f->unnamed && f->went_down); /* an older attempt's, whose directory this was */
}

/* Its keeper, still at its set-up, went down with the daemon: the daemon's end isn't the job's. */
static bool is_our_doing(const struct found *f)
{
        return f->met && !f->foreground && f->stage == SG_STAGE_SETUP && f->fate != SG_ATTEMPT_RUN;
}

static enum sg_finding expect(const struct found *f)
{
        bool record = is_its_record(f);

        if (f->fate == SG_ATTEMPT_NO_DIR) /* `starting` is stored before it is made */
                return f->state == SG_JOB_STARTING ? SG_FOUND_NEVER_RAN : SG_FOUND_LOST;
        if (record && is_our_doing(f))
                return SG_FOUND_NEVER_RAN;
        for (size_t i = 0; i < SG_ELEMENTSOF(documented); i++)
                if ((ANY_FATE(i) || documented[i].fate == f->fate) &&
                    documented[i].record == record &&
                    (documented[i].lives == ANY || documented[i].lives == f->lives))
                        return documented[i].finding;
        fail_msg("the table has a gap");
        return SG_FOUND_UNREADABLE;
}

static void judge(const struct found *f)
{
        const struct sg_attempt_info info = {.fate = (enum sg_fate)f->fate,
                                             .have_exit = f->record,
                                             .exit_unnamed = f->unnamed,
                                             .exit.stage = (uint32_t)f->stage,
                                             .shim = f->lives ? 17 : 0};
        const struct sg_job row = {.state = (uint64_t)f->state,
                                   .foreground = (uint64_t)f->foreground};
        const struct sg_circumstances c = {.met = f->met, .host_went_down = f->went_down};
        enum sg_finding found = sg_fate_judge(&info, &row, &c), expected = expect(f);

        if (found != expected)
                fail_msg("fate %d record %d (stage %d, unnamed %d) lives %d foreground %d met %d "
                         "went down %d row %d: %d, not %d",
                         f->fate, f->record, f->stage, f->unnamed, f->lives, f->foreground, f->met,
                         f->went_down, f->state, found, expected);
}

static bool can_be(const struct found *f)
{
        if (f->fate == SG_ATTEMPT_NO_DIR)
                return !f->record && !f->lives && !f->unnamed && !f->stage;
        return f->record || (!f->unnamed && !f->stage);
}

#define EACH(field, last) for (f.field = 0; f.field <= (last); f.field++)

static void test_judge(void **state)
{
        struct found f;
        unsigned n = 0;

        (void)state;
        EACH(fate, SG_ATTEMPT_NO_DIR)
        EACH(record, YES)
        EACH(stage, SG_STAGE_EXEC)
        EACH(unnamed, YES)
        EACH(lives, YES)
        EACH(foreground, YES)
        EACH(met, YES)
        EACH(went_down, YES)
        for (f.state = SG_JOB_STARTING; f.state <= SG_JOB_SUSPENDED; f.state++) {
                if (!can_be(&f))
                        continue;
                judge(&f);
                n++;
        }
        assert_int_equal(n, 3 * 8 * (3 * 2 * (1 + 6 * 2) + 1));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_judge),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
