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

/* One line of the table. The first one of a state and an event whose `when` holds counts. What is
 * known of the attempt (keeper, place, gate, …) has been noted by then. */
struct sg_life_rule {
        enum sg_life_state state;
        enum sg_life_event_kind event;
        bool (*when)(const struct sg_life_step *s); /* NULL = always */
        void (*row)(struct sg_life_step *s);        /* NULL = it stays as it is */
        enum sg_life_state next;
        enum sg_life_action actions[SG_LIFE_ACTIONS_MAX - 2]; /* up to the first DO_NOTHING */
};

extern const struct sg_life_rule sg_life_rules[];
extern const size_t sg_life_n_rules;

/* Notes what is known from now on, and finds the line; NULL: there is none. */
const struct sg_life_rule *sg_life_match(const struct sg_life_step *s);

/* The node is short of something, or who starts shims is away: not the job's fault. */
bool sg_life_may_pass(int error);

/* row.c: each names what has happened to the job. */
void sg_life_row_begin(struct sg_life_step *s);
void sg_life_row_unstored(struct sg_life_step *s);
void sg_life_row_short(struct sg_life_step *s);
void sg_life_row_back_in_queue(struct sg_life_step *s);
void sg_life_row_not_started(struct sg_life_step *s);
void sg_life_row_admitted(struct sg_life_step *s);
void sg_life_row_started(struct sg_life_step *s);
void sg_life_row_followed(struct sg_life_step *s);
void sg_life_row_is_to_end(struct sg_life_step *s);
void sg_life_row_time_is_over(struct sg_life_step *s);
void sg_life_row_cancelled_later(struct sg_life_step *s);
void sg_life_row_released(struct sg_life_step *s);
void sg_life_row_held(struct sg_life_step *s);
void sg_life_row_held_in_queue(struct sg_life_step *s);
void sg_life_row_frozen_for(struct sg_life_step *s);
void sg_life_row_not_frozen_for(struct sg_life_step *s);
void sg_life_row_found_frozen(struct sg_life_step *s);
void sg_life_row_lingers(struct sg_life_step *s);
void sg_life_row_suspended(struct sg_life_step *s);
void sg_life_row_resumed(struct sg_life_step *s);
void sg_life_row_overruled(struct sg_life_step *s);
/* Its end, or that it goes back to the queue. */
void sg_life_row_cancelled(struct sg_life_step *s);
void sg_life_row_failed(struct sg_life_step *s);
void sg_life_row_given_up(struct sg_life_step *s);
void sg_life_row_hand_failed(struct sg_life_step *s);
void sg_life_row_cannot_yield(struct sg_life_step *s);
void sg_life_row_never_ran(struct sg_life_step *s);
void sg_life_row_concluded(struct sg_life_step *s);
void sg_life_row_told(struct sg_life_step *s);
void sg_life_row_killed_after_all(struct sg_life_step *s);
