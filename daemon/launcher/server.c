/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "launcher/server.h"
#include "base/cleanup.h"
#include "base/datagram.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

void sg_complain(const char *what, const char *object, int error)
{
        dprintf(STDERR_FILENO, "schedgov-launch: %s%s%s%s%s%s\n", what, object ? " '" : "",
                object ? object : "", object ? "'" : "", error ? ": " : "",
                error ? strerror(error) : "");
}

void sg_server_init(struct sg_server *s)
{
        *s = (struct sg_server){.listener = -1, .signals = -1};
        for (size_t i = 0; i < SG_CONNECTIONS_MAX; i++)
                s->connections[i].fd = s->connections[i].pidfd = -1;
}

static void connection_close(struct sg_connection *c)
{
        sg_peer_deinit(&c->peer);
        c->pidfd = sg_close(c->pidfd);
        c->fd = sg_close(c->fd);
        c->answering = false;
}

/* Answers */

static void flush_answer(struct sg_connection *c)
{
        int r = sg_datagram_send(c->fd, &c->answer, sizeof(c->answer), c->pidfd);

        if (r == -EAGAIN)
                return;
        c->answering = false;
        c->pidfd = sg_close(c->pidfd);
        if (r < 0 || c->answer.id == 0)
                connection_close(c);
}

/* Takes the pidfd. */
static void answer(struct sg_connection *c, uint64_t id, int error, pid_t pid, int pidfd)
{
        c->answer = (struct sg_launch_answer){
                .magic = SG_LAUNCH_MAGIC,
                .error = error,
                .id = id,
                .pid = pid,
        };
        c->pidfd = pidfd;
        c->answering = true;
        flush_answer(c);
}

/* Requests */

static int take_gate(const struct sg_datagram *d)
{
        if (d->n_fds != 1)
                return -EINVAL;
        return d->fd < 0 ? -EMFILE : 0;
}

static void handle_request(struct sg_server *s, struct sg_connection *c, const void *data,
                           const struct sg_datagram *d)
{
        struct sg_job_key key;
        char name[SG_ATTEMPT_NAME_MAX] = "";
        int pidfd = -1, r;
        uint64_t id = 0;
        pid_t pid = 0;

        r = sg_launch_request_parse(data, d->cut ? SIZE_MAX : d->size, &id, &key);
        if (r >= 0) {
                sg_attempt_name_format(name, &key);
                r = take_gate(d);
        }
        if (r >= 0)
                r = sg_starter_start(&s->starter, &key, d->fd, &pid, &pidfd);
        if (r < 0)
                sg_complain("refused to start", *name ? name : "what is no attempt", -r);
        answer(c, id, -r, pid, pidfd);
}

static void on_readable(struct sg_server *s, struct sg_connection *c)
{
        _cleanup_close_ int gate = -1;
        struct sg_launch_request request;
        struct sg_datagram d;
        int r;

        r = sg_datagram_receive(c->fd, &request, sizeof(request), &d);
        if (r == -EAGAIN)
                return;
        if (r <= 0) {
                connection_close(c);
                return;
        }
        gate = d.fd;
        if (!sg_peer_is(&c->peer, d.sender)) {
                sg_complain("closed a connection that another process used", NULL, 0);
                connection_close(c);
                return;
        }
        handle_request(s, c, &request, &d);
}

/* Connections */

static struct sg_connection *find_free(struct sg_server *s)
{
        for (size_t i = 0; i < SG_CONNECTIONS_MAX; i++)
                if (s->connections[i].fd < 0)
                        return &s->connections[i];
        return NULL;
}

static void on_connection(struct sg_server *s)
{
        _cleanup_close_ int fd = -1;
        struct sg_connection *c = find_free(s);
        int r;

        fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
                if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
                        sg_complain("cannot accept a connection", NULL, errno);
                return;
        }
        if (!c) {
                sg_complain("refused a connection: there are too many", NULL, 0);
                return;
        }
        r = sg_peer_init(&c->peer, fd, s->peer_unit);
        if (r < 0) {
                sg_complain("refused a connection that isn't from", s->peer_unit, -r);
                return;
        }
        c->fd = TAKE_FD(fd);
}

static void on_child(struct sg_server *s)
{
        struct signalfd_siginfo si;

        while (read(s->signals, &si, sizeof(si)) > 0)
                continue;
        while (waitpid(-1, NULL, WNOHANG) > 0)
                continue;
}

int sg_server_run(struct sg_server *s)
{
        struct pollfd fds[2 + SG_CONNECTIONS_MAX];

        for (;;) {
                fds[0] = (struct pollfd){.fd = s->listener, .events = POLLIN};
                fds[1] = (struct pollfd){.fd = s->signals, .events = POLLIN};
                for (size_t i = 0; i < SG_CONNECTIONS_MAX; i++)
                        fds[2 + i] = (struct pollfd){
                                .fd = s->connections[i].fd,
                                .events = s->connections[i].answering ? POLLOUT : POLLIN,
                        };
                if (poll(fds, SG_ELEMENTSOF(fds), -1) < 0) {
                        if (errno == EINTR)
                                continue;
                        return -errno;
                }
                for (size_t i = 0; i < SG_CONNECTIONS_MAX; i++) {
                        struct sg_connection *c = &s->connections[i];

                        if (!fds[2 + i].revents)
                                continue;
                        if (c->answering)
                                flush_answer(c);
                        else
                                on_readable(s, c);
                }
                if (fds[1].revents)
                        on_child(s);
                if (fds[0].revents)
                        on_connection(s);
        }
}
