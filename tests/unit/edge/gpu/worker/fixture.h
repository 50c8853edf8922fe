/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A scripted driver (tests/fakes/nvml), and what the worker makes of it. */

#include "edge/gpu/worker/driver.h"
#include "tests/unit/test.h"

#define GB (1ULL << 30)
#define MB (1ULL << 20)

extern struct sg_gpu_inventory seen; /* by the last look() */
extern struct sg_gpu_driver *driver; /* NULL: it isn't there */

int set_up(void **state);
int tear_down(void **state);

/* The script, or another one; a file of tests/fakes/nvml/scripts. */
void play(const char *text);
void play_sample(const char *name);
/* What the fake has logged: whether there is such a line, and how often. */
unsigned logged(const char *line);
const char *library(const char *variant);
const char *directory(void); /* for the test's files */

/* Opens the variant's library, looks, and tidies. */
void begin(const char *variant);
void look(void);
void end(void);

/* These fail with the name of what is wrong. */
void expect_figures(const struct sg_gpu *got, const struct sg_gpu *want, const char *variant);
