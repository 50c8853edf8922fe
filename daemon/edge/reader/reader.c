/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reader's process as the daemon sees it: its birth, its signs of life, its death. */

#include "edge/reader/reader.h"
#include "base/datagram.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/reader/internal.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define CHUNK_SIZE (SG_READER_DATAGRAM_MAX / 2)
#define SILENCE_MAX 2    /* checks: two to three times sg_reader_check_usec */
#define DATAGRAMS_MAX 32 /* per turn of the loop */
#define DELAY_MAX_USEC (60 * SG_USEC_PER_SEC)
#define EXIT_MSEC 1000 /* that it has to end in good order */

uint64_t sg_reader_check_usec = 5 * SG_USEC_PER_SEC;

/* Linked in with --coverage only: the reader's end is no exit(3). */
extern void __gcov_dump(void) __attribute__((weak));

/* --- birth */

static int new_page(struct sg_job_reader *r)
{
        void *page = mmap(NULL, sizeof(*r->page), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (page == MAP_FAILED)
                return -errno;
        /* One that hangs in the kernel keeps its own. */
        if (r->page)
                (void)munmap(r->page, sizeof(*r->page));
        r->page = page;
        return 0;
}

static int fork_reader(struct sg_job_reader *r)
{
        _cleanup_close_ int ours = -1, theirs = -1;
        int pair[2], e;
        pid_t pid;

        e = new_page(r);
        if (e < 0)
                return e;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return -errno;
        ours = pair[0];
        theirs = pair[1];
        pid = fork();
        if (pid < 0)
                return -errno;
        if (pid == 0) {
                int status = sg_reader_main(theirs, r->page, r->journal_dir);

                if (__gcov_dump)
                        __gcov_dump();
                _exit(status);
        }
        r->pid = pid;
        r->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        r->fd = TAKE_FD(ours);
        r->beat = 0;
        r->silence = 0;
        r->started_usec = sg_now_monotonic_usec();
        return 0;
}

int sg_job_reader_start(struct sg_job_reader **ret, const char *journal_dir)
{
        _cleanup_(sg_job_reader_freep) struct sg_job_reader *r = calloc(1, sizeof(*r));
        int e;

        if (!r)
                return -ENOMEM;
        sg_list_init(&r->followed);
        r->found = &r->followed;
        sg_list_init(&r->corpses);
        r->fd = r->pidfd = -1;
        r->journal_dir = journal_dir ? strdup(journal_dir) : NULL;
        if (journal_dir && !r->journal_dir)
                return -ENOMEM;
        e = fork_reader(r);
        if (e >= 0)
                *ret = TAKE_PTR(r);
        return e;
}

/* --- death */

static void corpse_free(struct sg_reader_corpse *c)
{
        sg_list_remove(&c->link);
        sd_event_source_disable_unref(c->source);
        (void)sg_close(c->pidfd);
        free(c);
}

static int on_corpse(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_reader_corpse *c = userdata;

        (void)source;
        (void)fd;
        (void)revents;
        (void)waitpid(c->pid, NULL, WNOHANG);
        corpse_free(c);
        return 0;
}

/* It may be long until it has really ended: nobody sleeps for that. */
static void bury(struct sg_job_reader *r)
{
        struct sg_reader_corpse *c = calloc(1, sizeof(*c));
        pid_t pid = r->pid;
        int pidfd = TAKE_FD(r->pidfd);

        r->pid = 0;
        (void)kill(pid, SIGKILL);
        if (!c || pidfd < 0 ||
            sd_event_add_io(r->event, &c->source, pidfd, EPOLLIN, on_corpse, c) < 0) {
                (void)sg_close(pidfd);
                free(c);
                while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
                        continue;
                return;
        }
        c->pid = pid;
        c->pidfd = pidfd;
        sg_list_append(&r->corpses, &c->link);
}

static void set_timer(sd_event_source *source, uint64_t usec)
{
        if (sd_event_source_set_time_relative(source, usec) >= 0)
                (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* At once if it has done well for long; later each time if not. */
static uint64_t next_delay(struct sg_job_reader *r)
{
        uint64_t delay = r->delay_usec;

        if (sg_now_monotonic_usec() - r->started_usec > DELAY_MAX_USEC)
                delay = 0;
        r->delay_usec = delay == 0 ? SG_USEC_PER_SEC : 2 * delay;
        if (r->delay_usec > DELAY_MAX_USEC)
                r->delay_usec = DELAY_MAX_USEC;
        return delay;
}

static void log_death(struct sg_job_reader *r, const char *what, uint64_t busy)
{
        const struct sg_job_key *key = sg_job_reader_key_of(r, busy);
        char id[SG_JOB_ID_MAX] = "";

        if (key)
                sg_job_id_format(id, key, key->origin);
        sg_log(LOG_WARNING,
               "the reader of jobs' progress (pid %d) %s%s%s; it is started again, and jobs that "
               "run are not touched",
               (int)r->pid, what, key ? " while it read what this job says: " : "", id);
}

static void reader_die(struct sg_job_reader *r, const char *what)
{
        uint64_t busy = atomic_load_explicit(&r->page->busy, memory_order_relaxed);

        log_death(r, what, busy);
        r->io = sd_event_source_disable_unref(r->io);
        r->fd = sg_close(r->fd);
        sg_record_deinit(&r->out);
        r->sent = 0;
        (void)sd_event_source_set_enabled(r->check, SD_EVENT_OFF);
        bury(r);
        set_timer(r->restart, next_delay(r));
        sg_job_reader_blame(r, busy);
        sg_job_reader_finish_all(r);
}

/* --- signs of life */

static bool at_work(const struct sg_job_reader *r)
{
        return atomic_load_explicit(&r->page->busy, memory_order_relaxed) != SG_READER_NOBODY;
}

/* Something should come of it without a further word of ours. */
static bool has_work(const struct sg_job_reader *r)
{
        if (r->fd < 0)
                return false;
        return (r->interval_usec > 0 && !sg_list_empty(&r->followed)) || r->out.size > r->sent ||
               at_work(r) || sg_job_reader_is_finishing(r);
}

/* Until the next check: what it was asked is to be done soon, its own rounds in their time. */
static uint64_t patience(const struct sg_job_reader *r)
{
        bool asked = at_work(r) || r->out.size > r->sent || sg_job_reader_is_finishing(r);

        return asked || r->interval_usec < sg_reader_check_usec ? sg_reader_check_usec
                                                                : r->interval_usec;
}

/* Checks, not time, are counted: after the machine has slept it has its time, too. */
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
                reader_die(r, "doesn't answer");
        else
                set_timer(r->check, patience(r));
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

        if (!r->check || r->fd < 0 || due_within(r->check, usec))
                return;
        r->silence = 0;
        set_timer(r->check, usec);
}

/* --- datagrams */

/* As many whole messages as go into one. */
static size_t next_chunk(const struct sg_job_reader *r)
{
        struct sg_reader in = sg_reader_init(r->out.data + r->sent, r->out.size - r->sent);
        const uint8_t *begin = in.p;
        size_t size = 0;
        struct sg_field f;

        while (sg_reader_next(&in, &f) > 0) {
                if (size > 0 && (size_t)(in.p - begin) > CHUNK_SIZE)
                        break;
                size = (size_t)(in.p - begin);
        }
        return size;
}

static void update_io(struct sg_job_reader *r)
{
        if (r->io)
                (void)sd_event_source_set_io_events(
                        r->io, EPOLLIN | (r->out.size > r->sent ? EPOLLOUT : 0));
}

void sg_job_reader_send(struct sg_job_reader *r)
{
        int e = 0;

        /* With memory short a message was lost: the next process is told everything. */
        if (r->out.error < 0 && r->fd >= 0)
                (void)shutdown(r->fd, SHUT_RDWR);
        while (e >= 0 && r->fd >= 0 && r->out.error == 0 && r->out.size > r->sent) {
                size_t size = next_chunk(r);

                e = sg_datagram_send(r->fd, r->out.data + r->sent, size, -1);
                if (e >= 0)
                        r->sent += size;
        }
        if (r->sent == r->out.size)
                sg_record_deinit(&r->out);
        if (r->out.size == 0)
                r->sent = 0;
        update_io(r);
        look_after(r);
}

static void receive(struct sg_job_reader *r)
{
        static uint8_t buffer[SG_READER_DATAGRAM_MAX];
        struct sg_datagram d;
        int e = 1;

        for (unsigned n = 0; e > 0 && r->fd >= 0 && n < DATAGRAMS_MAX; n++) {
                e = sg_datagram_receive(r->fd, buffer, sizeof(buffer), &d);
                if (e <= 0)
                        break;
                (void)sg_close(d.fd);
                if (d.cut || sg_job_reader_dispatch(r, buffer, d.size) < 0) {
                        if (r->fd >= 0)
                                reader_die(r, "speaks nonsense");
                        return;
                }
        }
        if (e != -EAGAIN && e <= 0 && r->fd >= 0)
                reader_die(r, "has died");
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_job_reader *r = userdata;

        (void)source;
        (void)fd;
        if (revents & EPOLLOUT)
                sg_job_reader_send(r);
        if (r->fd >= 0 && revents & (EPOLLIN | EPOLLHUP | EPOLLERR))
                receive(r);
        return 0;
}

/* --- life */

static int attach_io(struct sg_job_reader *r)
{
        int e = sd_event_add_io(r->event, &r->io, r->fd, EPOLLIN, on_io, r);

        if (e >= 0)
                (void)sd_event_source_set_description(r->io, "reader");
        return e;
}

static int on_restart(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_job_reader *r = userdata;
        int e;

        (void)source;
        (void)usec;
        e = fork_reader(r);
        if (e >= 0)
                e = attach_io(r);
        if (e < 0) {
                sg_log(LOG_ERR, "cannot start the reader of jobs' progress: %s; trying again",
                       strerror(-e));
                r->fd = sg_close(r->fd);
                if (r->pid > 0)
                        bury(r);
                set_timer(r->restart, next_delay(r) + SG_USEC_PER_SEC);
                return 0;
        }
        r->n_restarts++;
        sg_job_reader_say_all(r);
        return 0;
}

int sg_job_reader_attach(struct sg_job_reader *r, sd_event *event,
                         const struct sg_job_reader_calls *calls)
{
        int e;

        r->calls = *calls;
        r->event = sd_event_ref(event);
        e = sd_event_add_time_relative(event, &r->check, CLOCK_MONOTONIC, 0, SG_USEC_PER_SEC / 4,
                                       on_check, r);
        if (e >= 0)
                e = sd_event_add_time_relative(event, &r->restart, CLOCK_MONOTONIC, 0, 0,
                                               on_restart, r);
        if (e >= 0)
                e = attach_io(r);
        if (e < 0)
                return e;
        (void)sd_event_source_set_enabled(r->check, SD_EVENT_OFF);
        (void)sd_event_source_set_enabled(r->restart, SD_EVENT_OFF);
        sg_job_reader_send(r);
        return 0;
}

/* Its end of the socket closed, it ends by itself, unless it hangs. */
static void end_process(struct sg_job_reader *r)
{
        struct pollfd p = {.fd = r->pidfd, .events = POLLIN};

        r->fd = sg_close(r->fd);
        if (r->pid <= 0)
                return;
        if (r->pidfd < 0 || poll(&p, 1, EXIT_MSEC) <= 0)
                (void)kill(r->pid, SIGKILL);
        if (r->pidfd >= 0)
                (void)poll(&p, 1, EXIT_MSEC);
        (void)waitpid(r->pid, NULL, r->pidfd >= 0 ? WNOHANG : 0);
        r->pidfd = sg_close(r->pidfd);
        r->pid = 0;
}

struct sg_job_reader *sg_job_reader_free(struct sg_job_reader *r)
{
        if (!r)
                return NULL;
        r->io = sd_event_source_disable_unref(r->io);
        r->check = sd_event_source_disable_unref(r->check);
        r->restart = sd_event_source_disable_unref(r->restart);
        end_process(r);
        while (!sg_list_empty(&r->corpses)) {
                struct sg_reader_corpse *c =
                        sg_list_entry(r->corpses.next, struct sg_reader_corpse, link);

                (void)waitpid(c->pid, NULL, WNOHANG);
                corpse_free(c);
        }
        r->event = sd_event_unref(r->event);
        sg_job_reader_drop_all(r);
        sg_record_deinit(&r->out);
        if (r->page)
                (void)munmap(r->page, sizeof(*r->page));
        free(r->journal_dir);
        free(r);
        return NULL;
}

pid_t sg_job_reader_pid(const struct sg_job_reader *r)
{
        return r->pid;
}

uint64_t sg_job_reader_restarts(const struct sg_job_reader *r)
{
        return r->n_restarts;
}
