/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The life of a job, explored: from each world that can be reached, every event that can come next
 * is tried, until there are no new worlds. So each order of events is seen, over a first attempt
 * and its retry, with people who change their minds, a store that fails, a keeper that dies, and a
 * daemon that is killed, each at any moment.
 */
#include "base/cleanup.h"
#include "core/life/internal.h"
#include "tests/unit/core/life/world.h"
#include "tests/unit/test.h"
#include "tests/unit/test_source.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS (1U << 24)
#define NOWHERE UINT32_MAX

struct slot {
        uint32_t world; /* index + 1; 0 = free */
        uint32_t hash;
};

struct edge {
        uint32_t from, to;
};

/* All of them at once would be too many worlds: each pair meets. */
static const struct troubles all_troubles[] = {
        {.stops = 2, .crashes = 1, .unstored = 1, .retries = 1},
        {.wishes = 2, .unstored = 1},
        {.wishes = 1, .stops = 1, .crashes = 1},
        {.wishes = 1, .retries = 1},
};

/* All worlds that were met, how they were first reached, and what leads where. */
static struct {
        struct world *worlds;
        uint32_t *cause; /* the world before */
        uint16_t *event;
        uint32_t n, size;
        struct slot slots[SLOTS];
        struct edge *edges;
        size_t n_edges, edges_size;
        bool seen[_SG_LIFE_STATE_MAX][_SG_LIFE_EVENT_MAX];
        bool *used; /* lines of the table */
} map;

static struct slot *slot_of(const struct world *w)
{
        uint8_t key[WORLD_KEY_SIZE], other[WORLD_KEY_SIZE];
        uint64_t h = 14695981039346656037ULL, word;

        world_key(w, key);
        for (size_t i = 0; i < sizeof(key); i += sizeof(word)) {
                memcpy(&word, key + i, sizeof(word));
                h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
                h ^= h >> 32;
        }
        for (uint32_t at = (uint32_t)(h >> 40) % SLOTS;; at = (at + 1) % SLOTS) {
                struct slot *slot = &map.slots[at];

                if (slot->world > 0 && slot->hash != (uint32_t)h)
                        continue;
                if (slot->world > 0)
                        world_key(&map.worlds[slot->world - 1], other);
                slot->hash = (uint32_t)h;
                if (slot->world == 0 || memcmp(key, other, sizeof(key)) == 0)
                        return slot;
        }
}

static void *grow(void *array, size_t n, size_t size)
{
        void *more = reallocarray(array, n, size);

        assert_non_null(more);
        return more;
}

static uint32_t put(const struct world *w, uint32_t cause, enum sg_life_event_kind event)
{
        struct slot *slot = slot_of(w);

        if (slot->world > 0)
                return slot->world - 1;
        if (map.n == map.size) {
                map.size = map.size ? map.size * 2 : 1024;
                map.worlds = grow(map.worlds, map.size, sizeof(*map.worlds));
                map.cause = grow(map.cause, map.size, sizeof(*map.cause));
                map.event = grow(map.event, map.size, sizeof(*map.event));
        }
        assert_true(map.n < SLOTS / 2);
        map.worlds[map.n] = *w;
        map.cause[map.n] = cause;
        map.event[map.n] = (uint16_t)event;
        slot->world = ++map.n;
        return map.n - 1;
}

static void put_edge(uint32_t from, uint32_t to)
{
        if (map.n_edges == map.edges_size) {
                map.edges_size = map.edges_size ? map.edges_size * 2 : 4096;
                map.edges = grow(map.edges, map.edges_size, sizeof(*map.edges));
        }
        map.edges[map.n_edges++] = (struct edge){from, to};
}

static void tell_path(uint32_t at)
{
        if (at == NOWHERE)
                return;
        tell_path(map.cause[at]);
        fprintf(stderr, "%-14s → ", sg_life_event_to_string(map.event[at]));
        world_print(&map.worlds[at]);
}

static void try_move(uint32_t at, const struct move *m)
{
        struct world before = map.worlds[at], w = before;
        const struct sg_life_rule *rule = world_rule(&w, m);
        struct sg_life_plan plan;
        const char *offence;
        int r = world_step(&w, m, &plan);

        if (rule)
                map.used[rule - sg_life_rules] = true;
        map.seen[before.life.state][m->event.kind] = true;
        offence = r < 0 ? "that is thought to be impossible" : world_offence(&before, m, &plan, &w);
        if (offence) {
                tell_path(at);
                fprintf(stderr, "%-14s → ", sg_life_event_to_string(m->event.kind));
                world_print(&w);
                fail_msg("%s: %s", sg_life_event_to_string(m->event.kind), offence);
        }
        put_edge(at, put(&w, at, m->event.kind));
}

static void explore(bool foreground, bool adopted, const struct troubles *t)
{
        struct move moves[MOVES_MAX];
        struct world first;
        uint32_t at = map.n;

        world_init(&first, foreground, adopted, t);
        (void)put(&first, NOWHERE, SG_LIFE_E_NONE);
        for (; at < map.n; at++) {
                struct world w = map.worlds[at];
                unsigned n = world_moves(&w, moves);

                for (unsigned i = 0; i < n; i++)
                        try_move(at, &moves[i]);
        }
}

static int explore_all(void **state)
{
        (void)state;
        map.used = calloc(sg_life_n_rules, sizeof(*map.used));
        assert_non_null(map.used);
        for (size_t i = 0; i < SG_ELEMENTSOF(all_troubles); i++) {
                explore(false, false, &all_troubles[i]);
                explore(true, false, &all_troubles[i]);
                explore(false, true, &all_troubles[i]);
        }
        print_message("%u worlds, %zu ways between them\n", map.n, map.n_edges);
        return 0;
}

/* explore_all() fails where something can happen that isn't in the table, or where what has to hold
 * doesn't. Here: what is in the table does happen, and the rest is refused and changes nothing. */
static void test_each_pair(void **state)
{
        unsigned wrong = 0;

        (void)state;
        for (int s = 0; s < _SG_LIFE_STATE_MAX; s++)
                for (int k = 1; k < _SG_LIFE_EVENT_MAX; k++) {
                        struct sg_life life = {.state = (enum sg_life_state)s}, before = life;
                        struct sg_life_event e = {.kind = (enum sg_life_event_kind)k,
                                                  .boot_id = "",
                                                  .what = "",
                                                  .why = "",
                                                  .finding = SG_FOUND_LOST};
                        bool known = false;
                        struct sg_life_plan plan;
                        struct sg_job row;

                        for (size_t i = 0; i < sg_life_n_rules; i++)
                                known |= (int)sg_life_rules[i].state == s &&
                                         (int)sg_life_rules[i].event == k;
                        if (known != map.seen[s][k])
                                print_error("%s in %s is in the table: %d; can happen: %d\n",
                                            sg_life_event_to_string(e.kind),
                                            sg_life_state_to_string(life.state), known,
                                            map.seen[s][k]);
                        wrong += known != map.seen[s][k];
                        if (known)
                                continue;
                        sg_job_init(&row);
                        assert_int_equal(sg_life_step(&life, &row, &e, &plan), -ENOTSUP);
                        assert_memory_equal(&life, &before, sizeof(life));
                        assert_int_equal(row.state, SG_JOB_QUEUED);
                        sg_job_deinit(&row);
                }
        assert_int_equal(wrong, 0);
}

/* No line is for nothing. */
static void test_each_line(void **state)
{
        (void)state;
        for (size_t i = 0; i < sg_life_n_rules; i++)
                if (!map.used[i])
                        print_error("never used: line %zu, %s in %s\n", i,
                                    sg_life_event_to_string(sg_life_rules[i].event),
                                    sg_life_state_to_string(sg_life_rules[i].state));
        for (size_t i = 0; i < sg_life_n_rules; i++)
                assert_true(map.used[i]);
}

/* Wherever a job has got to, it can come to its end. */
static void test_all_end(void **state)
{
        bool *ends = calloc(map.n, sizeof(*ends)), again = true;
        uint32_t n = 0;

        (void)state;
        assert_non_null(ends);
        for (uint32_t i = 0; i < map.n; i++)
                ends[i] = map.worlds[i].life.state == SG_LIFE_GONE;
        while (again) {
                again = false;
                for (size_t i = map.n_edges; i-- > 0;)
                        if (ends[map.edges[i].to] && !ends[map.edges[i].from])
                                again = ends[map.edges[i].from] = true;
        }
        for (uint32_t i = 0; i < map.n; i++) {
                if (!ends[i])
                        tell_path(i);
                assert_true(ends[i]);
                n += map.worlds[i].life.state == SG_LIFE_GONE;
        }
        assert_true(n > 0);
        free(ends);
}

/* "next, next |" */
static void list_next(enum sg_life_state state, char *ret, size_t size)
{
        size_t n = 0;

        for (unsigned next = 0; next < _SG_LIFE_STATE_MAX; next++) {
                bool leads = false;

                for (size_t i = 0; i < sg_life_n_rules; i++)
                        leads |= sg_life_rules[i].state == state && sg_life_rules[i].next == next;
                if (leads && next != state)
                        n += (size_t)snprintf(ret + n, size - n, "%s%s", n > 0 ? ", " : "",
                                              sg_life_state_to_string(next));
        }
        (void)snprintf(ret + n, size - n, " |");
}

/* architecture.md has "| state | what for | next, next |", in the order of the enum. */
static void test_picture(void **state)
{
        char *text = source_read("docs/architecture.md");

        (void)state;
        for (unsigned s = 0; s < SG_LIFE_GONE; s++) {
                char want[256], row[512], begin[64];
                const char *found;

                list_next(s, want, sizeof(want));
                (void)snprintf(begin, sizeof(begin), "\n| %s | ", sg_life_state_to_string(s));
                found = strstr(text, begin);
                if (!found)
                        print_error("no row%s\n", begin);
                assert_non_null(found);
                (void)snprintf(row, sizeof(row), "%.*s", (int)strcspn(found + 1, "\n"), found + 1);
                assert_true(strlen(row) > strlen(want));
                assert_string_equal(row + strlen(row) - strlen(want), want);
        }
        free(text);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_each_pair),
                cmocka_unit_test(test_each_line),
                cmocka_unit_test(test_all_end),
                cmocka_unit_test(test_picture),
        };

        return cmocka_run_group_tests(tests, explore_all, NULL);
}
