/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * logs: prints what is there; with -f goes on until the job has ended and all of it is printed.
 *
 * The file is watched through its descriptor, so rotation (a rename) is seen as such. Where the
 * log's owner doesn't let us watch it, it is looked at a few times a second.
 *
 * What a job wrote for its own terminal isn't obeyed by that of whoever looks, see visible.h.
 */

#include "base/cleanup.h"
#include "base/time-util.h"
#include "base/utf8.h"
#include "ctl/ask/logfile.h"
#include "ctl/line/ids.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/show/visible.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>

#define UNWATCHED_MSEC 200
/* After a rename the new file follows within this many looks, or it was no rotation. */
#define ROTATION_LOOKS 20
#define ROTATION_MSEC 50
#define LINE_MAX_BYTES 65536

struct printer {
        const struct sg_invocation *inv;
        const char *id;
        char *line; /* with --json: what has come of a line */
        size_t size;
        bool terminal; /* … and --raw wasn't given */
        struct sg_visible visible;
};

struct follower {
        struct sg_client *client;
        struct sg_logfile *log;
        struct printer *printer;
        sd_bus_slot *slot;
        int inotify, watch;
        unsigned looks; /* still to be made for a rotation */
        bool ended, begun;
        bool placed; /* at the first line to print */
};

static int print_line(struct printer *p, const char *s, size_t n)
{
        char text[LINE_MAX_BYTES + 1], escaped[LINE_MAX_BYTES + 1];

        memcpy(text, s, n);
        text[n] = '\0';
        for (size_t i = 0; i < n; i++) /* a string ends there */
                if (text[i] == '\0')
                        text[i] = ' ';
        return sg_document_print_new(json_pack(
                "{s:s,s:s,s:s}", "schema", "schedgov.log/1", "id", p->id, "line",
                sg_utf8_is_valid(text, n) ? text : sg_utf8_escape(text, escaped, sizeof(escaped))));
}

static void put(const char *s, size_t n, void *userdata)
{
        (void)userdata;
        (void)fwrite(s, 1, n, stdout);
}

static int flush_line(struct printer *p)
{
        size_t n = p->size;

        if (p->terminal)
                sg_visible_end(&p->visible);
        p->size = 0;
        return n > 0 ? print_line(p, p->line, n) : 0;
}

static int print_json_lines(struct printer *p, const char *buf, size_t n)
{
        int r = 0;

        if (!p->line)
                p->line = malloc(LINE_MAX_BYTES);
        if (!p->line)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < n; i++) {
                if (buf[i] == '\n') {
                        r = print_line(p, p->line, p->size);
                        p->size = 0;
                        continue;
                }
                p->line[p->size++] = buf[i];
                if (p->size == LINE_MAX_BYTES)
                        r = flush_line(p);
        }
        return r;
}

/* Prints up to the present end. */
static int print_rest(struct printer *p, struct sg_logfile *l, struct sg_error *e)
{
        char buf[65536];
        ssize_t n;

        while ((n = sg_logfile_read(l, buf, sizeof(buf))) > 0) {
                int r = 0;

                if (p->inv->json)
                        r = print_json_lines(p, buf, (size_t)n);
                else if (p->terminal)
                        sg_visible_write(&p->visible, buf, (size_t)n);
                else
                        put(buf, (size_t)n, NULL);
                if (r < 0)
                        return r;
        }
        if (n < 0)
                return sg_error_errno(e, (int)n, "cannot read the log");
        if (p->terminal && p->visible.live)
                sg_visible_show(&p->visible);
        return sg_output_finish(e);
}

static int on_ended(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct follower *f = userdata;

        (void)error;
        /* That is sd-bus itself, when the governor is gone. */
        if (!sd_bus_message_is_method_error(m, SD_BUS_ERROR_NO_REPLY))
                f->ended = true;
        return 1;
}

static int on_event(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct follower *f = userdata;
        const char *id;

        (void)error;
        if (sd_bus_message_is_signal(m, SG_BUS_MANAGER, "JobEvent") > 0 &&
            sd_bus_message_skip(m, "tt") > 0 && sd_bus_message_read(m, "s", &id) > 0 &&
            sg_id_matches(f->log->id, id))
                f->begun = true;
        return 0;
}

static int ask_for_end(struct follower *f, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL;
        int r;

        f->slot = sd_bus_slot_unref(f->slot);
        r = sg_client_manager(f->client, "WaitJob", &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "s", f->log->id);
        if (r >= 0)
                r = sd_bus_call_async(f->client->bus, &f->slot, m, on_ended, f, UINT64_MAX);
        return r < 0 ? sg_client_failure(f->client, r, NULL, f->log->id, e) : 0;
}

/* A job that has started opens its log some time later, where we cannot see it. */
static int wait_for_event(struct follower *f, struct sg_error *e)
{
        uint64_t until = f->log->started
                                 ? sg_now_monotonic_usec() + UNWATCHED_MSEC * SG_USEC_PER_MSEC
                                 : UINT64_MAX;
        int r = 0;

        while (r >= 0 && !f->begun && !f->ended) {
                uint64_t now = sg_now_monotonic_usec();

                if (now >= until)
                        break;
                r = sg_client_process(f->client, until == UINT64_MAX ? until : until - now, e);
        }
        return r;
}

static int subscribe(struct follower *f, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        int r;

        r = sd_bus_add_filter(f->client->bus, NULL, on_event, f);
        if (r < 0)
                return sg_error_errno(e, r, "cannot listen to schedgovd");
        r = sg_client_manager(f->client, "Subscribe", &m, e);
        return r < 0 ? r : sg_client_call(f->client, m, NULL, &reply, e);
}

/* The log appears when the job starts, or first writes. */
static int wait_for_begin(struct follower *f, struct sg_error *e)
{
        int r = subscribe(f, e);

        while (r >= 0) {
                f->begun = false;
                r = sg_logfile_open(f->log, f->client, e);
                if (r < 0 || f->log->fd >= 0 || f->ended)
                        break;
                r = wait_for_event(f, e);
        }
        return r;
}

static void watch(struct follower *f)
{
        char path[32];

        if (f->watch >= 0)
                (void)inotify_rm_watch(f->inotify, f->watch);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", f->log->fd);
        f->watch =
                f->inotify < 0
                        ? -1
                        : inotify_add_watch(f->inotify, path,
                                            IN_MODIFY | IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB);
}

static void read_watch(struct follower *f)
{
        char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
        ssize_t n = read(f->inotify, buf, sizeof(buf));

        for (ssize_t at = 0; at < n;) {
                const struct inotify_event *event = (const void *)(buf + at);

                if ((event->mask & (IN_MOVE_SELF | IN_DELETE_SELF | IN_ATTRIB)) &&
                    event->wd == f->watch)
                        f->looks = ROTATION_LOOKS;
                at += (ssize_t)(sizeof(*event) + event->len);
        }
}

/* Waits for the file, the governor, or the time to look again. */
static int wait_for_more(struct follower *f, struct sg_error *e)
{
        uint64_t until;
        int timeout = f->looks > 0 ? ROTATION_MSEC : f->watch < 0 ? UNWATCHED_MSEC : -1, r;
        struct pollfd fds[2] = {
                {.fd = sd_bus_get_fd(f->client->bus), .events = POLLIN},
                {.fd = f->inotify, .events = POLLIN},
        };

        while ((r = sd_bus_process(f->client->bus, NULL)) > 0)
                ;
        if (f->ended)
                return 0;
        if (r < 0 || sd_bus_is_open(f->client->bus) <= 0)
                return sg_client_failure(f->client, r < 0 ? r : -ECONNRESET, NULL, NULL, e);
        fds[0].events = (short)sd_bus_get_events(f->client->bus);
        if (sd_bus_get_timeout(f->client->bus, &until) >= 0 && until != UINT64_MAX) {
                uint64_t now = sg_now_monotonic_usec();
                int left = until > now ? (int)((until - now) / 1000 + 1) : 0;

                timeout = timeout < 0 || left < timeout ? left : timeout;
        }
        if (poll(fds, 2, timeout) < 0 && errno != EINTR)
                return sg_error_errno(e, -errno, "cannot wait");
        if (fds[1].revents)
                read_watch(f);
        return 0;
}

/* Goes over to the next file if there is one; 1 then. */
static int look_for_rotation(struct follower *f, struct sg_error *e)
{
        int r;

        if (f->looks > 0)
                f->looks--;
        r = sg_logfile_reopen(f->log, f->client, e);
        if (r > 0) {
                f->looks = 0;
                watch(f);
        }
        return r;
}

static int print_until_end(struct follower *f, struct sg_error *e)
{
        watch(f);
        for (;;) {
                bool last = f->ended; /* before reading: nothing can come after this */
                int r = print_rest(f->printer, f->log, e);

                if (r >= 0 && (last || f->looks > 0 || f->watch < 0)) {
                        r = look_for_rotation(f, e);
                        if (r > 0)
                                continue;
                }
                if (r < 0 || last)
                        return r;
                r = wait_for_more(f, e);
                if (r < 0)
                        return r;
        }
}

static int skip_to_lines(const struct sg_invocation *inv, struct sg_logfile *l, struct sg_error *e)
{
        int r = inv->lines != UINT64_MAX ? sg_logfile_seek_lines(l, inv->lines) : 0;

        return r < 0 ? sg_error_errno(e, r, "cannot read the log") : 0;
}

/* Goes on where it was when the connection was lost, if it was. */
static int follow_connected(struct follower *f, struct sg_error *e)
{
        int r = 0;

        if (f->log->fd < 0)
                r = sg_logfile_open(f->log, f->client, e);
        if (r < 0)
                return r;
        if (!f->log->more)
                f->ended = true;
        if (!f->ended)
                r = ask_for_end(f, e);
        if (r >= 0 && f->log->fd < 0)
                r = wait_for_begin(f, e);
        if (r < 0 || f->log->fd < 0)
                return r;
        if (!f->placed)
                r = skip_to_lines(f->printer->inv, f->log, e);
        f->placed = true;
        return r < 0 ? r : print_until_end(f, e);
}

static int follow(struct follower *f, struct sg_error *e)
{
        int r;

        f->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        while ((r = follow_connected(f, e)) == -ECONNRESET) {
                f->slot = sd_bus_slot_unref(f->slot);
                r = sg_client_reopen(f->client, SG_FOLLOW_PATIENCE_USEC, e);
                if (r < 0)
                        break;
        }
        return r;
}

static int print_once(struct printer *p, struct sg_logfile *l, struct sg_client *c,
                      struct sg_error *e)
{
        int r = sg_logfile_open(l, c, e), q;

        if (r < 0 || l->fd < 0) /* it has not begun: nothing was written */
                return r;
        r = skip_to_lines(p->inv, l, e);
        if (r < 0)
                return r;
        if (!p->inv->no_pager && !p->inv->json)
                sg_pager_open();
        r = print_rest(p, l, e);
        if (r >= 0)
                r = flush_line(p);
        q = sg_pager_close(e);
        return r < 0 ? r : q;
}

static int logs(struct sg_client *c, const struct sg_invocation *inv, const char *id,
                struct sg_error *e)
{
        struct sg_logfile log = {.id = id, .want_stderr = inv->stderr_file, .fd = -1};
        struct printer printer = {.inv = inv,
                                  .id = id,
                                  .terminal = sg_output_is_terminal() && !inv->raw && !inv->json,
                                  .visible = {.put = put, .live = inv->follow}};
        struct follower f = {
                .client = c, .log = &log, .printer = &printer, .inotify = -1, .watch = -1};
        int r;

        r = inv->follow ? follow(&f, e) : print_once(&printer, &log, c, e);
        if (r >= 0)
                r = flush_line(&printer);
        sd_bus_slot_unref(f.slot);
        (void)sg_close(f.inotify);
        sg_logfile_deinit(&log);
        free(printer.line);
        return r;
}

int sg_verb_logs(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        _cleanup_client_ struct sg_client c = {0};
        struct sg_wanted w = {.inv = inv,
                              .words = inv->args,
                              .n = inv->n_args,
                              .wordless = SG_WORDLESS_LAST,
                              .one = true,
                              .patience_usec = inv->follow ? SG_FOLLOW_PATIENCE_USEC : 0};
        int r = sg_verb_find_jobs(&w, &c, &ids, e);

        return r < 0 ? r : logs(&c, inv, ids.v[0], e);
}
