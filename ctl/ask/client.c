/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See client.h. The socket is connected here rather than by sd-bus: an address would have to be
 * escaped and could not be longer than sun_path, and the error would not say what failed.
 */

#include "ctl/ask/client.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "ctl/show/document.h"
#include "proto/paths.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

/* connect() waits while the governor's backlog is full; not for ever, if it hangs. */
#define CONNECT_SEC 10
/* How often a restarting governor is tried between the events on its directory: a socket appears
 * there (bind) before it can be connected to (listen). */
#define RETRY_MSEC 20

static int fill_address(struct sockaddr_un *sa, const char *path, int *ret_dir)
{
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *dir = NULL;
        int n;

        if (strlen(path) < sizeof(sa->sun_path)) {
                (void)snprintf(sa->sun_path, sizeof(sa->sun_path), "%s", path);
                return 0;
        }
        /* A path that is too long for an address is reached through a descriptor of its
         * directory. */
        dir = slash ? strndup(path, (size_t)(slash - path) + 1) : NULL;
        if (!dir)
                return slash ? -ENOMEM : -ENAMETOOLONG;
        *ret_dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (*ret_dir < 0)
                return -errno;
        n = snprintf(sa->sun_path, sizeof(sa->sun_path), "/proc/self/fd/%d/%s", *ret_dir,
                     slash + 1);
        return n < (int)sizeof(sa->sun_path) ? 0 : -ENAMETOOLONG;
}

static int connect_socket(const char *path)
{
        const struct timeval timeout = {.tv_sec = CONNECT_SEC};
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        _cleanup_close_ int fd = -1, dir = -1;
        int r;

        r = fill_address(&sa, path, &dir);
        if (r < 0)
                return r;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (fd < 0)
                return -errno;
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
        if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
                return -errno;
        return TAKE_FD(fd);
}

static int start_bus(int fd, sd_bus **ret)
{
        sd_bus *bus;
        int r;

        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_fd(bus, fd, fd);
        if (r < 0) {
                (void)sg_close(fd);
                return r;
        }
        r = sd_bus_negotiate_fds(bus, true);
        if (r >= 0)
                r = sd_bus_start(bus);
        if (r < 0) {
                sd_bus_close_unref(bus);
                return r;
        }
        *ret = bus;
        return 0;
}

static int try_open(struct sg_client *c)
{
        int fd = connect_socket(c->path);

        return fd < 0 ? fd : start_bus(fd, &c->bus);
}

static bool is_lost(int r)
{
        return r == -ECONNRESET || r == -ENOTCONN || r == -EPIPE || r == -ESHUTDOWN ||
               r == -ECONNABORTED;
}

static int lost(struct sg_error *e)
{
        (void)sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, "check that it runs, and try again",
                           "lost the connection to schedgovd");
        return -ECONNRESET;
}

/* No governor was named, and none is there: says which there could be, and how to get one. */
static int nobody_there(const char *own, struct sg_error *e)
{
        bool systemd = access("/run/systemd/system", F_OK) == 0;

        return sg_error_set(e, SG_EXIT_OWN_FAILURE, SG_SYSTEM_SOCKET,
                            systemd ? "as root: systemctl start schedgovd; for yourself: systemctl "
                                      "--user start schedgovd; or give --socket"
                                    : "schedgovd --standalone --state-dir DIR starts one, "
                                      "SCHEDGOV_SOCKET=DIR/bus or --socket DIR/bus finds it",
                            "no schedgovd runs here: there is no %s%s%s", SG_SYSTEM_SOCKET,
                            own ? " and no " : "", own ?: "");
}

static int unreachable(const struct sg_client *c, int r, struct sg_error *e)
{
        if (c->unnamed && r == -ENOENT)
                return nobody_there(c->own, e);
        return sg_error_set(e, r == -EAGAIN ? SG_EXIT_TRY_LATER : SG_EXIT_OWN_FAILURE, c->path,
                            r == -EACCES   ? "ask for access to its directory, or give --socket"
                            : r == -EAGAIN ? "it is busy; try again later"
                            : c->unnamed   ? "see systemctl status schedgovd"
                                           : "start it, or give --socket or SCHEDGOV_SOCKET",
                            "cannot reach schedgovd at %s: %s", c->path, strerror(-r));
}

int sg_client_open(struct sg_client *c, const char *path, struct sg_error *e)
{
        int r;

        if (!path)
                path = getenv(SG_SOCKET_ENV);
        c->unnamed = !path || !*path;
        if (c->unnamed) {
                (void)sg_user_socket(&c->own);
                path = access(SG_SYSTEM_SOCKET, F_OK) < 0 && c->own && access(c->own, F_OK) == 0
                               ? c->own
                               : SG_SYSTEM_SOCKET;
        }
        c->path = path;
        r = try_open(c);
        if (is_lost(r)) /* somebody listens there, and went away just now */
                return lost(e);
        return r < 0 ? unreachable(c, r, e) : 0;
}

/* Watches the directory of the socket; −1 (which poll ignores) if that isn't possible. */
static int watch_directory(const char *path)
{
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
        int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);

        if (fd >= 0 && dir)
                (void)inotify_add_watch(fd, dir, IN_CREATE | IN_MOVED_TO);
        return fd;
}

int sg_client_reopen(struct sg_client *c, uint64_t patience_usec, struct sg_error *e)
{
        uint64_t deadline = sg_now_monotonic_usec() + patience_usec;
        _cleanup_close_ int watch = -1;
        int r;

        c->bus = sd_bus_close_unref(c->bus);
        watch = watch_directory(c->path);
        for (;;) {
                struct pollfd p = {.fd = watch, .events = POLLIN};
                char events[4096];

                r = try_open(c);
                if (r >= 0) {
                        sg_error_clear(e);
                        return 0;
                }
                if (sg_now_monotonic_usec() >= deadline)
                        break;
                if (poll(&p, 1, RETRY_MSEC) > 0)
                        (void)!read(watch, events, sizeof(events));
        }
        sg_error_clear(e);
        return unreachable(c, r, e);
}

void sg_client_close(struct sg_client *c)
{
        c->bus = sd_bus_close_unref(c->bus);
        free(c->own);
        c->own = NULL;
}

static int cannot_send(struct sg_error *e, int r)
{
        return is_lost(r) ? lost(e) : sg_error_errno(e, r, "cannot make the request");
}

int sg_client_manager(struct sg_client *c, const char *member, sd_bus_message **ret,
                      struct sg_error *e)
{
        int r = sd_bus_message_new_method_call(c->bus, ret, NULL, SG_BUS_PATH, SG_BUS_MANAGER,
                                               member);

        return r < 0 ? cannot_send(e, r) : 0;
}

int sg_client_job(struct sg_client *c, const char *id, const char *member, sd_bus_message **ret,
                  struct sg_error *e)
{
        _cleanup_free_ char *path = NULL;
        int r;

        r = sd_bus_path_encode(SG_BUS_JOB_PREFIX, id, &path);
        if (r >= 0)
                r = sd_bus_message_new_method_call(c->bus, ret, NULL, path, SG_BUS_JOB, member);
        return r < 0 ? cannot_send(e, r) : 0;
}

static int no_such_job(struct sg_error *e, const char *object)
{
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, object,
                            "it has ended or never existed: see schedctl history", "no live job %s",
                            object ? object : "");
}

int sg_error_from_reply(struct sg_error *e, const sd_bus_error *error, const char *object)
{
        const char *message = error->message && *error->message ? error->message : error->name;
        const char *newline = strchr(message, '\n');
        int status = SG_EXIT_OWN_FAILURE;

        /* Finished jobs are no bus objects, so sd-bus itself answers for them. */
        if (sd_bus_error_has_name(error, SD_BUS_ERROR_UNKNOWN_OBJECT))
                return no_such_job(e, object);
        if (sd_bus_error_has_name(error, SG_ERROR_BUSY) ||
            sd_bus_error_has_name(error, SD_BUS_ERROR_LIMITS_EXCEEDED))
                status = SG_EXIT_TRY_LATER;
        return sg_error_set(e, status, object, newline ? newline + 1 : NULL, "%.*s",
                            (int)(newline ? newline - message : (ptrdiff_t)strlen(message)),
                            message);
}

int sg_client_failure(struct sg_client *c, int r, const sd_bus_error *error, const char *object,
                      struct sg_error *e)
{
        if (is_lost(r) && sd_bus_is_open(c->bus) <= 0)
                return lost(e);
        if (r == -ETIMEDOUT)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, object, "check whether it hangs",
                                    "schedgovd does not answer");
        if (sd_bus_error_is_set(error))
                return sg_error_from_reply(e, error, object);
        return sg_error_errno(e, r, "cannot call schedgovd");
}

int sg_client_call(struct sg_client *c, sd_bus_message *m, const char *object, sd_bus_message **ret,
                   struct sg_error *e)
{
        sd_bus_error error = SD_BUS_ERROR_NULL;
        int r;

        r = sd_bus_call(c->bus, m, SG_CALL_USEC, &error, ret);
        if (r >= 0)
                return 0;
        r = sg_client_failure(c, r, &error, object, e);
        sd_bus_error_free(&error);
        return r;
}

int sg_client_get_string(struct sg_client *c, const char *member, const char *argument, char **ret,
                         struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        const char *s;
        int r;

        r = sg_client_manager(c, member, &m, e);
        if (r < 0)
                return r;
        if (argument) {
                r = sd_bus_message_append(m, "s", argument);
                if (r < 0)
                        return cannot_send(e, r);
        }
        r = sg_client_call(c, m, argument, &reply, e);
        if (r < 0)
                return r;
        r = sd_bus_message_read(reply, "s", &s);
        if (r < 0)
                return sg_error_garbled(e, r);
        *ret = strdup(s);
        return *ret ? 0 : -ENOMEM;
}

int sg_client_check_job(struct sg_client *c, const char *id, struct sg_error *e)
{
        _cleanup_free_ char *document = NULL;

        return sg_client_get_string(c, "DescribeJob", id, &document, e);
}

int sg_client_get_strv(struct sg_client *c, const char *member, char ***ret, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        int r;

        r = sg_client_manager(c, member, &m, e);
        if (r >= 0)
                r = sg_client_call(c, m, NULL, &reply, e);
        if (r < 0)
                return r;
        r = sd_bus_message_read_strv(reply, ret);
        return r < 0 ? sg_error_garbled(e, r) : 0;
}

int sg_client_process(struct sg_client *c, uint64_t timeout_usec, struct sg_error *e)
{
        int r = sd_bus_process(c->bus, NULL);

        if (r == 0)
                r = sd_bus_wait(c->bus, timeout_usec);
        if (r >= 0 && sd_bus_is_open(c->bus) > 0)
                return 0;
        return r >= 0 || is_lost(r) ? lost(e) : r == -EINTR ? 0 : cannot_send(e, r);
}

int sg_client_get_job(struct sg_client *c, const char *id, char **ret_text, json_t **ret,
                      struct sg_error *e)
{
        _cleanup_free_ char *text = NULL;
        int r;

        r = sg_client_get_string(c, "DescribeJob", id, &text, e);
        if (r >= 0)
                r = sg_document_parse(text, ret, e);
        if (r >= 0 && ret_text)
                *ret_text = TAKE_PTR(text);
        return r;
}
