/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The jobs that the reader follows for the daemon, and what it says of them. */

#include "edge/pattern/pattern.h"
#include "edge/reader/internal.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEATHS_MAX 3

/* --- jobs */

/* Jobs that are finishing are passed over: their key is free. */
static struct sg_followed *find_key(struct sg_job_reader *r, const struct sg_job_key *key)
{
        struct sg_followed *f;

        sg_list_foreach (f, &r->followed, link)
                if (!f->finishing && sg_kept_key_is(&f->key, key))
                        return f;
        return NULL;
}

/* A round speaks of jobs in the list's order: the search goes on from where the last one ended. */
static struct sg_followed *find_id(struct sg_job_reader *r, uint64_t id)
{
        struct sg_list *at = r->found;

        do {
                struct sg_followed *f = sg_list_entry(at, struct sg_followed, link);

                if (at != &r->followed && f->id == id) {
                        r->found = at;
                        return f;
                }
                at = at->next;
        } while (at != r->found);
        return NULL;
}

bool sg_job_reader_key_of(struct sg_job_reader *r, uint64_t id, struct sg_job_key *ret)
{
        const struct sg_followed *f = find_id(r, id);

        if (f)
                *ret = sg_kept_key_get(&f->key);
        return f;
}

static void drop(struct sg_job_reader *r, struct sg_followed *f)
{
        r->found = &r->followed;
        sg_list_remove(&f->link);
        sg_kept_key_deinit(&f->key);
        free(f);
}

void sg_job_reader_drop_all(struct sg_job_reader *r)
{
        while (!sg_list_empty(&r->followed))
                drop(r, sg_list_entry(r->followed.next, struct sg_followed, link));
}

bool sg_job_reader_is_finishing(const struct sg_job_reader *r)
{
        const struct sg_followed *f;

        sg_list_foreach (f, &r->followed, link)
                if (f->finishing)
                        return true;
        return false;
}

static bool can_follow(const struct sg_follow *f)
{
        const char *preset = f->preset;

        if (!sg_follow_valid(f))
                return false;
        if (f->pattern)
                return sg_pattern_check(f->pattern, NULL) >= 0;
        return !preset || !*preset || strcmp(preset, "none") == 0 ||
               (strcmp(preset, "pattern") != 0 && sg_preset_valid(preset));
}

/* --- what it is told */

static void say_id(struct sg_job_reader *r, enum sg_reader_kind kind, uint64_t id)
{
        size_t mark;
        struct sg_record *out = sg_job_reader_open(r, &mark);

        if (!out)
                return;
        sg_reader_put_id(out, kind, id);
        sg_job_reader_send(r, mark);
}

static void say_follow(struct sg_job_reader *r, const struct sg_followed *f)
{
        size_t mark;
        struct sg_record *out = sg_job_reader_open(r, &mark);

        if (!out)
                return;
        sg_record_append(out, f->message, f->size);
        sg_job_reader_send(r, mark);
}

int sg_job_reader_follow(struct sg_job_reader *r, const struct sg_follow *follow)
{
        _cleanup_(sg_record_deinitp) struct sg_record message = {0};
        struct sg_followed *f;
        int e;

        if (!can_follow(follow))
                return -EINVAL;
        if (find_key(r, &follow->key))
                return -EEXIST;
        sg_reader_put_follow(&message, r->next_id + 1, follow);
        f = message.error < 0 ? NULL : calloc(1, sizeof(*f) + message.size);
        if (!f)
                return -ENOMEM;
        if (sg_kept_key_init(&f->key, &follow->key) < 0) {
                free(f);
                return -ENOMEM;
        }
        f->id = ++r->next_id;
        f->size = (uint32_t)message.size;
        memcpy(f->message, message.data, message.size);
        sg_list_append(&r->followed, &f->link);
        if (!sg_worker_is_over(r->worker)) {
                say_follow(r, f);
                return 0;
        }
        e = sg_worker_start(r->worker, -1);
        if (e < 0)
                drop(r, f);
        else
                sg_job_reader_say_all(r);
        return e;
}

void sg_job_reader_rest(struct sg_job_reader *r)
{
        if (sg_list_empty(&r->followed))
                sg_worker_stop(r->worker);
}

void sg_job_reader_forget(struct sg_job_reader *r, const struct sg_job_key *key)
{
        struct sg_followed *f, *next;

        sg_list_foreach_safe (f, next, &r->followed, link)
                if (sg_kept_key_is(&f->key, key)) {
                        say_id(r, SG_READER_FORGET, f->id);
                        drop(r, f);
                }
}

int sg_job_reader_finish(struct sg_job_reader *r, const struct sg_job_key *key)
{
        struct sg_followed *f = find_key(r, key);

        if (!f)
                return -ENOENT;
        if (!sg_worker_is_running(r->worker)) {
                drop(r, f);
                return -ENOENT;
        }
        f->finishing = true;
        say_id(r, SG_READER_FINISH, f->id);
        return 0;
}

void sg_job_reader_set_interval(struct sg_job_reader *r, uint64_t usec)
{
        struct sg_record *out;
        size_t mark;

        if (usec == r->interval_usec)
                return;
        r->interval_usec = usec;
        out = sg_job_reader_open(r, &mark);
        if (!out)
                return;
        sg_reader_put_interval(out, usec);
        sg_job_reader_send(r, mark);
}

void sg_job_reader_say_all(struct sg_job_reader *r)
{
        size_t mark;
        struct sg_record *out = sg_job_reader_open(r, &mark);
        const struct sg_followed *f;

        if (!out)
                return;
        sg_reader_put_interval(out, r->interval_usec);
        sg_list_foreach (f, &r->followed, link) {
                if (out->size - mark + f->size > SG_READER_FRAME_MAX) {
                        sg_job_reader_send(r, mark);
                        out = sg_job_reader_open(r, &mark);
                }
                sg_record_append(out, f->message, f->size);
        }
        sg_job_reader_send(r, mark);
}

/* --- what is said of them */

static void tell_trouble(struct sg_job_reader *r, struct sg_followed *f,
                         enum sg_reader_trouble kind, const char *text)
{
        struct sg_job_key key = sg_kept_key_get(&f->key);

        if (f->told & 1U << kind)
                return;
        f->told |= 1U << kind;
        r->calls.trouble(&key, text, r->calls.userdata);
}

static void tell_finished(struct sg_job_reader *r, struct sg_followed *f)
{
        struct sg_job_key key = sg_kept_key_get(&f->key);

        drop(r, f);
        r->calls.finished(&key, r->calls.userdata);
}

/* The job may be gone when a callback returns. */
static int take(struct sg_job_reader *r, const struct sg_reader_message *m)
{
        struct sg_followed *f = find_id(r, m->id);
        struct sg_job_key key;

        if (m->kind != SG_READER_REPORT && m->kind != SG_READER_TROUBLE &&
            m->kind != SG_READER_FINISHED && m->kind != SG_READER_ROUND)
                return -EBADMSG;
        if (m->kind == SG_READER_ROUND) {
                if (r->calls.round)
                        r->calls.round(r->calls.userdata);
                return 0;
        }
        if (!f)
                return 0; /* forgotten meanwhile */
        if (m->kind == SG_READER_TROUBLE) {
                tell_trouble(r, f, m->trouble, m->text);
        } else if (m->kind == SG_READER_REPORT) {
                key = sg_kept_key_get(&f->key);
                r->calls.report(&key, &m->report, m->n_reports, m->source, r->calls.userdata);
        } else if (f->finishing) {
                tell_finished(r, f);
        }
        return 0;
}

int sg_job_reader_dispatch(struct sg_job_reader *r, const void *data, size_t size)
{
        struct sg_reader in = sg_reader_init(data, size);
        struct sg_reader_message m;
        int e;

        while ((e = sg_reader_take(&in, &m)) > 0) {
                e = take(r, &m);
                sg_reader_message_deinit(&m);
                if (e < 0)
                        return e;
        }
        return e;
}

void sg_job_reader_finish_all(struct sg_job_reader *r)
{
        struct sg_followed *f, *next;
        struct sg_list all = SG_LIST_INIT(all);

        r->found = &r->followed;
        sg_list_foreach_safe (f, next, &r->followed, link)
                if (f->finishing) {
                        sg_list_remove(&f->link);
                        sg_list_append(&all, &f->link);
                }
        while (!sg_list_empty(&all))
                tell_finished(r, sg_list_entry(all.next, struct sg_followed, link));
}

static const char **path_at(struct sg_follow *f, enum sg_reader_place place)
{
        switch (place) {
        case SG_READER_AT_OURS:
                break;
        case SG_READER_AT_OUTPUT:
                return &f->output;
        case SG_READER_AT_FILE:
                return &f->file;
        case SG_READER_AT_EVENTS:
                return &f->events;
        }
        return NULL;
}

/* Says to the next process what it is to follow, which is less than before, so it has its room. */
static void say_without(struct sg_followed *f, const struct sg_follow *without)
{
        _cleanup_(sg_record_deinitp) struct sg_record message = {0};

        sg_reader_put_follow(&message, f->id, without);
        if (message.error < 0 || message.size > f->size)
                return;
        f->size = (uint32_t)message.size;
        memcpy(f->message, message.data, message.size);
}

bool sg_job_reader_give_up(struct sg_job_reader *r, uint64_t id, enum sg_reader_place place)
{
        struct sg_followed *f = find_id(r, id);
        struct sg_reader_message m;
        struct sg_reader in;
        struct sg_job_key key;
        char text[SG_READER_TEXT_MAX];
        const char **path, *hung;

        if (!f || f->finishing)
                return false;
        in = sg_reader_init(f->message, f->size);
        if (sg_reader_take(&in, &m) <= 0)
                return false;
        path = path_at(&m.follow, place);
        if (!path || !*path) {
                sg_reader_message_deinit(&m);
                return false;
        }
        (void)snprintf(text, sizeof(text), "its disk hangs: there is no more looking at %s", *path);
        key = sg_kept_key_get(&f->key);
        hung = TAKE_PTR(*path);
        say_without(f, &m.follow);
        *path = hung; /* to be freed */
        sg_reader_message_deinit(&m);
        r->calls.trouble(&key, text, r->calls.userdata);
        return true;
}

void sg_job_reader_blame(struct sg_job_reader *r, uint64_t id)
{
        struct sg_followed *f = find_id(r, id);
        struct sg_job_key key;

        if (!f || ++f->deaths < DEATHS_MAX || f->finishing)
                return;
        key = sg_kept_key_get(&f->key);
        drop(r, f);
        r->calls.trouble(&key,
                         "what it writes was too much for the reader three times; it "
                         "isn't followed any more",
                         r->calls.userdata);
}
