/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The log of decisions; see decision-log.h. Of what was written last of each job so much is kept
 * that a change is seen: 16 bytes, in order of their keys like the plan's own.
 *
 * A line becomes text job by job: as one tree of JSON a thousand jobs would take three megabytes of
 * small pieces, which the heap would keep for long.
 */

#include "edge/history/decision-log.h"
#include "base/file.h"
#include "base/format.h"
#include "edge/history/decision-json.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NOW "decisions.jsonl"
#define FILE_BEFORE "decisions.jsonl.1"
#define MAX_BYTES (8ULL << 20)
#define DIGITS 6 /* of a number: what is estimated isn't known better */
#define FORMAT (JSON_COMPACT | JSON_REAL_PRECISION(DIGITS))

struct written {
        uint64_t key;
        float cap;
        uint16_t weight;
        uint8_t list, reason;
};

struct sg_decision_log {
        char *dir;
        int fd;
        uint64_t size, max_bytes;
        sg_decision_id_fn id;
        void *userdata;
        struct written *jobs;
        size_t n, room;
};

static int open_file(struct sg_decision_log *log)
{
        char path[PATH_MAX];
        struct stat st;
        int fd, r = sg_path_join(path, sizeof(path), log->dir, FILE_NOW);

        if (r < 0)
                return r;
        fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return -errno;
        log->fd = fd;
        log->size = fstat(fd, &st) < 0 ? 0 : (uint64_t)st.st_size;
        return 0;
}

int sg_decision_log_open(struct sg_decision_log **ret, const char *state_dir, uint64_t max_bytes,
                         sg_decision_id_fn id, void *userdata)
{
        _cleanup_(sg_decision_log_closep) struct sg_decision_log *log = calloc(1, sizeof(*log));
        int r;

        if (!log)
                return -ENOMEM;
        *log = (struct sg_decision_log){.fd = -1,
                                        .max_bytes = max_bytes ? max_bytes : MAX_BYTES,
                                        .id = id,
                                        .userdata = userdata,
                                        .dir = strdup(state_dir)};
        if (!log->dir)
                return -ENOMEM;
        r = open_file(log);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(log);
        return 0;
}

struct sg_decision_log *sg_decision_log_close(struct sg_decision_log *log)
{
        if (log) {
                (void)sg_close(log->fd);
                free(log->dir);
                free(log->jobs);
                free(log);
        }
        return NULL;
}

/* A file that has its full size becomes the old one. */
static int rotate(struct sg_decision_log *log)
{
        char now[PATH_MAX], before[PATH_MAX];
        int r = sg_path_join(now, sizeof(now), log->dir, FILE_NOW);

        if (r >= 0)
                r = sg_path_join(before, sizeof(before), log->dir, FILE_BEFORE);
        if (r < 0)
                return r;
        if (rename(now, before) < 0 && errno != ENOENT)
                return -errno;
        log->fd = sg_close(log->fd);
        log->n = 0; /* a file says all by itself */
        return open_file(log);
}

static struct written written_of(const struct sg_decision *d)
{
        return (struct written){.key = d->key,
                                .cap = (float)d->out.cap,
                                .weight = (uint16_t)d->out.weight,
                                .list = (uint8_t)d->out.list,
                                .reason = (uint8_t)d->out.why.reason};
}

static bool same(const struct written *a, const struct written *b)
{
        return a->key == b->key && a->weight == b->weight && a->list == b->list &&
               a->reason == b->reason && a->cap == b->cap;
}

static json_t *job_of(const struct sg_decision_log *log, const struct sg_governor_plan *plan,
                      const struct sg_decision *d)
{
        char id[SG_DECISION_ID_MAX], other[SG_DECISION_ID_MAX];
        json_t *o;

        if (d->out.why.other)
                log->id(d->out.why.other, other, log->userdata);
        o = sg_decision_json(d, d->class < plan->n_classes ? plan->classes[d->class].name : "",
                             d->out.why.other ? other : NULL);
        log->id(d->key, id, log->userdata);
        if (o && json_object_set_new(o, "id", json_string(id)) == 0)
                return o;
        json_decref(o);
        return NULL;
}

static bool differs(const struct sg_decision_log *log, const struct sg_governor_plan *plan)
{
        if (plan->n_jobs != log->n)
                return true;
        for (size_t k = 0; k < plan->n_jobs; k++) {
                struct written w = written_of(plan->jobs[k]);

                if (!same(&log->jobs[k], &w))
                        return true;
        }
        return false;
}

/* Adds the jobs before `key` that aren't there any more; *i goes on behind them. */
static int add_gone(const struct sg_decision_log *log, size_t *i, uint64_t key, json_t *gone)
{
        char id[SG_DECISION_ID_MAX];

        for (; *i < log->n && log->jobs[*i].key < key; ++*i) {
                log->id(log->jobs[*i].key, id, log->userdata);
                if (json_array_append_new(gone, json_string(id)) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* Writes the value, and drops it. */
static int put_json(FILE *out, json_t *value, size_t how)
{
        int r = value && json_dumpf(value, out, FORMAT | how) == 0 ? 0 : -ENOMEM;

        json_decref(value);
        return r;
}

/* Both lists are by key. */
static int put_changes(const struct sg_decision_log *log, const struct sg_governor_plan *plan,
                       FILE *out, json_t *gone)
{
        const char *comma = "";
        size_t i = 0;

        for (size_t k = 0; k < plan->n_jobs; k++) {
                const struct sg_decision *d = plan->jobs[k];
                struct written w = written_of(d);
                bool known;

                if (add_gone(log, &i, d->key, gone) < 0)
                        return -ENOMEM;
                known = i < log->n && log->jobs[i].key == d->key;
                if (!(known && same(&log->jobs[i], &w))) {
                        (void)fputs(comma, out);
                        if (put_json(out, job_of(log, plan, d), 0) < 0)
                                return -ENOMEM;
                        comma = ",";
                }
                i += known;
        }
        return add_gone(log, &i, UINT64_MAX, gone);
}

static int remember(struct sg_decision_log *log, const struct sg_governor_plan *plan)
{
        if (plan->n_jobs > log->room) {
                struct written *grown = realloc(log->jobs, plan->n_jobs * 2 * sizeof(*log->jobs));

                if (!grown)
                        return -ENOMEM;
                log->jobs = grown;
                log->room = plan->n_jobs * 2;
        }
        for (size_t k = 0; k < plan->n_jobs; k++)
                log->jobs[k] = written_of(plan->jobs[k]);
        log->n = plan->n_jobs;
        return 0;
}

static json_t *causes_of(unsigned causes)
{
        static const char *const names[] = {"begin", "end", "report", "hold", "change", "time"};
        json_t *a = json_array();

        for (size_t i = 0; i < SG_ELEMENTSOF(names); i++)
                if (causes & (1U << i))
                        (void)json_array_append_new(a, json_string(names[i]));
        return a;
}

static json_t *classes_of(const struct sg_governor_plan *plan)
{
        json_t *o = json_object();

        for (size_t i = 0; i < plan->n_classes; i++)
                if (plan->classes[i].weight > 0)
                        (void)json_object_set_new(o, plan->classes[i].name,
                                                  json_integer(plan->classes[i].weight));
        return o;
}

static int put_line(const struct sg_decision_log *log, uint64_t realtime_usec, unsigned causes,
                    const struct sg_governor_plan *plan, FILE *out)
{
        json_t *gone = json_array();
        char at[SG_FORMAT_MAX];
        int r;

        (void)fputc('{', out);
        r = put_json(out,
                     json_pack("{s:s,s:s,s:o,s:o}", "schema", "schedgov.decision/1", "time",
                               sg_format_rfc3339(at, realtime_usec), "causes", causes_of(causes),
                               "classes", classes_of(plan)),
                     JSON_EMBED);
        (void)fputs(",\"jobs\":[", out);
        if (r >= 0)
                r = gone ? put_changes(log, plan, out, gone) : -ENOMEM;
        (void)fputs("],\"gone\":", out);
        if (r >= 0)
                r = put_json(out, TAKE_PTR(gone), 0);
        json_decref(gone);
        (void)fputs("}\n", out);
        return r;
}

/* In one piece, so that nobody reads half a line. */
static int write_line(struct sg_decision_log *log, uint64_t realtime_usec, unsigned causes,
                      const struct sg_governor_plan *plan)
{
        _cleanup_free_ char *text = NULL;
        size_t n = 0;
        FILE *out = open_memstream(&text, &n);
        int r;

        if (!out)
                return -ENOMEM;
        r = put_line(log, realtime_usec, causes, plan, out);
        if (fclose(out) != 0 && r >= 0) /* of writes into memory that is the only error */
                r = -ENOMEM;
        if (r >= 0)
                r = sg_write_all(log->fd, text, n);
        if (r >= 0)
                log->size += n;
        return r;
}

int sg_decision_log_put(struct sg_decision_log *log, uint64_t realtime_usec, unsigned causes,
                        const struct sg_governor_plan *plan)
{
        int r;

        if (!differs(log, plan))
                return 0;
        r = log->size >= log->max_bytes ? rotate(log) : 0;
        if (r < 0)
                return r;
        r = write_line(log, realtime_usec, causes, plan);
        if (r >= 0)
                r = remember(log, plan);
        return r < 0 ? r : 1;
}

static int open_for_reading(const char *dir, const char *name, int *ret)
{
        char path[PATH_MAX];
        int fd, r = sg_path_join(path, sizeof(path), dir, name);

        if (r < 0)
                return r;
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0 && errno != ENOENT)
                return -errno;
        *ret = fd;
        return 0;
}

int sg_decision_log_files(const char *state_dir, int ret_fds[2])
{
        _cleanup_close_ int before = -1;
        int r = open_for_reading(state_dir, FILE_BEFORE, &before);

        if (r >= 0)
                r = open_for_reading(state_dir, FILE_NOW, &ret_fds[1]);
        if (r < 0)
                return r;
        ret_fds[0] = TAKE_FD(before);
        return 0;
}
