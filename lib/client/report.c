/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the job tells. One report is kept, with the newest values; it is sent at once if there were
 * few of late, and else with a later call, or at exit. A thread that finds another one at it drops
 * its own values rather than wait.
 */
#include "client/client-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RATE 20        /* reports per second, and as many at once */
#define STATUS_MAX 128 /* with the NUL; what the governor shows */
#define MESSAGE_MAX 512
#define EXIT_MSEC 200
#define RETRY_NSEC 1000000 /* the governor's queue is full: it is emptied within milliseconds */

enum { EVAL = 1, STEP = 2, EPOCH = 4, STATUS = 8, CHECKPOINTED = 16, SIGNAL = 32 };

struct report {
        unsigned has;
        double eval;
        uint64_t step, total, epoch, epochs;
        int signal;
        char status[STATUS_MAX];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct report waiting;
static double tokens = RATE;
static uint64_t counted_nsec;
static uint64_t sent_nsec; /* when something was last sent or lost; 0 = all has been seen */
static pid_t owner;        /* of what is waiting and of what was sent */
static _Atomic uint64_t dropped;

static uint64_t now_nsec(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* --- the text --- */

struct text {
        char s[MESSAGE_MAX];
        size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *format, ...)
{
        va_list ap;
        int n;

        va_start(ap, format);
        n = vsnprintf(t->s + t->n, sizeof(t->s) - t->n, format, ap);
        va_end(ap);
        if (n > 0 && (size_t)n < sizeof(t->s) - t->n)
                t->n += (size_t)n;
}

/* The locale may have any sign, of several bytes, for the point. */
static void add_eval(struct text *t, double v)
{
        char number[64], *out = number;
        bool foreign = false;

        (void)snprintf(number, sizeof(number), "%.17g", v);
        for (const char *p = number; *p; p++) {
                bool own = (*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || *p == '-' ||
                           *p == '+';

                if (own)
                        *out++ = *p;
                else if (!foreign)
                        *out++ = '.';
                foreign = !own;
        }
        *out = '\0';
        add(t, "SCHEDGOV_EVAL=%s\n", number);
}

static void format(const struct report *r, struct text *t)
{
        if (r->has & EVAL)
                add_eval(t, r->eval);
        if (r->has & EPOCH)
                add(t, "EPOCH=%" PRIu64 "\n", r->epoch);
        if ((r->has & EPOCH) && r->epochs > 0)
                add(t, "EPOCHS=%" PRIu64 "\n", r->epochs);
        if (r->has & STEP)
                add(t, "STEP=%" PRIu64 "\n", r->step);
        if (r->total > 0)
                add(t, "TOTAL_STEPS=%" PRIu64 "\n", r->total);
        if (r->has & STATUS)
                add(t, "STATUS=%s\n", r->status);
        if (r->has & CHECKPOINTED)
                add(t, "SCHEDGOV_CHECKPOINTED=1\n");
        if (r->has & SIGNAL)
                add(t, "SCHEDGOV_ALLOCATION_SIGNAL=%d\n", r->signal);
}

/* --- sending --- */

/* A token for each report, RATE of them a second. */
static bool may_send(uint64_t now)
{
        tokens += (double)(now - counted_nsec) * (RATE * 1e-9);
        if (tokens > RATE || counted_nsec == 0)
                tokens = RATE;
        counted_nsec = now;
        if (tokens < 1)
                return false;
        tokens--;
        return true;
}

/* 0 if all was sent; -EAGAIN if it still waits, else it was lost. */
static int send_waiting(uint64_t now)
{
        struct text t = {.n = 0};
        int r;

        if (waiting.has == 0)
                return 0;
        format(&waiting, &t);
        r = sgc_send(t.s, t.n, -1);
        if (r == -EAGAIN)
                return r;
        if (r < 0) /* nobody is there: the governor restarts, or never will */
                atomic_fetch_add(&dropped, 1);
        sent_nsec = now;
        waiting.has = 0;
        waiting.total = 0;
        return r;
}

static void before_fork(void)
{
        (void)pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
        (void)pthread_mutex_unlock(&lock);
}

static void begin(void)
{
        (void)pthread_atfork(before_fork, after_fork, after_fork);
}

/* Called with the lock. After a fork(2) the report that our parent kept is forgotten here, as the
 * parent itself sends it. */
static void claim(void)
{
        if (sgc_is_other_process(owner)) {
                waiting.has = 0;
                waiting.total = 0;
                sent_nsec = 0;
        }
        owner = getpid();
}

static bool enter(void)
{
        if (!sgc_has_socket())
                return false;
        (void)pthread_once(&once, begin);
        if (pthread_mutex_trylock(&lock) != 0) {
                atomic_fetch_add(&dropped, 1);
                return false;
        }
        claim();
        return true;
}

/* What tells of another step replaces what was told before; the rest stands beside it. */
static void merge(const struct report *r)
{
        const unsigned progress = EVAL | STEP | EPOCH;

        if (r->has & progress & waiting.has)
                atomic_fetch_add(&dropped, 1);
        if (r->has & progress) {
                waiting.has &= ~(unsigned)(STEP | EPOCH);
                waiting.step = r->step;
                waiting.total = r->total == SCHEDGOV_UNKNOWN ? 0 : r->total;
                waiting.epoch = r->epoch;
                waiting.epochs = r->epochs;
        }
        if (r->has & EVAL)
                waiting.eval = r->eval;
        if (r->has & STATUS)
                memcpy(waiting.status, r->status, sizeof(waiting.status));
        if (r->has & SIGNAL)
                waiting.signal = r->signal;
        waiting.has |= r->has;
}

/* Reports that somebody waits for (a checkpoint, a wish for a signal) are sent at once: the rate is
 * for what comes with every step. */
static int tell(const struct report *r)
{
        const unsigned urgent = CHECKPOINTED | SIGNAL;
        uint64_t now;

        if (!enter())
                return 0;
        now = now_nsec();
        merge(r);
        if (may_send(now) || (r->has & urgent))
                (void)send_waiting(now);
        (void)pthread_mutex_unlock(&lock);
        return 1;
}

SGC_API int schedgov_progress(double eval, uint64_t step, uint64_t total)
{
        return tell(&(struct report){.has = EVAL | (step == SCHEDGOV_UNKNOWN ? 0 : STEP),
                                     .eval = eval,
                                     .step = step,
                                     .total = total});
}

SGC_API int schedgov_step(uint64_t step, uint64_t total)
{
        return tell(&(struct report){.has = STEP, .step = step, .total = total});
}

SGC_API int schedgov_epoch(double eval, uint64_t epoch, uint64_t epochs, uint64_t step,
                           uint64_t total)
{
        return tell(&(struct report){.has = EVAL | EPOCH | (step == SCHEDGOV_UNKNOWN ? 0 : STEP),
                                     .eval = eval,
                                     .step = step,
                                     .total = total,
                                     .epoch = epoch,
                                     .epochs = epochs});
}

/* One line; a character of several bytes isn't cut in two. */
SGC_API int schedgov_status(const char *text)
{
        struct report r = {.has = STATUS};
        size_t n = strnlen(text, STATUS_MAX);

        if (n == STATUS_MAX)
                do
                        n--;
                while (n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80);
        for (size_t i = 0; i < n; i++)
                r.status[i] = text[i];
        for (char *p = r.status; *p; p++)
                if (*p == '\n' || *p == '\r')
                        *p = ' ';
        return tell(&r);
}

SGC_API int schedgov_checkpointed(void)
{
        return tell(&(struct report){.has = CHECKPOINTED});
}

SGC_API int schedgov_allocation_signal(int signal)
{
        return tell(&(struct report){.has = SIGNAL, .signal = signal});
}

SGC_API uint64_t schedgov_dropped(void)
{
        return atomic_load(&dropped);
}

/* --- waiting until all was seen --- */

static void nap(void)
{
        const struct timespec t = {.tv_nsec = RETRY_NSEC};

        (void)nanosleep(&t, NULL);
}

/* Tries until the deadline, a millisecond apart. */
static int send_until(const char *text, size_t n, int fd, uint64_t deadline)
{
        int r;

        while ((r = sgc_send(text, n, fd)) == -EAGAIN && now_nsec() < deadline)
                nap();
        return r;
}

/* The governor closes the pipe when it has handled what came before: sd_notify(3), BARRIER=1. */
static bool barrier(uint64_t deadline)
{
        static const char text[] = "BARRIER=1";
        struct pollfd p;
        int pipes[2], r;

        if (pipe2(pipes, O_CLOEXEC) < 0)
                return false;
        r = send_until(text, sizeof(text) - 1, pipes[1], deadline);
        (void)close(pipes[1]);
        p = (struct pollfd){.fd = pipes[0]};
        while (r == 0) {
                uint64_t now = now_nsec();
                int msec = now < deadline ? (int)((deadline - now) / 1000000) + 1 : 0;
                int n = poll(&p, 1, msec);

                if (n < 0 && errno == EINTR)
                        continue;
                r = n > 0 ? 1 : -ETIME;
        }
        (void)close(pipes[0]);
        return r == 1;
}

/* Another thread that has the lock is soon done with it. This thread itself has it, for ever, if a
 * signal handler that calls exit(3) has interrupted it: hence the deadline. */
static bool lock_until(uint64_t deadline)
{
        while (pthread_mutex_trylock(&lock) != 0) {
                if (now_nsec() >= deadline)
                        return false;
                nap();
        }
        return true;
}

/* The lock is held for no longer than a call takes: others report, and fork, meanwhile. *ret: when
 * the last report was sent. -EAGAIN: the queue is full. */
static int send_rest(uint64_t deadline, uint64_t *ret)
{
        int r;

        if (!lock_until(deadline))
                return -ETIME;
        claim();
        r = send_waiting(now_nsec());
        *ret = sent_nsec;
        (void)pthread_mutex_unlock(&lock);
        return r;
}

static bool flush_until(uint64_t deadline)
{
        uint64_t sent;
        int r;

        while ((r = send_rest(deadline, &sent)) == -EAGAIN && now_nsec() < deadline)
                nap();
        if (r < 0)
                return false;
        if (sent == 0)
                return true;
        if (!barrier(deadline) || !lock_until(deadline))
                return false;
        if (sent_nsec == sent)
                sent_nsec = 0;
        (void)pthread_mutex_unlock(&lock);
        return true;
}

SGC_API int schedgov_flush(unsigned timeout_msec)
{
        int saved = errno;
        bool seen;

        if (!sgc_has_socket())
                return 0;
        (void)pthread_once(&once, begin);
        seen = flush_until(now_nsec() + timeout_msec * 1000000ULL);
        errno = saved;
        return seen;
}

/* The governor finds the job of a process in /proc, which has nothing any more of one that has
 * gone: so exit waits until the last report was received. */
__attribute__((destructor)) static void at_exit(void)
{
        if (owner != 0 && !sgc_is_other_process(owner))
                (void)schedgov_flush(EXIT_MSEC);
}
