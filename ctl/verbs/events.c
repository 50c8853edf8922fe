/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * events: what is in the log, then with -f what is announced. The two overlap: one subscribes
 * before asking for the log, so an announcement may be of an event that was in it. What was printed
 * lately is remembered, by a hash of its time, job and state.
 */

#include "base/cleanup.h"
#include "base/format.h"
#include "base/parse.h"
#include "base/utf8.h"
#include "ctl/line/ids.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PAGE 500
#define SEEN 1024

struct event {
        uint64_t seq, time_usec;
        const char *id, *state, *reason, *by; /* "": nobody asked for it */
        uint64_t attempt;                     /* 0: none yet */
        int32_t exit_code, signal; /* of the attempt; −1 and 0 while it hasn't ended so */
};
#define EVENT_TYPES "ttssstiis"

struct follower {
        const struct sg_invocation *inv;
        const char *job; /* "" = all */
        json_t *list;    /* with --json and without -f */
        uint64_t last_seq, last_usec;
        uint64_t seen[SEEN]; /* a ring */
        size_t n_seen;
        bool silent; /* only to know where the log ends */
        bool begun;  /* what there was at first has been printed */
};

/* As in a job's document. */
static json_t *signal_or_null(int32_t sig)
{
        const char *name = sg_signal_name(sig);

        if (sig <= 0)
                return json_null();
        return name ? json_string(name) : json_sprintf("%" PRIi32, sig);
}

static json_t *to_json(const struct event *ev, bool alone)
{
        char at[SG_FORMAT_MAX];
        json_t *o = json_object();

        if (alone)
                (void)json_object_set_new(o, "schema", json_string("schedgov.event/1"));
        (void)json_object_set_new(o, "seq",
                                  ev->seq > 0 ? json_integer((json_int_t)ev->seq) : json_null());
        (void)json_object_set_new(o, "time", json_string(sg_format_rfc3339(at, ev->time_usec)));
        (void)json_object_set_new(o, "id", json_string(ev->id));
        (void)json_object_set_new(o, "attempt", json_integer((json_int_t)ev->attempt));
        (void)json_object_set_new(o, "state", json_string(ev->state));
        (void)json_object_set_new(o, "exit_code",
                                  ev->exit_code >= 0 ? json_integer(ev->exit_code) : json_null());
        (void)json_object_set_new(o, "signal", signal_or_null(ev->signal));
        (void)json_object_set_new(o, "by", *ev->by ? json_string(ev->by) : json_null());
        (void)json_object_set_new(o, "reason", json_string(ev->reason));
        return o;
}

/* What is said of it behind its state, by commas. */
struct words {
        char text[1536];
        size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct words *w, const char *format, ...)
{
        size_t left = sizeof(w->text) - w->used;
        va_list ap;
        int n;

        if (w->used > 0 && left > 2) {
                memcpy(w->text + w->used, ", ", 3);
                w->used += 2;
                left -= 2;
        }
        va_start(ap, format);
        n = vsnprintf(w->text + w->used, left, format, ap);
        va_end(ap);
        w->used += n < 0 ? 0 : (size_t)n < left ? (size_t)n : left - 1;
}

/* "cancelled by alice", "held by alice": then it has been said. */
static bool reason_names(const struct event *ev)
{
        const char *at = strstr(ev->reason, " by ");
        size_t n = strlen(ev->by);

        return at && strncmp(at + 4, ev->by, n) == 0 && (at[4 + n] == '\0' || at[4 + n] == ' ');
}

static void describe(const struct event *ev, struct words *w)
{
        char text[1024], signal[SG_SIGNAL_TEXT_MAX];
        bool over = strcmp(ev->state, "queued") != 0; /* else the reason tells of the attempt */

        if (over && ev->exit_code >= 0)
                say(w, "status %" PRIi32, ev->exit_code);
        if (over && ev->signal > 0 && !strstr(ev->reason, sg_signal_text(signal, ev->signal)))
                say(w, "%s", signal);
        if (over && ev->attempt > 1)
                say(w, "attempt %" PRIu64, ev->attempt);
        if (*ev->reason)
                say(w, "%s", sg_utf8_escape(ev->reason, text, sizeof(text)));
        if (*ev->by && !reason_names(ev))
                say(w, "by %s", sg_utf8_escape(ev->by, text, sizeof(text)));
}

static void print_text(const struct event *ev)
{
        enum sg_colour colour = sg_colour_of_state(ev->state);
        char at[SG_FORMAT_MAX], id[256];
        struct words w = {.used = 0};

        describe(ev, &w);
        (void)printf("%s  %s  %s%s%s%s%s\n", sg_format_local(at, ev->time_usec),
                     sg_utf8_escape(ev->id, id, sizeof(id)),
                     colour == SG_PLAIN ? "" : sg_colour(colour), ev->state,
                     colour == SG_PLAIN ? "" : sg_colour(SG_PLAIN), w.used > 0 ? "  " : "", w.text);
}

static uint64_t hash(uint64_t h, const char *s)
{
        for (; *s; s++)
                h = (h ^ (unsigned char)*s) * 0x100000001b3ULL;
        return h;
}

static bool was_seen(struct follower *f, const struct event *ev)
{
        uint64_t h = hash(hash(ev->time_usec * 0x9e3779b97f4a7c15ULL, ev->id), ev->state);
        size_t n = f->n_seen < SEEN ? f->n_seen : SEEN;

        for (size_t i = 0; i < n; i++)
                if (f->seen[i] == h)
                        return true;
        f->seen[f->n_seen++ % SEEN] = h;
        return false;
}

static void take_event(struct follower *f, const struct event *ev)
{
        if (ev->seq > f->last_seq)
                f->last_seq = ev->seq;
        if (f->silent) {
                f->last_usec = ev->time_usec;
                return;
        }
        if (was_seen(f, ev))
                return;
        f->last_usec = ev->time_usec;
        if (f->list)
                (void)json_array_append_new(f->list, to_json(ev, false));
        else if (f->inv->json)
                (void)sg_document_print_new(to_json(ev, true));
        else
                print_text(ev);
}

static int read_event(sd_bus_message *m, const char *types, struct event *ev)
{
        return sd_bus_message_read(m, types, &ev->seq, &ev->time_usec, &ev->id, &ev->state,
                                   &ev->reason, &ev->attempt, &ev->exit_code, &ev->signal, &ev->by);
}

static int on_event(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct follower *f = userdata;
        struct event ev;

        (void)error;
        if (sd_bus_message_is_signal(m, SG_BUS_MANAGER, "JobEvent") > 0 &&
            read_event(m, EVENT_TYPES, &ev) > 0 && (!*f->job || sg_id_matches(f->job, ev.id)))
                take_event(f, &ev);
        return 0;
}

/* Prints up to limit events behind `after` (0 = the latest ones); returns how many came. */
static int print_log(struct follower *f, struct sg_client *c, uint64_t after, uint64_t limit,
                     struct sg_error *e)
{
        uint64_t from_usec = after > 0 ? f->last_usec : 0; /* announced before a restart */
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        struct event ev;
        int n = 0, r;

        r = sg_client_manager(c, "ListEvents", &m, e);
        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "tst", after, f->job, limit);
        if (r < 0)
                return sg_error_errno(e, r, "cannot make the request");
        r = sg_client_call(c, m, *f->job ? f->job : NULL, &reply, e);
        if (r < 0)
                return r;
        r = sd_bus_message_enter_container(reply, 'a', "(" EVENT_TYPES ")");
        while (r >= 0 && (r = read_event(reply, "(" EVENT_TYPES ")", &ev)) > 0) {
                if (ev.time_usec >= from_usec)
                        take_event(f, &ev);
                else
                        f->last_seq = ev.seq;
                n++;
        }
        return r < 0 ? sg_error_garbled(e, r) : n;
}

static int subscribe(struct follower *f, struct sg_client *c, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        int r;

        r = sd_bus_add_filter(c->bus, NULL, on_event, f);
        if (r < 0)
                return sg_error_errno(e, r, "cannot listen to schedgovd");
        r = sg_client_manager(c, "Subscribe", &m, e);
        return r < 0 ? r : sg_client_call(c, m, NULL, &reply, e);
}

static int listen(struct sg_client *c, struct sg_error *e)
{
        for (;;) {
                int r = sg_output_finish(e);

                if (r >= 0)
                        r = sg_client_process(c, UINT64_MAX, e);
                if (r < 0)
                        return r;
        }
}

/* What there was at first. */
static int print_latest(struct follower *f, struct sg_client *c, uint64_t lines, struct sg_error *e)
{
        int r;

        f->silent = lines == 0; /* where the log ends has to be known all the same */
        r = print_log(f, c, 0, lines > 0 ? lines : 1, e);
        f->silent = false;
        return r == 0 && *f->job ? sg_client_check_job(c, f->job, e) : r;
}

/* A restart of the governor is bridged by what its log has had since. */
static int catch_up(struct follower *f, struct sg_client *c, uint64_t lines, struct sg_error *e)
{
        int r = subscribe(f, c, e);

        if (r >= 0 && !f->begun) {
                r = print_latest(f, c, lines, e);
                f->begun = r >= 0;
                return r;
        }
        while (r >= 0 && (r = print_log(f, c, f->last_seq, PAGE, e)) == PAGE)
                ;
        return r;
}

static int follow(struct follower *f, struct sg_client *c, uint64_t lines, struct sg_error *e)
{
        int r = 0;

        for (;;) {
                if (r >= 0)
                        r = catch_up(f, c, lines, e);
                if (r >= 0)
                        r = listen(c, e);
                if (r != -ECONNRESET)
                        return r;
                r = sg_client_reopen(c, SG_FOLLOW_PATIENCE_USEC, e);
        }
}

static int show(struct follower *f, struct sg_client *c, uint64_t lines, struct sg_error *e)
{
        int r, q;

        if (f->inv->json)
                f->list = json_array();
        else if (!f->inv->no_pager)
                sg_pager_open();
        r = print_latest(f, c, lines, e);
        if (f->list && r >= 0) {
                int w = sg_document_print_new(
                        json_pack("{s:s,s:o}", "schema", "schedgov.events/1", "events", f->list));
                r = w < 0 ? w : r;
        } else {
                json_decref(f->list);
        }
        q = sg_pager_close(e);
        return r < 0 ? r : q;
}

int sg_verb_events(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_(sg_ids_deinit) struct sg_ids ids = {0};
        struct follower f = {.inv = inv, .job = ""};
        uint64_t lines = inv->lines != UINT64_MAX ? inv->lines : SG_LINES_UNLESS_SAID;
        _cleanup_client_ struct sg_client c = {0};
        struct sg_wanted w = {.inv = inv,
                              .words = inv->args,
                              .n = inv->n_args,
                              .wordless = SG_WORDLESS_ALL,
                              .one = true,
                              .patience_usec = inv->follow ? SG_FOLLOW_PATIENCE_USEC : 0};
        int r = sg_verb_find_jobs(&w, &c, &ids, e);

        if (r < 0)
                return r;
        if (ids.n == 1)
                f.job = ids.v[0];
        return inv->follow ? follow(&f, &c, lines, e) : show(&f, &c, lines, e);
}
