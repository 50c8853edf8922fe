/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * top: the node and its jobs, again and again. On a terminal it is a screen with keys, and a
 * governor that is away is waited for; elsewhere it is text, and a failure is one.
 */

#include "base/cleanup.h"
#include "base/time-util.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/top/rounds.h"
#include "ctl/top/screen.h"
#include "ctl/verbs/verbs.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#define DELAY_USEC (2 * SG_USEC_PER_SEC)
#define DELAY_MIN_USEC (100 * SG_USEC_PER_MSEC)
#define DELAY_MAX_USEC (24 * 3600 * SG_USEC_PER_SEC)

struct top {
        const struct sg_invocation *inv;
        struct sg_client *client;
        struct sg_rounds rounds;
        struct sg_top model;
        struct sg_top_view view;
        struct sg_screen *screen; /* NULL = text */
        uint64_t delay_usec, next_usec, left;
        bool under_way, lost, quit, drawn;
        int signal;
};

/* --- output --- */

static void print_line(void *userdata, unsigned row, const struct sg_top_line *line)
{
        (void)userdata;
        (void)row;
        (void)puts(line->text);
}

static int print_json(const struct sg_top *m)
{
        json_t *jobs = json_array();

        for (size_t i = 0; i < m->n; i++)
                (void)json_array_append(jobs, m->jobs[m->order[i]].document);
        return sg_document_print_new(json_pack("{s:s,s:O,s:o}", "schema", "schedgov.top/1",
                                               "status", m->status, "jobs", jobs));
}

static int draw(struct top *t)
{
        int r;

        if (t->screen) {
                sg_screen_size(t->screen, &t->view.width, &t->view.height);
                sg_screen_begin(t->screen);
                r = sg_top_draw(&t->model, &t->view, sg_screen_put, t->screen);
                sg_screen_end(t->screen);
                return r;
        }
        if (t->inv->json)
                return print_json(&t->model);
        if (t->drawn)
                (void)putchar('\n');
        t->drawn = true;
        return sg_top_draw(&t->model, &t->view, print_line, NULL);
}

/* --- rounds --- */

static void say_trouble(struct top *t, struct sg_error *e)
{
        (void)snprintf(t->model.trouble, sizeof(t->model.trouble), "%.255s", e->what);
        sg_error_clear(e);
}

/* On a screen a failure is said there, and the next round tries again. */
static int failed(struct top *t, int r, struct sg_error *e)
{
        if (!t->screen || r == -ENOMEM)
                return r;
        t->lost |= r == -ECONNRESET || sd_bus_is_open(t->client->bus) <= 0;
        sg_rounds_stop(&t->rounds);
        t->under_way = false;
        say_trouble(t, e);
        return draw(t);
}

static int start_round(struct top *t, struct sg_error *e)
{
        int r = 0;

        t->next_usec = sg_now_monotonic_usec() + t->delay_usec;
        if (t->lost)
                r = sg_client_reopen(t->client, 0, e);
        if (r >= 0) {
                t->lost = false;
                r = sg_rounds_start(&t->rounds, e);
        }
        t->under_way = r >= 0;
        return r < 0 ? failed(t, r, e) : 0;
}

static int process_bus(struct top *t, struct sg_error *e)
{
        int r;

        if (t->lost)
                return 0;
        while ((r = sd_bus_process(t->client->bus, NULL)) > 0)
                ;
        if (r < 0 || sd_bus_is_open(t->client->bus) <= 0)
                return sg_client_failure(t->client, r < 0 ? r : -ECONNRESET, NULL, NULL, e);
        return 0;
}

static int advance(struct top *t, struct sg_error *e)
{
        int r = process_bus(t, e);

        if (r >= 0 && t->under_way)
                r = sg_rounds_advance(&t->rounds, &t->model, e);
        if (r < 0)
                return failed(t, r, e);
        if (r == 0)
                return 0;
        sg_rounds_stop(&t->rounds);
        t->under_way = false;
        r = draw(t);
        if (r >= 0 && !t->screen)
                r = sg_output_finish(e);
        t->quit |= t->left != UINT64_MAX && --t->left == 0;
        return r;
}

/* --- keys --- */

static bool sort_key(struct top *t, int key)
{
        static const char letters[_SG_TOP_KEY_MAX] = {
                [SG_TOP_ID] = 'i',    [SG_TOP_TIME] = 't',   [SG_TOP_CPU] = 'c',
                [SG_TOP_SHARE] = 's', [SG_TOP_MEMORY] = 'm', [SG_TOP_PROGRESS] = 'p',
                [SG_TOP_ETA] = 'e',
        };
        const char *found = memchr(letters, key, sizeof(letters));

        if (key >= 256 || (!found && key != 'r'))
                return false;
        if (found)
                t->model.key = (enum sg_top_key)(found - letters);
        else
                t->model.reverse = !t->model.reverse;
        sg_top_sort(&t->model);
        return true;
}

static void move(struct top *t, size_t up, size_t down)
{
        size_t last = t->model.n > 0 ? t->model.n - 1 : 0, *at = &t->view.selected;

        *at = *at > up ? *at - up : 0;
        *at = last - *at > down ? *at + down : last;
}

static void take_key(struct top *t, int key)
{
        size_t page = sg_top_rows(&t->view);

        if (sort_key(t, key))
                return;
        switch (key) {
        case 'q':
        case 'Q':
                t->quit = true;
                break;
        case 'k':
        case SG_SCREEN_UP:
                move(t, 1, 0);
                break;
        case 'j':
        case SG_SCREEN_DOWN:
                move(t, 0, 1);
                break;
        case SG_SCREEN_PAGE_UP:
                move(t, page, 0);
                break;
        case SG_SCREEN_PAGE_DOWN:
                move(t, 0, page);
                break;
        case SG_SCREEN_HOME:
                move(t, SIZE_MAX, 0);
                break;
        case SG_SCREEN_END:
                move(t, 0, SIZE_MAX);
                break;
        case ' ':
                t->next_usec = 0;
                break;
        default:
                break;
        }
}

static int take_keys(struct top *t)
{
        bool any = false;

        for (int key; (key = sg_screen_key(t->screen)) != SG_SCREEN_NONE; any = true)
                take_key(t, key);
        return any && t->model.status ? draw(t) : 0;
}

/* --- the loop --- */

enum { BUS, KEYS, SIGNALS, N_FDS };

static int timeout_msec(const struct top *t)
{
        uint64_t now = sg_now_monotonic_usec(), until = t->under_way ? UINT64_MAX : t->next_usec;
        uint64_t bus;

        if (!t->lost && sd_bus_get_timeout(t->client->bus, &bus) > 0 && bus < until)
                until = bus;
        if (until == UINT64_MAX)
                return -1;
        return until > now ? (int)((until - now + 999) / 1000) : 0;
}

static int wait_for_something(struct top *t, struct pollfd fds[N_FDS])
{
        int events = t->lost ? 0 : sd_bus_get_events(t->client->bus);

        fds[BUS] = (struct pollfd){.fd = t->lost ? -1 : sd_bus_get_fd(t->client->bus),
                                   .events = (short)(events > 0 ? events : 0)};
        fds[KEYS] = (struct pollfd){.fd = t->screen ? STDIN_FILENO : -1, .events = POLLIN};
        fds[SIGNALS] =
                (struct pollfd){.fd = t->screen ? sg_screen_fd(t->screen) : -1, .events = POLLIN};
        return poll(fds, N_FDS, timeout_msec(t)) < 0 && errno != EINTR ? -errno : 0;
}

static int turn(struct top *t, struct sg_error *e)
{
        struct pollfd fds[N_FDS];
        int r;

        if (!t->under_way && sg_now_monotonic_usec() >= t->next_usec) {
                r = start_round(t, e);
                if (r < 0)
                        return r;
        }
        r = wait_for_something(t, fds);
        if (r < 0)
                return sg_error_errno(e, r, "cannot wait");
        if (fds[SIGNALS].revents) {
                t->signal = sg_screen_signal(t->screen);
                r = t->model.status ? draw(t) : 0; /* there may be another size */
        }
        if (r >= 0 && (fds[KEYS].revents & POLLIN))
                r = take_keys(t);
        t->quit |= t->signal > 0 || (fds[KEYS].revents & (POLLHUP | POLLERR)) != 0;
        return r < 0 || t->quit ? r : advance(t, e);
}

static int choose_key(struct top *t, struct sg_error *e)
{
        t->model.key = SG_TOP_CPU;
        if (!t->inv->sort)
                return 0;
        for (int i = 0; i < _SG_TOP_KEY_MAX; i++)
                if (strcmp(sg_top_keys[i], t->inv->sort) == 0) {
                        t->model.key = (enum sg_top_key)i;
                        return 0;
                }
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--sort", NULL,
                            "--sort knows id,time,cpu,share,mem,progress,eta, not '%s'",
                            t->inv->sort);
}

static int choose_output(struct top *t)
{
        bool terminal = isatty(STDOUT_FILENO) == 1;
        bool utf8 = sg_output_is_utf8(); /* before ncurses, which wants to know, too */
        int r = t->inv->json ? -ENOTTY : sg_screen_open(&t->screen);

        t->view = (struct sg_top_view){.utf8 = utf8,
                                       .interactive = r >= 0,
                                       .no_legend = t->inv->no_legend,
                                       .width = sg_terminal_width()};
        t->left = t->inv->lines != UINT64_MAX ? t->inv->lines : terminal ? UINT64_MAX : 1;
        t->quit = t->left == 0;
        return r == -ENOTTY ? 0 : r;
}

static int run(struct top *t, struct sg_error *e)
{
        int r = choose_output(t);

        while (r >= 0 && !t->quit)
                r = turn(t, e);
        t->screen = sg_screen_close(t->screen);
        sg_rounds_stop(&t->rounds);
        sg_top_deinit(&t->model);
        if (t->signal > 0) { /* ncurses left a handler; let it do what it does */
                (void)signal(t->signal, SIG_DFL);
                (void)raise(t->signal);
        }
        return r < 0 ? r : 0;
}

int sg_verb_top(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_client_ struct sg_client c = {0};
        struct top t = {.inv = inv, .client = &c, .delay_usec = DELAY_USEC};
        int r;

        if (inv->n_args > 0)
                return sg_verb_usage(inv, e);
        if (inv->delay > 0)
                t.delay_usec = inv->delay;
        if (t.delay_usec < DELAY_MIN_USEC || t.delay_usec > DELAY_MAX_USEC)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--delay", NULL,
                                    "--delay wants a time from 100ms to 1d");
        r = choose_key(&t, e);
        if (r >= 0)
                r = sg_client_open(&c, inv->socket, e);
        if (r < 0)
                return r;
        t.rounds = (struct sg_rounds){.client = &c, .inv = inv, .with_series = !inv->json};
        return run(&t, e);
}
