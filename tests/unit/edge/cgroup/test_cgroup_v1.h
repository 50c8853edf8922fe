/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Tests of the cgroupfs backend that run twice: once also as if there were no v2 tree, where this
 * kernel has what that takes. */

#include "edge/cgroup/fs.h"
#include "test_cgroup_jobs.h"

static inline int setup(void **state)
{
        return fixture_setup_as(state, "cgroupfs");
}

static inline bool has_v1(void)
{
        struct sg_backend *b = NULL;
        bool has;

        if (sg_backend_new(&b,
                           &(struct sg_backend_options){.wanted = "cgroupfs", .instance = "probe"},
                           NULL) < 0)
                return false;
        has = sg_fs_usable(b, SG_HIER_FREEZER) && sg_fs_usable(b, SG_HIER_DEVICES) &&
              !b->v2_controllers;
        (void)sg_backend_free(b);
        return has;
}

/* As on a kernel without any v2 tree: processes are listed, frozen and restricted by v1. */
static inline int setup_v1(void **state)
{
        struct fixture *f;
        struct sg_backend *b;

        (void)fixture_setup_as(state, "cgroupfs");
        f = *state;
        b = f->backend;
        b->list_hier = b->freeze_hier = SG_HIER_FREEZER;
        b->default_hiers &= ~sg_bit(SG_HIER_UNIFIED);
        b->default_hiers |= sg_bit(SG_HIER_FREEZER) | sg_bit(SG_HIER_CPUACCT);
        b->device_programs = false;
        return 0;
}

static inline void test_skipped(void **state)
{
        (void)state;
        skip(); /* no v1 freezer and devices hierarchies here */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)
#define TEST_V1(name)                                                                              \
        {                                                                                          \
#name " on v1", v1 ? name : test_skipped, v1 ? setup_v1 : NULL,                    \
                        v1 ? fixture_teardown : NULL, NULL                                         \
        }
