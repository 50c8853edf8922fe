/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A queue with its settings, and a node to ask it about. */

#include "core/queue/queue.h"
#include "tests/unit/core/queue/seats.h"
#include "tests/unit/test.h"

#define GIB (1ULL << 30)
#define MINUTE (60ULL * 1000000)
#define N_MAX 2000

struct fixture {
        struct sg_queue *q;
        struct sg_settings *settings;
        struct sg_stock_type types[SG_STOCKS_MAX];
        struct sg_node_snapshot node;
        struct sg_stock *memory;                  /* its */
        struct sg_queue_entry entries[N_MAX + 1]; /* by n */
        uint64_t retry_usec;
};

static inline int setup_stocks(void **state, size_t n)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        types_with_seats(f->types);
        assert_int_equal(sg_queue_new(&f->q, f->types, n), 0);
        assert_int_equal(sg_settings_new(&f->settings, "host"), 0);
        f->settings->max_jobs = 1000000;
        assert_int_equal(sg_queue_configure(f->q, f->settings), 0);
        f->node = (struct sg_node_snapshot){
                .now_usec = 1000 * MINUTE,
                .cpus = 2,
                .stocks = {[SG_STOCK_MEMORY] = {.total = 10 * GIB, .available = 10 * GIB},
                           [SEATS] = {.total = 4, .available = 4}},
        };
        f->memory = &f->node.stocks[SG_STOCK_MEMORY];
        *state = f;
        return 0;
}

static inline int setup(void **state)
{
        return setup_stocks(state, SG_N_STOCKS);
}

static inline int setup_seats(void **state)
{
        return setup_stocks(state, SG_STOCKS_MAX);
}

/* Frees the queue, which asserts that no lane is left. */
static inline int teardown(void **state)
{
        struct fixture *f = *state;

        for (size_t n = 0; n <= N_MAX; n++)
                sg_queue_remove(f->q, &f->entries[n]);
        assert_int_equal(sg_queue_n_waiting(f->q), 0);
        assert_int_equal(sg_queue_n_running(f->q), 0);
        sg_queue_free(f->q);
        sg_settings_free(f->settings);
        free(f);
        return 0;
}

static inline struct sg_queue_entry *add_to(struct fixture *f, const char *class, uint64_t uid,
                                            uint64_t n, int64_t priority, uint64_t memory)
{
        struct sg_queue_entry *e = &f->entries[n];

        *e = (struct sg_queue_entry){.n = n, .priority = priority, .need = {memory}};
        assert_int_equal(sg_queue_add(f->q, e, class, uid, false), 0);
        return e;
}

static inline struct sg_queue_entry *add(struct fixture *f, uint64_t uid, uint64_t n)
{
        return add_to(f, "default", uid, n, 0, SG_UNLIMITED);
}

static inline void change(struct fixture *f, uint64_t n, int64_t priority, uint64_t memory)
{
        const uint64_t need[SG_STOCKS_MAX] = {memory};

        sg_queue_change(f->q, &f->entries[n], priority, need);
}

/* The n of the next one, 0 if there is none. */
static inline uint64_t next(struct fixture *f)
{
        struct sg_queue_entry *e = sg_queue_next(f->q, &f->node, &f->retry_usec);

        if (!e)
                return 0;
        assert_true(e->running);
        return e->n;
}

static inline void end(struct fixture *f, uint64_t n)
{
        sg_queue_remove(f->q, &f->entries[n]);
}

/* What a file would say of the i-th class; the settings are const to all others. */
static inline struct sg_class *draft(struct fixture *f, size_t i)
{
        return (struct sg_class *)&f->settings->classes[i];
}

static inline struct sg_class *class(struct fixture *f, const char *name)
{
        struct sg_class *c;
        char *why = NULL;

        assert_int_equal(sg_settings_class_begin(f->settings, name, &c), 0);
        assert_int_equal(sg_settings_class_assign(c, "Class", "Name", name, &why), 0);
        assert_int_equal(sg_settings_class_end(f->settings, c, &why), 0);
        return draft(f, f->settings->n_classes - 1);
}

static inline void configure(struct fixture *f)
{
        assert_int_equal(sg_queue_configure(f->q, f->settings), 0);
}

static inline enum sg_pending why(struct fixture *f, uint64_t n)
{
        struct sg_pending_info info;

        sg_queue_explain(f->q, &f->entries[n], &f->node, &info);
        return info.why;
}

static inline enum sg_pending why_new(struct fixture *f, const char *class, uint64_t uid,
                                      int64_t priority, uint64_t memory)
{
        struct sg_job j = {.uid = uid, .priority = priority, .limits.memory_max = memory};
        struct sg_pending_info info;

        strcpy(j.class, class);
        sg_queue_would_start(f->q, &j, NULL, &f->node, &info);
        return info.why;
}
