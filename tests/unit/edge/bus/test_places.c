/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who gets a place, and who gives way. */
#include "base/time-util.h"
#include "edge/bus/places.h"
#include "tests/unit/test.h"

#define ALICE 1000
#define BOB 1001
#define CAROL 1002
#define MINUTE (60 * SG_USEC_PER_SEC)

struct fixture {
        struct sg_ledger *ledger;
        struct sg_places places;
        struct sg_client clients[32];
        unsigned n;
        uint64_t begun_usec;
};

static struct fixture *fixture; /* of the test that runs */

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        assert_int_equal(sg_ledger_new(&f->ledger), 0);
        sg_ledger_bound(f->ledger, SG_CHARGE_CONNECTIONS, 6, 16); /* 2 for newcomers */
        sg_places_init(&f->places, f->ledger, SG_CHARGE_CONNECTIONS);
        f->begun_usec = sg_now_monotonic_usec();
        *state = fixture = f;
        return 0;
}

static void drop(struct sg_client *c)
{
        sg_places_give(&fixture->places, c);
        sg_list_remove(&c->link);
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        for (unsigned i = 0; i < f->n; i++)
                drop(&f->clients[i]);
        sg_ledger_free(f->ledger);
        free(f);
        return 0;
}

/* A microsecond after the one before, however long the test takes. */
static struct sg_client *come(struct fixture *f, uid_t uid)
{
        struct sg_client *c = &f->clients[f->n++];

        assert_true(f->n <= SG_ELEMENTSOF(f->clients));
        sg_client_init(c);
        c->drop = drop;
        c->caller.uid = uid;
        (void)sg_places_take(&f->places, c);
        c->called_usec = f->begun_usec + f->n;
        return c;
}

static void test_own_bound(void **state)
{
        struct fixture *f = *state;
        struct sg_client *first = come(f, ALICE);

        for (unsigned i = 1; i < 6; i++)
                assert_true(come(f, ALICE)->placed);
        assert_false(come(f, ALICE)->placed); /* none has long been silent */
        first->called_usec -= MINUTE;
        first->subscribed = true;
        assert_false(come(f, ALICE)->placed);
        first->subscribed = false;
        assert_true(come(f, ALICE)->placed);
        assert_false(first->placed);
        assert_false(come(f, ALICE)->placed);
        assert_true(come(f, BOB)->placed);
}

static struct sg_client *fill(struct fixture *f)
{
        struct sg_client *first = come(f, ALICE);

        for (unsigned i = 1; i < 6; i++)
                come(f, ALICE);
        for (unsigned i = 0; i < 5; i++)
                come(f, BOB);
        for (unsigned i = 0; i < 3; i++)
                assert_true(come(f, CAROL)->placed);
        return first;
}

/* Nobody is asked to be silent for long, where another has so many more. */
static void test_largest_gives_way(void **state)
{
        struct fixture *f = *state;
        struct sg_client *first = fill(f), *second = &f->clients[1];

        first->subscribed = true;
        assert_true(come(f, CAROL)->placed); /* … who hasn't as many */
        assert_true(first->placed);
        assert_false(second->placed);
        assert_true(come(f, CAROL + 1)->placed); /* a newcomer's own room */
        assert_true(first->placed);
}

static void test_as_many_as_the_largest(void **state)
{
        struct fixture *f = *state;

        fill(f);
        assert_true(come(f, CAROL)->placed);
        assert_false(come(f, BOB)->placed);
        assert_int_equal(sg_ledger_held(f->ledger, ALICE, SG_CHARGE_CONNECTIONS), 5);
}

/* All of the largest wait: who runs a job goes last, and a caller on a bus never. */
static void test_who_loses_least(void **state)
{
        struct fixture *f = *state;
        char name[] = ":1.1";

        fill(f)->runs = true;
        for (unsigned i = 1; i < 6; i++)
                f->clients[i].pages = 1;
        f->clients[1].name = name;
        f->clients[1].called_usec -= MINUTE;
        f->clients[4].called_usec -= 10;
        assert_true(come(f, CAROL)->placed);
        assert_false(f->clients[4].placed);
        assert_true(f->clients[0].placed);
        assert_true(f->clients[1].placed);
}

static void test_root_is_no_part(void **state)
{
        struct fixture *f = *state;

        fill(f);
        for (unsigned i = 0; i < 8; i++)
                assert_true(come(f, 0)->placed);
        assert_int_equal(sg_ledger_held(f->ledger, ALICE, SG_CHARGE_CONNECTIONS), 6);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                T(test_own_bound),       T(test_largest_gives_way), T(test_as_many_as_the_largest),
                T(test_who_loses_least), T(test_root_is_no_part),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
