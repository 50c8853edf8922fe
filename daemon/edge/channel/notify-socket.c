/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/channel/notify-socket.h"
#include "base/cleanup.h"
#include "base/datagram.h"
#include "base/file.h"
#include "base/list.h"
#include "core/account/complaints.h"
#include "edge/channel/notify-internal.h"
#include "edge/common/log.h"
#include "edge/common/poller.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#define DATAGRAM_MAX 4096 /* as systemd has it */

/*
 * At most 64 datagrams in a row, then others have their turn; at most 10 such rounds in 50 ms. A
 * flood fills the kernel's queue at once, so a round of it is about max_dgram_qlen + 1 datagrams:
 * 11 where the kernel's default holds, which costs some 30 µs a round, under one percent of a CPU;
 * at systemd's 512 a round is 64, and the flood costs two or three percent. With that they have
 * their turn as everybody has: behind all else, who keeps the bus busy would have no job heard.
 */
#define ROUND_MAX 64
#define ROUNDS 10
#define ROUNDS_USEC 50000
/* Jobs' own sockets have their turns, each for a few: that is as much work in all. */
#define TURN_MAX 4
#define TURNS 40

enum complaint { FOREIGN, MALFORMED, OVERSIZED, TOO_MANY_SIGNALS };

struct door {
        struct sg_list link;
        struct sg_notify_socket *socket;
        struct sg_kept_key key;
        int fd;
};

struct sg_notify_socket {
        struct sg_notify_socket_options options;
        char *path, *v1_controller;
        sd_event *event;
        sd_event_source *source;
        int fd;
        struct sg_list doors; /* of jobs that have one of their own */
        struct sg_poller *poller;
        struct sg_notify_senders senders;
        struct sg_notify_wishes wishes;
        struct sg_complaints complaints;
        bool unlisted; /* that there are no access control lists was said */
};

/* What comes is up to the jobs, what is logged isn't. */
static void complain(struct sg_notify_socket *n, enum complaint c, const struct sg_datagram *d,
                     uint64_t now)
{
        static const char *const texts[] = {
                [FOREIGN] = "isn't of one of its user's jobs",
                [MALFORMED] = "has values that can't be",
                [OVERSIZED] = "is too large",
                [TOO_MANY_SIGNALS] = "asks for a signal, as too many others did",
        };

        if (sg_complaints_say(&n->complaints, c, d->uid, now, NULL))
                sg_log(c == FOREIGN ? LOG_DEBUG : LOG_NOTICE,
                       "notification of process %d (user %u) %s, ignoring it and others like it",
                       (int)d->sender, (unsigned)d->uid, texts[c]);
}

/* KILL and STOP can't tell a program anything. */
static bool is_signal_for_that(int signal)
{
        return signal >= 0 && signal <= SIGRTMAX && signal != SIGKILL && signal != SIGSTOP;
}

static int open_pidfd(pid_t pid)
{
        int fd = (int)syscall(SYS_pidfd_open, pid, 0);

        return fd < 0 ? -errno : fd;
}

/* Looks the sender up again with a pidfd in hand: its number may be another process's by now than
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

/* `only`: the job whose own socket it came by; NULL: it came by the one for all. */
static bool tell_sender(struct sg_notify_socket *n, const struct sg_datagram *d,
                        const struct sg_job_key *only, uint64_t now, struct sg_job_key *ret)
{
        return sg_notify_senders_find(&n->senders, d->sender, d->uid, now, ret) !=
                       SG_NOTIFY_NOBODY &&
               (!only || sg_notify_same_job(only, ret));
}

static void handle(struct sg_notify_socket *n, const struct sg_datagram *d, const char *text,
                   const struct sg_job_key *only, uint64_t now)
{
        struct sg_job_key key;
        struct sg_notify message;

        if (d->cut) {
                complain(n, OVERSIZED, d, now);
                return;
        }
        if (!tell_sender(n, d, only, now, &key)) {
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
static void receive(struct sg_notify_socket *n, int fd, const struct sg_job_key *only, unsigned max)
{
        uint64_t now = 0;

        (void)sd_event_now(n->event, CLOCK_MONOTONIC, &now);
        for (unsigned i = 0; i < max; i++) {
                char text[DATAGRAM_MAX];
                struct sg_datagram d;
                int r = sg_datagram_receive_no_fds(fd, text, sizeof(text), &d);

                if (r < 0) /* -EAGAIN, or what a sender can't cause */
                        break;
                handle(n, &d, text, only, now);
        }
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
        (void)source;
        (void)events;
        receive(userdata, fd, NULL, ROUND_MAX);
        return 0;
}

static void on_door(void *userdata)
{
        const struct door *d = userdata;
        const struct sg_job_key key = sg_kept_key_get(&d->key);

        receive(d->socket, d->fd, &key, TURN_MAX);
}

static int open_socket(const char *path)
{
        const int yes = 1;
        int r;

        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        /* To be set before the socket can be found: a datagram that is sent earlier doesn't tell
         * its sender. */
        if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) < 0)
                return -errno;
        r = sg_socket_bind(fd, path);
        return r < 0 ? r : TAKE_FD(fd);
}

/* Until one of these is called, the umask sees to it that nobody else can. */
static int let_all_reach(const char *path)
{
        return chmod(path, 0666) < 0 ? -errno : 0;
}

static int let_reach(struct sg_notify_socket *n, const char *path, uid_t uid)
{
        int r;

        if (uid == geteuid())
                return chmod(path, 0600) < 0 ? -errno : 0;
        r = sg_acl_admit_path(path, uid, 6, 6);
        if (r >= 0)
                return r;
        if (!n->unlisted)
                sg_log(LOG_WARNING,
                       "all users can reach jobs' notify sockets, as there are no access control "
                       "lists: %s: %s",
                       path, strerror(-r));
        n->unlisted = true;
        return let_all_reach(path);
}

static int watch(struct sg_notify_socket *n)
{
        int r = sd_event_add_io(n->event, &n->source, n->fd, EPOLLIN, on_readable, n);

        return r < 0 ? r : sd_event_source_set_ratelimit(n->source, ROUNDS_USEC, ROUNDS);
}

/* Sockets of jobs */

static struct door *find_door(const struct sg_notify_socket *n, const struct sg_job_key *key)
{
        struct door *d;

        sg_list_foreach (d, &n->doors, link)
                if (sg_kept_key_is(&d->key, key))
                        return d;
        return NULL;
}

static struct door *door_free(struct door *d)
{
        if (!d)
                return NULL;
        sg_poller_remove(d->socket->poller, d->fd);
        sg_list_remove(&d->link);
        (void)sg_close(d->fd);
        sg_kept_key_deinit(&d->key);
        free(d);
        return NULL;
}

SG_DEFINE_CLEANUP(struct door *, door_free)

int sg_notify_socket_admit(struct sg_notify_socket *n, const struct sg_job_key *key,
                           const char *path, uid_t uid)
{
        _cleanup_(door_freep) struct door *d = NULL;
        int r;

        if (find_door(n, key))
                return 0;
        d = calloc(1, sizeof(*d));
        if (!d)
                return -ENOMEM;
        sg_list_init(&d->link);
        d->socket = n;
        d->fd = open_socket(path);
        if (d->fd < 0)
                return d->fd;
        r = sg_kept_key_init(&d->key, key);
        if (r >= 0)
                r = let_reach(n, path, uid);
        if (r >= 0)
                r = sg_poller_add(n->poller, d->fd, d);
        if (r < 0)
                return r;
        sg_list_append(&n->doors, &d->link);
        (void)TAKE_PTR(d);
        return 0;
}

bool sg_notify_socket_has(const struct sg_notify_socket *n, const struct sg_job_key *key)
{
        return find_door(n, key) != NULL;
}

/* The object */

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
        while (!sg_list_empty(&n->doors))
                door_free(sg_list_entry(n->doors.next, struct door, link));
        sg_poller_free(n->poller);
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
        sg_list_init(&n->doors);
        n->event = sd_event_ref(event);
        r = copy_options(n, o);
        if (r < 0)
                return r;
        n->fd = open_socket(n->path);
        if (n->fd < 0)
                return n->fd;
        r = let_all_reach(n->path);
        if (r >= 0)
                r = watch(n);
        if (r >= 0)
                r = sg_poller_new(&n->poller, event, on_door);
        if (r >= 0)
                r = sg_poller_restrain(n->poller, ROUNDS_USEC, TURNS);
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
        door_free(find_door(n, key));
        sg_notify_senders_forget(&n->senders, key);
        sg_notify_wishes_forget(&n->wishes, key);
}
