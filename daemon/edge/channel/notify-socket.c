/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/channel/notify-socket.h"
#include "base/cleanup.h"
#include "base/datagram.h"
#include "edge/channel/notify-internal.h"
#include "edge/common/log.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define DATAGRAM_MAX 4096 /* as systemd has it */

/*
 * At most 64 datagrams in a row, then others have their turn; at most 10 such rounds in 50 ms. A
 * flood fills the kernel's queue at once, so a round of it is about max_dgram_qlen + 1 datagrams:
 * 11 where the kernel's default holds, which costs some 30 µs a round, under one percent of a CPU;
 * at systemd's 512 a round is 64, and the flood costs two or three percent.
 */
#define ROUND_MAX 64
#define ROUNDS 10
#define ROUNDS_USEC 50000
#define PRIORITY (SD_EVENT_PRIORITY_NORMAL + 10)

#define QUIET_USEC (60 * 1000000ULL) /* between two complaints of one kind */

enum complaint { FOREIGN, MALFORMED, OVERSIZED, TOO_MANY_SIGNALS, _COMPLAINT_MAX };

struct sg_notify_socket {
        struct sg_notify_socket_options options;
        char *path, *v1_controller;
        sd_event *event;
        sd_event_source *source;
        int fd;
        struct sg_notify_senders senders;
        struct sg_notify_wishes wishes;
        uint64_t quiet_until[_COMPLAINT_MAX];
};

/* Once a minute for each kind: what comes is up to the jobs, what is logged isn't. */
static void complain(struct sg_notify_socket *n, enum complaint c, const struct sg_datagram *d,
                     uint64_t now)
{
        static const char *const texts[] = {
                [FOREIGN] = "isn't of one of its user's jobs",
                [MALFORMED] = "has values that can't be",
                [OVERSIZED] = "is too large",
                [TOO_MANY_SIGNALS] = "asks for a signal, as too many others did",
        };

        if (now < n->quiet_until[c])
                return;
        n->quiet_until[c] = now + QUIET_USEC;
        sg_log(c == FOREIGN ? LOG_DEBUG : LOG_NOTICE,
               "notification of process %d (user %u) %s, ignoring it and others like it",
               (int)d->sender, (unsigned)d->uid, texts[c]);
}

/* KILL and STOP can't be what a program wants to be told by. */
static bool is_signal_for_that(int signal)
{
        return signal >= 0 && signal <= SIGRTMAX && signal != SIGKILL && signal != SIGSTOP;
}

static int open_pidfd(pid_t pid)
{
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);

        return fd < 0 ? -errno : fd;
}

/* Who has the number now is looked up again with the pidfd in hand: it may be another process than
 * the one that is remembered. The keeper is never signalled: it is ours. */
static int set_signal(struct sg_notify_socket *n, const struct sg_datagram *d, int signal)
{
        struct sg_job_key key;
        _cleanup_close_ int pidfd = open_pidfd(d->sender);

        if (pidfd < 0)
                return 0; /* gone, and its wish with it */
        if (!is_signal_for_that(signal) ||
            sg_notify_senders_ask(&n->senders, d->sender, d->uid, &key) != SG_NOTIFY_JOB)
                return 0;
        return sg_notify_wishes_set(&n->wishes, &key, d->sender, TAKE_FD(pidfd), signal);
}

static void handle(struct sg_notify_socket *n, const struct sg_datagram *d, const char *text,
                   uint64_t now)
{
        struct sg_job_key key;
        struct sg_notify message;

        if (d->cut) {
                complain(n, OVERSIZED, d, now);
                return;
        }
        if (sg_notify_senders_find(&n->senders, d->sender, d->uid, now, &key) == SG_NOTIFY_NOBODY) {
                complain(n, FOREIGN, d, now);
                return;
        }
        sg_notify_parse(text, d->size, &message);
        if (message.n_bad > 0)
                complain(n, MALFORMED, d, now);
        if (message.allocation_signal >= 0 && set_signal(n, d, message.allocation_signal) < 0)
                complain(n, TOO_MANY_SIGNALS, d, now);
        n->options.on_message(&key, &message, n->options.userdata);
}

/* BARRIER=1 wants its descriptor to be closed when all that came before it has been handled, which
 * it has when the kernel hands it out, and lets it go; others aren't wanted. */
static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
        struct sg_notify_socket *n = userdata;
        uint64_t now = 0;

        (void)source;
        (void)events;
        (void)sd_event_now(n->event, CLOCK_MONOTONIC, &now);
        for (unsigned i = 0; i < ROUND_MAX; i++) {
                char text[DATAGRAM_MAX];
                struct sg_datagram d;
                int r = sg_datagram_receive_no_fds(fd, text, sizeof(text), &d);

                if (r < 0) /* -EAGAIN, or what a sender can't cause */
                        break;
                handle(n, &d, text, now);
        }
        return 0;
}

static int bind_to(int fd, const char *path)
{
        struct sockaddr_un sa = {.sun_family = AF_UNIX};

        if (strlen(path) >= sizeof(sa.sun_path))
                return -ENAMETOOLONG;
        strcpy(sa.sun_path, path);
        if (unlink(path) < 0 && errno != ENOENT)
                return -errno;
        if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
                return -errno;
        return chmod(path, 0666) < 0 ? -errno : 0;
}

static int open_socket(const char *path)
{
        const int yes = 1;
        int r;

        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        /* Before it can be found: what is sent earlier tells no sender. */
        if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0)
                return -errno;
        r = bind_to(fd, path);
        return r < 0 ? r : TAKE_FD(fd);
}

static int watch(struct sg_notify_socket *n)
{
        int r = sd_event_add_io(n->event, &n->source, n->fd, EPOLLIN, on_readable, n);

        if (r < 0)
                return r;
        r = sd_event_source_set_priority(n->source, PRIORITY);
        if (r < 0)
                return r;
        return sd_event_source_set_ratelimit(n->source, ROUNDS_USEC, ROUNDS);
}

static int copy_options(struct sg_notify_socket *n, const struct sg_notify_socket_options *o)
{
        n->options = *o;
        n->senders.options = &n->options;
        n->path = strdup(o->path);
        n->v1_controller = o->v1_controller ? strdup(o->v1_controller) : NULL;
        if (!n->path || (o->v1_controller && !n->v1_controller))
                return -ENOMEM;
        n->options.path = n->path;
        n->options.v1_controller = n->v1_controller;
        return 0;
}

struct sg_notify_socket *sg_notify_socket_free(struct sg_notify_socket *n)
{
        if (!n)
                return NULL;
        sd_event_source_disable_unref(n->source);
        sd_event_unref(n->event);
        if (n->fd >= 0) {
                (void)unlink(n->path);
                (void)sg_close(n->fd);
        }
        sg_notify_wishes_deinit(&n->wishes);
        free(n->path);
        free(n->v1_controller);
        free(n);
        return NULL;
}

SG_DEFINE_CLEANUP(struct sg_notify_socket *, sg_notify_socket_free)

int sg_notify_socket_new(struct sg_notify_socket **ret, sd_event *event,
                         const struct sg_notify_socket_options *o)
{
        _cleanup_(sg_notify_socket_freep) struct sg_notify_socket *n = calloc(1, sizeof(*n));
        int r;

        if (!n)
                return -ENOMEM;
        n->fd = -1;
        n->event = sd_event_ref(event);
        r = copy_options(n, o);
        if (r < 0)
                return r;
        n->fd = open_socket(n->path);
        if (n->fd < 0)
                return n->fd;
        r = watch(n);
        if (r < 0)
                return r;
        *ret = TAKE_PTR(n);
        return 0;
}

unsigned sg_notify_socket_signal(struct sg_notify_socket *n, const struct sg_job_key *key)
{
        return sg_notify_wishes_fulfil(&n->wishes, key);
}

void sg_notify_socket_forget(struct sg_notify_socket *n, const struct sg_job_key *key)
{
        sg_notify_senders_forget(&n->senders, key);
        sg_notify_wishes_forget(&n->wishes, key);
}
