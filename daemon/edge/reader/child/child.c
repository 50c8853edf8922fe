/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader's life: what it gives up at first, what it is told, its rounds. */

#include "edge/reader/child/child.h"
#include "base/time-util.h"
#include "edge/common/frames.h"
#include "edge/reader/child/job.h"
#include <errno.h>
#include <linux/capability.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#define FLUSH_SIZE (SG_READER_FRAME_MAX / 2)
/* A thousand jobs, and what their parsers hold of unended lines and records. Mapped journal files
 * don't count for this limit, as they would for that of the address space. */
#define DATA_MAX (256U << 20)

struct child {
        int fd;
        struct sg_reader_page *page;
        struct sg_journal *journal;
        struct sg_list jobs;
        struct sg_record out;
        struct sg_inbox in;
        uint64_t interval_usec, next_usec; /* of the next round */
        bool news;                         /* jobs whose journal hasn't been looked at yet */
        bool said;                         /* something, in this round */
};

/* --- what it gives up */

/* Of root's rights the reader keeps that of reading the files of others. Best effort: a sandbox may
 * forbid the call, but has taken most rights away already. */
static void drop_capabilities(void)
{
        struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct data[2];
        const uint32_t keep = 1U << CAP_DAC_READ_SEARCH;

        if (syscall(SYS_capget, &header, data) < 0)
                return;
        for (size_t i = 0; i < SG_ELEMENTSOF(data); i++) {
                data[i].permitted &= i == 0 ? keep : 0;
                data[i].effective = data[i].permitted;
                data[i].inheritable = 0;
        }
        (void)syscall(SYS_capset, &header, data);
}

static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__ /* whose shadow is larger */
        const struct rlimit data = {.rlim_cur = DATA_MAX, .rlim_max = DATA_MAX};

        (void)setrlimit(RLIMIT_DATA, &data);
#endif
        /* One large file must not raise what is kept for good. */
        (void)mallopt(M_MMAP_THRESHOLD, 128 * 1024);
        (void)mallopt(M_TRIM_THRESHOLD, 256 * 1024);
}

static void set_up_process(void)
{
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        drop_capabilities();
        limit_memory();
}

/* --- what it says */

static void begin_step(struct child *c, uint64_t id)
{
        sg_reader_begin_step(c->page, id, SG_READER_AT_OURS);
}

/* Sends what there is; waits for as long as the daemon is busy. */
static int flush(struct child *c)
{
        int r = c->out.error < 0 ? c->out.error : 0;

        if (r < 0 || c->out.size == 0) {
                sg_record_deinit(&c->out);
                return r == -ENOMEM ? 0 : r;
        }
        begin_step(c, SG_READER_NOBODY);
        r = sg_frame_send(c->fd, c->out.data, c->out.size, SG_READER_FRAME_MAX);
        c->out.size = 0;
        c->said = true;
        if (c->out.allocated > FLUSH_SIZE)
                sg_record_deinit(&c->out);
        return r;
}

/* --- rounds */

static int look_at(struct child *c, struct sg_reading *j, bool last)
{
        begin_step(c, j->id);
        sg_reading_look(j, last, &c->out);
        return c->out.size >= FLUSH_SIZE || c->out.error < 0 ? flush(c) : 0;
}

static int look_at_journal(struct child *c)
{
        struct sg_reading *j;
        int r, error;

        begin_step(c, SG_READER_NOBODY);
        error = sg_journal_look(c->journal);
        c->news = false;
        sg_list_foreach (j, &c->jobs, link) {
                sg_reading_tell_journal(j, error, false, &c->out);
                r = c->out.size >= FLUSH_SIZE ? flush(c) : 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

static int look_at_all(struct child *c)
{
        struct sg_reading *j;
        int r = 0;

        c->said = false;
        sg_list_foreach (j, &c->jobs, link) {
                r = look_at(c, j, false);
                if (r < 0)
                        return r;
        }
        r = look_at_journal(c);
        if (r >= 0 && (c->said || c->out.size > 0))
                sg_reader_put_id(&c->out, SG_READER_ROUND, SG_READER_NOBODY);
        return r;
}

/* --- what it is told */

static struct sg_reading *find(struct child *c, uint64_t id)
{
        struct sg_reading *j;

        sg_list_foreach (j, &c->jobs, link)
                if (j->id == id)
                        return j;
        return NULL;
}

static int follow(struct child *c, const struct sg_reader_message *m)
{
        struct sg_reading *j;
        int r;

        if (find(c, m->id))
                return -EBADMSG;
        begin_step(c, m->id);
        r = sg_reading_new(&j, m, c->journal, &c->out);
        if (r == -ENOMEM) {
                sg_reader_put_trouble(&c->out, m->id, SG_TROUBLE_MEMORY,
                                      "not enough memory to follow the job");
                return 0;
        }
        if (r < 0)
                return r;
        j->page = c->page;
        sg_list_append(&c->jobs, &j->link);
        c->news = true;
        return look_at(c, j, false);
}

static void forget(struct child *c, uint64_t id)
{
        struct sg_reading *j = find(c, id);

        if (!j)
                return;
        sg_list_remove(&j->link);
        sg_reading_free(j);
}

static int finish(struct child *c, uint64_t id)
{
        struct sg_reading *j = find(c, id);
        int r = 0;

        if (j) {
                r = look_at(c, j, true);
                if (r >= 0 && j->journal)
                        r = look_at_journal(c);
                sg_reading_tell_journal(j, 0, true, &c->out);
                forget(c, id);
        }
        sg_reader_put_id(&c->out, SG_READER_FINISHED, id);
        return r < 0 ? r : 0;
}

static void set_interval(struct child *c, uint64_t usec)
{
        uint64_t now = sg_now_monotonic_usec();

        if (usec > 0 && (c->interval_usec == 0 || now + usec < c->next_usec))
                c->next_usec = now + usec;
        c->interval_usec = usec;
}

static int take_message(struct child *c, const struct sg_reader_message *m)
{
        switch (m->kind) {
        case SG_READER_FOLLOW:
                return follow(c, m);
        case SG_READER_FORGET:
                forget(c, m->id);
                return 0;
        case SG_READER_FINISH:
                return finish(c, m->id);
        case SG_READER_INTERVAL:
                set_interval(c, m->usec);
                return 0;
        default:
                return -EBADMSG;
        }
}

static int take_frame(struct child *c, const void *data, size_t size)
{
        struct sg_reader in = sg_reader_init(data, size);
        struct sg_reader_message m;
        int r;

        while ((r = sg_reader_take(&in, &m)) > 0) {
                r = take_message(c, &m);
                sg_reader_message_deinit(&m);
                if (r < 0)
                        break;
        }
        return r;
}

static int take_frames(struct child *c)
{
        const uint8_t *data;
        size_t size;
        int r;

        while ((r = sg_inbox_take(&c->in, &data, &size)) > 0) {
                r = take_frame(c, data, size);
                if (r < 0)
                        break;
        }
        return r;
}

/* All that is there: 0, or -EPIPE at the end. */
static int receive(struct child *c)
{
        ssize_t n;

        while ((n = sg_inbox_receive(&c->in, c->fd, MSG_DONTWAIT)) > 0) {
                int r = take_frames(c);

                if (r < 0)
                        return r;
        }
        if (n == -EAGAIN)
                return c->news ? look_at_journal(c) : 0;
        return n < 0 ? (int)n : -EPIPE;
}

/* --- the loop */

static bool has_rounds(const struct child *c)
{
        return c->interval_usec > 0 && !sg_list_empty(&c->jobs);
}

/* Until a message comes (true), or a round is due. */
static bool wait_for_work(struct child *c)
{
        struct pollfd p = {.fd = c->fd, .events = POLLIN};
        uint64_t now = sg_now_monotonic_usec(), left = c->next_usec > now ? c->next_usec - now : 0;
        const struct timespec timeout = {
                .tv_sec = (time_t)(left / 1000000),
                .tv_nsec = (long)(left % 1000000) * 1000,
        };

        atomic_store_explicit(&c->page->busy, SG_READER_NOBODY, memory_order_relaxed);
        return ppoll(&p, 1, has_rounds(c) ? &timeout : NULL, NULL) > 0;
}

static int run_round(struct child *c)
{
        uint64_t now = sg_now_monotonic_usec();

        if (!has_rounds(c) || now < c->next_usec)
                return 0;
        c->next_usec = now + c->interval_usec;
        return look_at_all(c);
}

static int loop(struct child *c)
{
        int r;

        do {
                r = wait_for_work(c) ? receive(c) : 0;
                if (r >= 0)
                        r = run_round(c);
                if (r >= 0)
                        r = flush(c);
        } while (r >= 0);
        return r;
}

int sg_reader_main(int fd, struct sg_reader_page *page, const char *journal_dir)
{
        struct child c = {.fd = fd, .page = page, .in.max = SG_READER_FRAME_MAX};
        struct sg_reading *j, *next;
        int r;

        set_up_process();
        sg_list_init(&c.jobs);
        r = sg_journal_new(&c.journal, journal_dir);
        if (r < 0)
                return EXIT_FAILURE;
        r = loop(&c);
        sg_list_foreach_safe (j, next, &c.jobs, link)
                sg_reading_free(j);
        sg_journal_free(c.journal);
        sg_record_deinit(&c.out);
        sg_inbox_deinit(&c.in);
        return r == -EPIPE || r == -ECONNRESET ? EXIT_SUCCESS : EXIT_FAILURE;
}
