/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a policy file says about shares ([Policy], [Growth], [FlowCon]); defaults in brackets.
 */

#include "core/job/estimate.h"
#include <stdbool.h>
#include <stdint.h>

/* Every policy: its kind, and the name of its sg_share_policy and in policy files. */
#define SG_SHARE_POLICIES(X)                                                                       \
        X(GROWTH, growth)                                                                          \
        X(FLOWCON, flowcon)                                                                        \
        X(FAIR, fair)                                                                              \
        X(SRPT, srpt)                                                                              \
        X(LAS, las)                                                                                \
        X(SLAQ, slaq)                                                                              \
        X(DEADLINE, deadline)                                                                      \
        X(HESRPT, hesrpt)

#define SG_SHARE_KIND(kind, name) SG_SHARE_##kind,
enum sg_share_kind { SG_SHARE_POLICIES(SG_SHARE_KIND) _SG_SHARE_MAX };
#undef SG_SHARE_KIND

enum sg_objective { SG_OBJECTIVE_JCT, SG_OBJECTIVE_BALANCED, SG_OBJECTIVE_QUALITY };
enum sg_flowcon_mode { SG_FLOWCON_SOFT, SG_FLOWCON_HARD, SG_FLOWCON_WEIGHT };

struct sg_share_settings {
        enum sg_share_kind share;    /* growth */
        enum sg_objective objective; /* balanced */
        /* [Growth] */
        double tick;         /* 1 s: the shortest time between two looks */
        double max_interval; /* 60 s: the longest */
        double probe;        /* 3 CPU-seconds, for a job that has said nothing yet */
        double no_harm;      /* .05: promises are kept to this; INFINITY = none are made */
        double floor;        /* .05 of its fair share is everybody's */
        double exponent;     /* NaN: of each job as measured; else of all (hesrpt: .75) */
        /* [FlowCon] */
        double alpha;    /* .05 */
        double interval; /* 20 s */
        double beta;     /* 2 */
        enum sg_flowcon_mode mode;
        bool literal;              /* a job without a new report has no growth */
        enum sg_resource resource; /* that drives */
};

void sg_share_settings_init(struct sg_share_settings *s); /* the defaults */
/* Whether they fit each other: -EINVAL with one line in *ret_why. */
int sg_share_settings_check(const struct sg_share_settings *s, char **ret_why);
/* Whether a policy with the one's state can go on with the other. */
bool sg_share_settings_equal(const struct sg_share_settings *a, const struct sg_share_settings *b);
