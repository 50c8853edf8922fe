/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a request is answered with, value by value, each under its name: a writer makes of it what
 * its protocol sends (edge/bus/reply.h, edge/json/reply.h). After a first failure the rest is
 * ignored, and sending says what it was.
 */

#include "core/ask/request.h"

struct sg_reply;

/* Embedded in what a writer keeps. Each returns negative on failure. */
struct sg_reply_ops {
        int (*put)(struct sg_reply *r, const char *key, const struct sg_value *v);
        /* A list: of values (one type), or of rows (their types). */
        int (*open_list)(struct sg_reply *r, const char *key, const enum sg_value_type *of,
                         size_t n);
        int (*open_row)(struct sg_reply *r);
        int (*close_row)(struct sg_reply *r);
        int (*close_list)(struct sg_reply *r);
        /* Values by their names, as a request has its options. */
        int (*open_options)(struct sg_reply *r, const char *key);
        int (*close_options)(struct sg_reply *r);
};

struct sg_reply {
        const struct sg_reply_ops *ops;
        int error;
};

void sg_reply_text(struct sg_reply *r, const char *key, const char *text);
void sg_reply_u64(struct sg_reply *r, const char *key, uint64_t v);
void sg_reply_i32(struct sg_reply *r, const char *key, int32_t v);
void sg_reply_flag(struct sg_reply *r, const char *key, bool v);
void sg_reply_file(struct sg_reply *r, const char *key, int fd); /* lent */

/* Of whatever type; bytes are lent. */
void sg_reply_value(struct sg_reply *r, const char *key, const struct sg_value *v);

/* Those that the reader of requests takes as options: text, numbers and flags. */
void sg_reply_open_options(struct sg_reply *r, const char *key);
void sg_reply_close_options(struct sg_reply *r);

/* Values of a list have no keys, those of a row have. */
void sg_reply_open_list(struct sg_reply *r, const char *key, const enum sg_value_type *of,
                        size_t n);
void sg_reply_close_list(struct sg_reply *r);
void sg_reply_open_row(struct sg_reply *r);
void sg_reply_close_row(struct sg_reply *r);
