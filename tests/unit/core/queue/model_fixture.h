/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What must be true of the queue, worked out anew each time from a plain array of jobs. */

#include "core/queue/order.h"
#include "core/queue/queue.h"
#include "tests/unit/core/queue/seats.h"

#define JOBS 40
#define CLASSES 3

extern const char *const class_names[CLASSES];

struct job {
        struct sg_queue_entry entry;
        bool present;
        bool idle; /* as the queue was told, for what runs */
        unsigned class;
        uint64_t uid;
};

struct world {
        uint64_t random, seed;
        struct sg_queue *q;
        struct sg_settings *settings;
        struct sg_stock_type types[SG_STOCKS_MAX];
        size_t n_stocks;
        struct sg_node_snapshot node;
        struct job jobs[JOBS];
        uint64_t last_n, started, step;
};

bool model_waits(const struct job *j);
bool model_runs(const struct job *j);
uint64_t model_count(const struct world *w, bool (*which)(const struct job *j));
uint64_t model_promisable(const struct world *w, size_t k);
bool model_lacks(const struct world *w, const struct sg_queue_entry *e, size_t k);
bool model_fits(const struct world *w, const struct sg_queue_entry *e);
bool model_has_slot_taken(const struct job *j);
bool model_is_quiet(const struct job *j);
uint64_t model_slots_of(const struct world *w, uint64_t uid, bool at_once);
uint64_t model_slots_before(const struct world *w, const struct job *j);
bool model_has_slot(const struct world *w, const struct job *j);
bool model_has_room(const struct world *w, const struct job *j);
uint64_t model_ahead_of(const struct world *w, const struct job *j);
bool model_is_short(const struct world *w, const struct job *j);
bool model_any_short(const struct world *w);
bool model_any_short_competes(const struct world *w, const struct sg_queue_entry *e);
const struct job *model_head_of(const struct world *w, const struct job *j);
bool model_passes_its_head(const struct world *w, const struct job *j);
