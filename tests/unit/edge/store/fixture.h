/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A real store in a directory of its own, and its calls as if they were synchronous. */

#include "base/file.h"
#include "base/time-util.h"
#include "edge/store/store.h"
#include "tests/unit/test.h"
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HOME "home"

extern char root[PATH_MAX - 64]; /* removed at the end */
extern char state_dir[PATH_MAX];
int set_up(void **state);
int tear_down(void **state);
struct sg_store *open_store(void);
/* Fails to open with this error, and says why in one line with `word` in it. */
void expect_refusal(int error, const char *word);
void make_job(struct sg_job *job, uint64_t n);

/* What a call has come back with. */
struct answer {
        int result;
        unsigned calls, rows;
        struct sg_job job; /* the last row, or the one given with the result */
        struct sg_attempt_info info;
        uint64_t seen[64];  /* n of the first rows, */
        uint64_t sizes[64]; /* … and what was submitted, where that is told */
        char text[256];     /* events: "n:state …"; spec: its bytes */
};
void answer_reset(struct answer *a);
void on_done(int result, const struct sg_job *job, void *userdata);
void on_row(int result, const struct sg_job *job, void *userdata);
void on_attempt(int result, const struct sg_attempt_info *info, void *userdata);
int submit_n(struct sg_store *s, const struct sg_job *job, uint64_t count, const char *token,
             const char *spec, size_t spec_size);
int submit(struct sg_store *s, uint64_t n);
typedef void (*write_call)(struct sg_store *s, const struct sg_job *job, sg_store_cb cb,
                           void *userdata);
int write_job(struct sg_store *s, write_call call, const struct sg_job *job);
int start(struct sg_store *s, const struct sg_job *job, const struct sg_record *launch);
int inspect(struct sg_store *s, const struct sg_job_key *key, enum sg_publish publish,
            struct sg_attempt_info *ret);
/* The stored row; a->rows 0 = there is none. */
void get(struct sg_store *s, uint64_t n, struct answer *a);
void load(struct sg_store *s, struct answer *a, uint64_t *ret_last);
bool exists(const char *name);
/* The writer must be gone before its files are looked at. */
void kill_writer(struct sg_store *s);
void expect_mode(const char *name, mode_t mode);
void make_starting(struct sg_job *job, uint64_t n, uint64_t attempt);
