/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A job whose life is told what happens, a second after the other, and the way to each state. */

#include "base/cleanup.h"
#include "core/life/life.h"
#include "proto/names.h"
#include "tests/unit/test.h"
#include <errno.h>
#include <signal.h>

#define SECOND 1000000ULL
#define BOOT "6f1c7d2e0a5b4c3d8e9f112233445566"

extern struct told {
        struct sg_life life;
        struct sg_job row;
        struct sg_life_plan plan;
        uint64_t now; /* a second later with each event */
} w;

int setup(void **state);
int teardown(void **state);
void happens(struct sg_life_event e);
void assert_plan(const char *expected);
void assert_row(enum sg_job_state state, const char *reason);
void assert_life(enum sg_life_state state);
/* Its end is stored, and nothing of it is left: it has gone, or waits again. */
void closes(void);
void assert_ends(enum sg_job_state state, const char *reason);
void assert_goes_back(const char *reason);

/* The way to each state */
void waits(void);
void begins(void);
void starts(void);
void is_launched(void);
void is_released(void);
void runs(void);
void run_is_offered(void);
void run_runs(void);
/* What is left of it ends as this record says. */
void ends_with(const struct sg_exit *record);

#define HAPPENS(name, ...) happens((struct sg_life_event){.kind = SG_LIFE_E_##name, __VA_ARGS__})
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
