/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/reader/readers.h"
#include "base/list.h"
#include <errno.h>

struct sg_readers {
        struct sg_job_reader *ours;
        struct sg_list users; /* users who have ever named files: the reader of one who has no
                                 such job rests */
        sd_event *event;
        sd_event_source *rest;
        struct sg_job_reader_calls calls;
        uint64_t interval_usec;
};

struct user {
        struct sg_list link;
        uid_t uid;
        struct sg_job_reader *reader;
};

static struct user *user_free(struct user *u)
{
        if (!u)
                return NULL;
        sg_list_remove(&u->link);
        sg_job_reader_free(u->reader);
        free(u);
        return NULL;
}
SG_DEFINE_CLEANUP(struct user *, user_free)

static int user_new(struct sg_readers *r, uid_t uid, struct sg_job_reader **ret)
{
        _cleanup_(user_freep) struct user *u = calloc(1, sizeof(*u));
        int e;

        if (!u)
                return -ENOMEM;
        sg_list_init(&u->link);
        u->uid = uid;
        e = sg_job_reader_start_files(&u->reader);
        if (e >= 0)
                e = sg_job_reader_attach(u->reader, r->event, &r->calls);
        if (e < 0)
                return e;
        sg_job_reader_set_interval(u->reader, r->interval_usec);
        sg_list_append(&r->users, &u->link);
        *ret = TAKE_PTR(u)->reader;
        return 0;
}

static int reader_of(struct sg_readers *r, uid_t uid, struct sg_job_reader **ret)
{
        const struct user *u;

        sg_list_foreach (u, &r->users, link)
                if (u->uid == uid) {
                        *ret = u->reader;
                        return 0;
                }
        return user_new(r, uid, ret);
}

/* From the loop: a reader may be telling us something. */
static int on_rest(sd_event_source *source, void *userdata)
{
        struct sg_readers *r = userdata;
        struct user *u;

        (void)source;
        sg_list_foreach (u, &r->users, link)
                sg_job_reader_rest(u->reader);
        return 0;
}

int sg_readers_follow(struct sg_readers *r, const struct sg_follow *f)
{
        struct sg_job_reader *reader = r->ours;
        int e = f->output || f->file || f->events ? reader_of(r, f->uid, &reader) : 0;

        return e < 0 ? e : sg_job_reader_follow(reader, f);
}

int sg_readers_finish(struct sg_readers *r, const struct sg_job_key *key)
{
        int e = sg_job_reader_finish(r->ours, key);
        struct user *u;

        sg_list_foreach (u, &r->users, link)
                if (e == -ENOENT)
                        e = sg_job_reader_finish(u->reader, key);
        return e;
}

void sg_readers_forget(struct sg_readers *r, const struct sg_job_key *key)
{
        struct user *u;

        sg_job_reader_forget(r->ours, key);
        sg_list_foreach (u, &r->users, link)
                sg_job_reader_forget(u->reader, key);
}

/* With each of the monitor's rounds. */
void sg_readers_set_interval(struct sg_readers *r, uint64_t usec)
{
        struct user *u;

        r->interval_usec = usec;
        sg_job_reader_set_interval(r->ours, usec);
        sg_list_foreach (u, &r->users, link)
                sg_job_reader_set_interval(u->reader, usec);
        if (r->rest && !sg_list_empty(&r->users))
                (void)sd_event_source_set_enabled(r->rest, SD_EVENT_ONESHOT);
}

int sg_readers_start(struct sg_readers **ret)
{
        _cleanup_(sg_readers_freep) struct sg_readers *r = calloc(1, sizeof(*r));
        int e;

        if (!r)
                return -ENOMEM;
        sg_list_init(&r->users);
        e = sg_job_reader_start(&r->ours, NULL);
        if (e >= 0)
                *ret = TAKE_PTR(r);
        return e;
}

int sg_readers_attach(struct sg_readers *r, sd_event *event,
                      const struct sg_job_reader_calls *calls)
{
        int e = sd_event_add_defer(event, &r->rest, on_rest, r);

        if (e < 0)
                return e;
        (void)sd_event_source_set_enabled(r->rest, SD_EVENT_OFF);
        r->event = sd_event_ref(event);
        r->calls = *calls;
        return sg_job_reader_attach(r->ours, event, calls);
}

struct sg_readers *sg_readers_free(struct sg_readers *r)
{
        if (!r)
                return NULL;
        while (!sg_list_empty(&r->users))
                user_free(sg_list_entry(r->users.next, struct user, link));
        sg_job_reader_free(r->ours);
        r->rest = sd_event_source_disable_unref(r->rest);
        sd_event_unref(r->event);
        free(r);
        return NULL;
}

pid_t sg_readers_pid(const struct sg_readers *r)
{
        return sg_job_reader_pid(r->ours);
}

uint64_t sg_readers_restarts(const struct sg_readers *r)
{
        uint64_t n = sg_job_reader_restarts(r->ours);
        const struct user *u;

        sg_list_foreach (u, &r->users, link)
                n += sg_job_reader_restarts(u->reader);
        return n;
}
