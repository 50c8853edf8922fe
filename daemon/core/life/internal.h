/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of this room share: life.c (a step), table.c (its rules), row.c (what they make of
 * the row). */

#include "core/life/life.h"

struct sg_life_step {
        struct sg_life *life;
        struct sg_job *row;
        const struct sg_life_event *event;
};

/* How a line changes the row. The names say what has happened to the job (row.c). */
#define SG_LIFE_ROWS(X)                                                                            \
        X(BEGIN, row_begin)                                                                        \
        X(UNSTORED, row_unstored)                                                                  \
        X(SHORT, row_short)                                                                        \
        X(BACK_IN_QUEUE, row_back_in_queue)                                                        \
        X(NOT_STARTED, row_not_started)                                                            \
        X(ADMITTED, row_admitted)                                                                  \
        X(HANGS, row_hangs)                                                                        \
        X(STARTED, row_started)                                                                    \
        X(FOLLOWED, row_followed)                                                                  \
        X(IS_TO_END, row_is_to_end)                                                                \
        X(TIME_IS_OVER, row_time_is_over)                                                          \
        X(CANCELLED_LATER, row_cancelled_later)                                                    \
        X(RELEASED, row_released)                                                                  \
        X(HELD, row_held)                                                                          \
        X(HELD_IN_QUEUE, row_held_in_queue)                                                        \
        X(FROZEN_FOR, row_frozen_for)                                                              \
        X(NOT_FROZEN_FOR, row_not_frozen_for)                                                      \
        X(FOUND_FROZEN, row_found_frozen)                                                          \
        X(LINGERS, row_lingers)                                                                    \
        X(SUSPENDED, row_suspended)                                                                \
        X(RESUMED, row_resumed)                                                                    \
        X(OVERRULED, row_overruled)                                                                \
        /* Its end, or that it goes back to the queue. */                                          \
        X(CANCELLED, row_cancelled)                                                                \
        X(FAILED, row_failed)                                                                      \
        X(GIVEN_UP, row_given_up)                                                                  \
        X(HAND_FAILED, row_hand_failed)                                                            \
        X(CANNOT_YIELD, row_cannot_yield)                                                          \
        X(NEVER_RAN, row_never_ran)                                                                \
        X(CONCLUDED, row_concluded)                                                                \
        X(TOLD, row_told)                                                                          \
        X(KILLED_AFTER_ALL, row_killed_after_all)

#define SG_LIFE_ROW(name, text) SG_LIFE_ROW_##name,
enum sg_life_row { SG_LIFE_ROW_AS_IS, SG_LIFE_ROWS(SG_LIFE_ROW) };

/* One line of the table. The first one of a state and an event whose `when` holds counts. What is
 * known of the attempt (keeper, place, gate, …) has been noted by then. Names are numbers here, as
 * each pointer of a table is memory of each process. */
struct sg_life_rule {
        uint8_t state, event;
        uint8_t when; /* of table.c's */
        uint8_t row;  /* enum sg_life_row */
        uint8_t next;
        uint8_t actions[SG_LIFE_ACTIONS_MAX - 2]; /* up to the first DO_NOTHING */
};

extern const struct sg_life_rule sg_life_rules[];
extern const size_t sg_life_n_rules;

bool sg_life_holds(const struct sg_life_rule *rule, const struct sg_life_step *s);
void sg_life_write_row(enum sg_life_row row, struct sg_life_step *s);

/* Notes what is known from now on, and finds the line; NULL: there is none. */
const struct sg_life_rule *sg_life_match(const struct sg_life_step *s);

/* Whether an error may pass by itself, as the node is short of something or the launcher is away:
 * it isn't the job's fault. */
bool sg_life_may_pass(int error);
