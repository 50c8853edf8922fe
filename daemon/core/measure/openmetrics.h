/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Writes metrics as text: OpenMetrics 1.0.0, or the older format 0.0.4 that node_exporter's
 * textfiles and older servers want. The caller names one family after another, in the order of its
 * table, and gives each its samples; begin … end is one exposition. The buffer is kept from one to
 * the next, so that in the long run nothing is allocated.
 *
 * What it writes is always well-formed: a name that isn't, a family out of its order, or labels
 * that are wrong are our own mistakes and fail the whole exposition. Values of labels come from
 * users: what isn't text in them is replaced. A sample whose value isn't known (SG_UNLIMITED) is
 * left out, and so is a family without samples.
 *
 * Numbers don't depend on time or place as long as nobody calls setlocale(3), which no part of the
 * daemon does.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sg_openmetrics_format { SG_METRICS_TEXT, SG_METRICS_OPENMETRICS };

enum sg_family_type { SG_FAMILY_GAUGE, SG_FAMILY_COUNTER, SG_FAMILY_INFO };

/* A family. The samples of a counter are called NAME_total, those of an info NAME_info. */
struct sg_family {
        const char *name; /* without such a suffix; with its unit at the end, if it has one */
        enum sg_family_type type;
        const char *unit;   /* "seconds", "bytes", "ratio" or "" */
        const char *labels; /* that its samples have, between blanks */
        const char *help;   /* one line */
};

/* Whether name, unit, labels and help are as the formats and promtool want them. */
bool sg_family_valid(const struct sg_family *m);

/* The end of an array of labels has no name. */
struct sg_label {
        const char *name, *value;
};

struct sg_openmetrics {
        char *data; /* `size` bytes, no NUL; valid until the next begin */
        size_t size, allocated;
        enum sg_openmetrics_format format;
        const struct sg_family *family;
        bool headed; /* … has its HELP and TYPE */
        int error;   /* the first; all that follows does nothing */
};

void sg_openmetrics_deinit(struct sg_openmetrics *w);
void sg_openmetrics_begin(struct sg_openmetrics *w, enum sg_openmetrics_format format);
/* 0, -ENOMEM, or -EINVAL: one of our own mistakes. */
int sg_openmetrics_end(struct sg_openmetrics *w);

/* All families of one exposition are rows of one table, later ones behind earlier ones. */
void sg_openmetrics_family(struct sg_openmetrics *w, const struct sg_family *family);

/* Samples of the family. labels: in the order of the family's, no more than those; NULL = none. */
void sg_openmetrics_u64(struct sg_openmetrics *w, const struct sg_label *labels, uint64_t value);
/* Microseconds, written as seconds. */
void sg_openmetrics_usec(struct sg_openmetrics *w, const struct sg_label *labels, uint64_t usec);
/* NaN and infinities are values, but not of a counter, which leaves them out. */
void sg_openmetrics_double(struct sg_openmetrics *w, const struct sg_label *labels, double value);
void sg_openmetrics_info(struct sg_openmetrics *w, const struct sg_label *labels);
