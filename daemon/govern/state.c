/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the loop knows is kept in a file beside the store: after kill -9 it goes on from there. It
 * is worth a look, not a promise: without it jobs are learnt anew. Of another boot, only what
 * classes' jobs took counts.
 */
#include "base/file.h"
#include "base/record.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "govern/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STATE_FILE "governor"
#define STATE_MAX (64U << 20)
/* A start or an end is stored in a second; what reports taught in ten, and of many jobs as much
 * later as they are more: it costs a millisecond per thousand. */
#define SOON_SEC 1
#define LATER_SEC 10
#define MANY_JOBS 100
#define HISTORY_JOBS 500 /* to be asked for */

enum { TAG_BOOT = 1, TAG_GOVERNOR = 2, TAG_CRC = 3 };

static int write_state(const struct sg_loop *loop)
{
        _cleanup_(sg_record_deinitp) struct sg_record r = {0};
        char path[PATH_MAX];
        size_t mark;

        sg_record_put_str(&r, TAG_BOOT, loop->manager->node.boot_id);
        mark = sg_record_open(&r, TAG_GOVERNOR);
        sg_governor_save(loop->governor, &r);
        sg_record_close(&r, mark);
        if (r.error == 0)
                sg_record_put_u64(&r, TAG_CRC, sg_crc32c(r.data, r.size));
        if (r.error < 0)
                return r.error;
        if (sg_path_join(path, sizeof(path), loop->state_dir, STATE_FILE) < 0)
                return -ENAMETOOLONG;
        return sg_replace_file_at_leisure(AT_FDCWD, path, r.data, r.size, 0600);
}

void sg_loop_store_now(struct sg_loop *loop, double now)
{
        int r = write_state(loop);

        if (r < 0 && r != loop->store_error)
                sg_log(LOG_WARNING, "cannot store what was learnt of jobs, ignoring: %s",
                       strerror(-r));
        loop->store_error = r < 0 ? r : 0;
        loop->stored = now;
        loop->dirty = SG_LOOP_CLEAN;
}

void sg_loop_store(struct sg_loop *loop, double now)
{
        size_t n = 0;
        const struct sg_looped *p;
        double due;

        if (loop->dirty == SG_LOOP_CLEAN)
                return;
        sg_list_foreach (p, &loop->jobs, link)
                n++;
        due = loop->stored + (loop->dirty == SG_LOOP_CHANGED ? SOON_SEC : LATER_SEC) *
                                     (1 + (double)(n / MANY_JOBS));
        if (now >= due)
                sg_loop_store_now(loop, now);
        else if (loop->dirty == SG_LOOP_CHANGED)
                sg_loop_look_by(loop, due);
        else
                sg_loop_look_with_round(loop, due);
}

struct saved {
        bool same_boot;
        struct sg_field governor;
};

/* Checks that it is whole before any of it counts. */
static int parse(const struct sg_loop *loop, const char *data, size_t size, struct saved *ret)
{
        struct sg_reader in = sg_reader_init(data, size);
        struct sg_field f;
        char boot[SG_BOOT_ID_MAX] = "";
        uint64_t crc = 0;
        bool whole = false;
        int r;

        while ((r = sg_reader_next(&in, &f)) > 0) {
                if (f.tag == TAG_BOOT && sg_field_strcpy(&f, boot, sizeof(boot)) < 0)
                        return -EBADMSG;
                if (f.tag == TAG_GOVERNOR)
                        ret->governor = f;
                if (f.tag == TAG_CRC) /* of all before its header of six bytes */
                        whole = sg_field_u64(&f, &crc) == 0 && in.p == in.end &&
                                crc == sg_crc32c(data,
                                                 (size_t)(f.data - 6 - (const uint8_t *)data));
        }
        ret->same_boot = strcmp(boot, loop->manager->node.boot_id) == 0;
        return r == 0 && whole && ret->governor.data ? 0 : -EBADMSG;
}

void sg_loop_recall(struct sg_loop *loop)
{
        _cleanup_free_ char *data = NULL;
        struct saved saved = {0};
        char path[PATH_MAX];
        size_t size;
        int r;

        r = sg_path_join(path, sizeof(path), loop->state_dir, STATE_FILE);
        if (r >= 0)
                r = sg_read_file(AT_FDCWD, path, STATE_MAX, &data, &size);
        if (r == -ENOENT)
                return;
        if (r >= 0)
                r = parse(loop, data, size, &saved);
        if (r >= 0)
                r = sg_governor_load(loop->governor, saved.governor.data, saved.governor.size,
                                     saved.same_boot ? sg_loop_now() : (double)NAN);
        loop->recalled = r >= 0;
        if (r < 0)
                sg_log(LOG_WARNING, "%s: %s; jobs are learnt anew", path, strerror(-r));
}

/* The store's word, where there is no file: after an upgrade, or when that was lost. */
struct history {
        struct sg_manager *manager;
        struct ended {
                char class[SG_CLASS_NAME_MAX];
                double cpu;
        } * jobs; /* newest first */
        size_t n;
};

static void on_ended(int result, const struct sg_job *job, void *userdata)
{
        struct history *h = userdata;

        if (result < 0 || h->n == HISTORY_JOBS || job->state != SG_JOB_EXITED ||
            job->exit_code != 0 || job->cpu_usec == SG_UNLIMITED)
                return;
        strcpy(h->jobs[h->n].class, job->class);
        h->jobs[h->n++].cpu = (double)job->cpu_usec / SG_USEC_PER_SEC;
}

static void on_history(int result, const struct sg_job *job, void *userdata)
{
        struct history *h = userdata;

        (void)result;
        (void)job;
        while (h->manager->loop && h->n-- > 0) /* else we are about to stop */
                sg_governor_remember(h->manager->loop->governor, h->jobs[h->n].class,
                                     h->jobs[h->n].cpu, (double)NAN);
        free(h->jobs);
        free(h);
}

const struct sg_class_history *sg_loop_history(const struct sg_manager *m, const struct sg_job *j)
{
        return m->loop ? sg_governor_history(m->loop->governor, j->class) : NULL;
}

void sg_loop_ask_history(struct sg_loop *loop)
{
        const struct sg_store_query q = {
                .uid = SG_UNLIMITED, .finished_only = true, .limit = HISTORY_JOBS};
        struct history *h;

        if (loop->recalled)
                return;
        h = calloc(1, sizeof(*h));
        if (h)
                h->jobs = calloc(HISTORY_JOBS, sizeof(*h->jobs));
        if (!h || !h->jobs) {
                free(h);
                return;
        }
        h->manager = loop->manager;
        sg_store_list(loop->manager->store, &q, on_ended, on_history, h);
}
