/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader's process as the daemon sees it: its birth, its signs of life, its death. */

#include "edge/reader/reader.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/reader/internal.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Processes that hang in the kernel, by what a user has mounted: so many at most. */
#define HANGING_MAX 3
#define SILENCE_MAX 2 /* checks: two to three times sg_reader_check_usec */

uint64_t sg_reader_check_usec = 5 * SG_USEC_PER_SEC;

/* --- birth */

/* One that hangs in the kernel keeps its own page. */
static int prepare(void *userdata)
{
        struct sg_job_reader *r = userdata;
        void *page;

        if (sg_worker_dying(r->worker) >= HANGING_MAX)
                return -EBUSY;
        page = mmap(NULL, sizeof(*r->page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                    0);

        if (page == MAP_FAILED)
                return -errno;
        if (r->page)
                (void)munmap(r->page, sizeof(*r->page));
        r->page = page;
        r->beat = 0;
        r->silence = 0;
        return 0;
}

static int run_reader(int fd, void *userdata)
{
        const struct sg_job_reader *r = userdata;

        return sg_reader_main(fd, r->page, r->journal_dir);
}

static void on_started(void *userdata)
{
        sg_job_reader_say_all(userdata);
}

/* --- death */

static void log_death(struct sg_job_reader *r, pid_t pid, int error, uint64_t busy)
{
        struct sg_job_key key;
        bool known = sg_job_reader_key_of(r, busy, &key);
        const char *what = error == -EPIPE       ? "has died"
                           : error == -ETIMEDOUT ? "doesn't answer"
                                                 : "speaks nonsense";
        char id[SG_JOB_ID_MAX] = "";

        if (known)
                sg_job_id_format(id, &key, key.origin);
        sg_log(LOG_WARNING,
               "the reader of jobs' progress (pid %d) %s%s%s; it is started again, and jobs that "
               "run are not touched",
               (int)pid, what, known ? " while it read what this job says: " : "", id);
}

static void on_dead(pid_t pid, int error, void *userdata)
{
        struct sg_job_reader *r = userdata;
        uint64_t busy = atomic_load_explicit(&r->page->busy, memory_order_relaxed);
        enum sg_reader_place place = atomic_load_explicit(&r->page->place, memory_order_relaxed);

        log_death(r, pid, error, busy);
        (void)sd_event_source_set_enabled(r->check, SD_EVENT_OFF);
        if (error != -ETIMEDOUT || !sg_job_reader_give_up(r, busy, place))
                sg_job_reader_blame(r, busy);
        sg_job_reader_finish_all(r);
}

static int on_frame(const uint8_t *data, size_t size, void *userdata)
{
        return sg_job_reader_dispatch(userdata, data, size);
}

#define AS_A_READER                                                                                \
        .frame_max = SG_READER_FRAME_MAX, .restarts_max = SG_WORKER_FOR_EVER,                      \
        .delay_usec = SG_USEC_PER_SEC, .delay_max_usec = 60 * SG_USEC_PER_SEC, .main = run_reader, \
        .prepare = prepare, .started = on_started, .frame = on_frame, .dead = on_dead

static const struct sg_worker_kind reader_kind = {
        .name = "schedgov-reader",
        .title = "the reader of jobs' progress",
        .end_usec = SG_USEC_PER_SEC,
        AS_A_READER,
};

/* The end of the daemon doesn't wait for disks that hang. */
static const struct sg_worker_kind files_kind = {
        .name = "schedgov-files",
        .title = "the reader of a user's files",
        .end_usec = 0,
        AS_A_READER,
};

/* --- signs of life */

static void set_check(struct sg_job_reader *r, uint64_t usec)
{
        if (sd_event_source_set_time_relative(r->check, usec) >= 0)
                (void)sd_event_source_set_enabled(r->check, SD_EVENT_ONESHOT);
}

static bool at_work(const struct sg_job_reader *r)
{
        return atomic_load_explicit(&r->page->busy, memory_order_relaxed) != SG_READER_NOBODY;
}

/* Whether something should come from the process without a further word of ours. */
static bool has_work(const struct sg_job_reader *r)
{
        if (!sg_worker_is_running(r->worker))
                return false;
        return (r->interval_usec > 0 && !sg_list_empty(&r->followed)) ||
               sg_worker_is_behind(r->worker) || at_work(r) || sg_job_reader_is_finishing(r);
}

/* Until the next check: soon if it was asked for something, else in the time of its own rounds. */
static uint64_t patience(const struct sg_job_reader *r)
{
        bool asked = at_work(r) || sg_worker_is_behind(r->worker) || sg_job_reader_is_finishing(r);

        return asked || r->interval_usec < sg_reader_check_usec ? sg_reader_check_usec
                                                                : r->interval_usec;
}

/* Checks are counted, and not time: after the machine has slept the process still has its time. */
static unsigned silence_allowed(const struct sg_job_reader *r)
{
        return at_work(r) || r->interval_usec == 0 ? SILENCE_MAX : SILENCE_MAX + 1;
}

static int on_check(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_job_reader *r = userdata;
        uint64_t beat;

        (void)source;
        (void)usec;
        if (!has_work(r))
                return 0;
        beat = atomic_load_explicit(&r->page->beat, memory_order_relaxed);
        r->silence = beat == r->beat ? r->silence + 1 : 0;
        r->beat = beat;
        if (r->silence >= silence_allowed(r))
                sg_worker_fail(r->worker, -ETIMEDOUT);
        else
                set_check(r, patience(r));
        return 0;
}

static bool due_within(sd_event_source *source, uint64_t usec)
{
        uint64_t due;
        int enabled = SD_EVENT_OFF;

        return sd_event_source_get_enabled(source, &enabled) >= 0 && enabled != SD_EVENT_OFF &&
               sd_event_source_get_time(source, &due) >= 0 && due <= sg_now_monotonic_usec() + usec;
}

static void look_after(struct sg_job_reader *r)
{
        uint64_t usec = patience(r);

        if (!r->check || due_within(r->check, usec))
                return;
        r->silence = 0;
        set_check(r, usec);
}

/* --- what it is told */

struct sg_record *sg_job_reader_open(struct sg_job_reader *r, size_t *ret_mark)
{
        if (!sg_worker_is_running(r->worker))
                return NULL;
        *ret_mark = sg_worker_open(r->worker);
        return sg_worker_out(r->worker);
}

void sg_job_reader_send(struct sg_job_reader *r, size_t mark)
{
        /* For want of memory a message was lost: the next process is told everything. */
        if (sg_worker_post(r->worker, mark) < 0)
                sg_worker_hang_up(r->worker);
        look_after(r);
}

/* --- life */

static int start(struct sg_job_reader **ret, const struct sg_worker_kind *kind,
                 const char *journal_dir)
{
        _cleanup_(sg_job_reader_freep) struct sg_job_reader *r = calloc(1, sizeof(*r));
        int e;

        if (!r)
                return -ENOMEM;
        sg_list_init(&r->followed);
        r->found = &r->followed;
        r->journal_dir = journal_dir ? strdup(journal_dir) : NULL;
        if (journal_dir && !r->journal_dir)
                return -ENOMEM;
        e = sg_worker_new(&r->worker, kind, r);
        if (e >= 0)
                e = sg_worker_start(r->worker, -1);
        if (e >= 0)
                *ret = TAKE_PTR(r);
        return e;
}

int sg_job_reader_start(struct sg_job_reader **ret, const char *journal_dir)
{
        return start(ret, &reader_kind, journal_dir);
}

int sg_job_reader_start_files(struct sg_job_reader **ret)
{
        return start(ret, &files_kind, NULL);
}

int sg_job_reader_attach(struct sg_job_reader *r, sd_event *event,
                         const struct sg_job_reader_calls *calls)
{
        int e;

        r->calls = *calls;
        e = sd_event_add_time_relative(event, &r->check, CLOCK_MONOTONIC, 0, SG_USEC_PER_SEC / 4,
                                       on_check, r);
        if (e < 0)
                return e;
        (void)sd_event_source_set_enabled(r->check, SD_EVENT_OFF);
        e = sg_worker_attach(r->worker, event);
        if (e >= 0)
                look_after(r);
        return e;
}

struct sg_job_reader *sg_job_reader_free(struct sg_job_reader *r)
{
        if (!r)
                return NULL;
        r->check = sd_event_source_disable_unref(r->check);
        sg_worker_free(r->worker);
        sg_job_reader_drop_all(r);
        if (r->page)
                (void)munmap(r->page, sizeof(*r->page));
        free(r->journal_dir);
        free(r);
        return NULL;
}

pid_t sg_job_reader_pid(const struct sg_job_reader *r)
{
        return sg_worker_pid(r->worker);
}

uint64_t sg_job_reader_restarts(const struct sg_job_reader *r)
{
        return sg_worker_restarts(r->worker);
}
