/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See screen.h. Stopping (Ctrl-Z) is left to ncurses, which gives the terminal back meanwhile.
 * What else ends a program is blocked and read as data, so that it finds the terminal in no state
 * half way; the caller raises it again when the screen is closed.
 */

#include "ctl/top/screen.h"
#include "base/cleanup.h"
#include "ctl/show/output.h"
#include <errno.h>
#include <ncurses.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <unistd.h>

struct sg_screen {
        SCREEN *screen;
        int fd;
        sigset_t before;
        bool colours;
};

/* For exit() from where nobody knows of a screen. */
static struct sg_screen *the_screen;

static void close_at_exit(void)
{
        if (the_screen)
                (void)endwin();
}

static int block_signals(struct sg_screen *s)
{
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
        sigset_t set;

        (void)sigemptyset(&set);
        for (size_t i = 0; i < SG_ELEMENTSOF(signals); i++)
                (void)sigaddset(&set, signals[i]);
        if (sigprocmask(SIG_BLOCK, &set, &s->before) < 0)
                return -errno;
        s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
        return s->fd < 0 ? -errno : 0;
}

static void use_colours(struct sg_screen *s)
{
        static const short colours[] = {COLOR_RED, COLOR_YELLOW, COLOR_GREEN};

        s->colours = *sg_colour(SG_RED) && has_colors() && start_color() == OK;
        if (!s->colours)
                return;
        (void)use_default_colors();
        for (short i = 0; i < (short)SG_ELEMENTSOF(colours); i++)
                (void)init_pair((short)(i + 1), colours[i], -1);
}

/* newterm(3) also fails where it can't, but leaks then. */
static bool can_move_cursor(void)
{
        const char *cup;
        int status;

        if (setupterm(NULL, STDOUT_FILENO, &status) != OK)
                return false;
        cup = tigetstr("cup");
        (void)del_curterm(cur_term);
        return cup && cup != (const char *)-1;
}

static int open_terminal(struct sg_screen *s)
{
        if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1 || !can_move_cursor())
                return -ENOTTY;
        s->screen = newterm(NULL, stdout, stdin);
        if (!s->screen)
                return -ENOTTY;
        the_screen = s;
        (void)cbreak();
        (void)noecho();
        (void)nonl();
        (void)keypad(stdscr, true);
        (void)nodelay(stdscr, true);
        (void)curs_set(0);
        (void)set_escdelay(50);
        use_colours(s);
        return 0;
}

int sg_screen_open(struct sg_screen **ret)
{
        struct sg_screen *s = calloc(1, sizeof(*s));
        static bool registered;
        int r;

        if (!s)
                return -ENOMEM;
        s->fd = -1;
        if (!registered)
                registered = atexit(close_at_exit) == 0;
        r = block_signals(s);
        if (r >= 0)
                r = open_terminal(s);
        if (r < 0) {
                (void)sg_screen_close(s);
                return r;
        }
        *ret = s;
        return 0;
}

struct sg_screen *sg_screen_close(struct sg_screen *s)
{
        if (!s)
                return NULL;
        if (s->screen) {
                (void)endwin();
                delscreen(s->screen);
        }
        the_screen = NULL;
        (void)sg_close(s->fd);
        (void)sigprocmask(SIG_SETMASK, &s->before, NULL);
        free(s);
        return NULL;
}

int sg_screen_fd(const struct sg_screen *s)
{
        return s->fd;
}

static void resize(void)
{
        struct winsize ws;

        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 0 && ws.ws_col > 0)
                (void)resizeterm(ws.ws_row, ws.ws_col);
}

int sg_screen_signal(struct sg_screen *s)
{
        struct signalfd_siginfo info;

        while (read(s->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
                if (info.ssi_signo != SIGWINCH)
                        return (int)info.ssi_signo;
                resize();
        }
        return 0;
}

int sg_screen_key(struct sg_screen *s)
{
        static const struct {
                int ncurses;
                enum sg_screen_key key;
        } keys[] = {
                {KEY_UP, SG_SCREEN_UP},         {KEY_DOWN, SG_SCREEN_DOWN},
                {KEY_PPAGE, SG_SCREEN_PAGE_UP}, {KEY_NPAGE, SG_SCREEN_PAGE_DOWN},
                {KEY_HOME, SG_SCREEN_HOME},     {KEY_END, SG_SCREEN_END},
        };
        int c = getch();

        (void)s;
        if (c == ERR)
                return SG_SCREEN_NONE;
        for (size_t i = 0; i < SG_ELEMENTSOF(keys); i++)
                if (keys[i].ncurses == c)
                        return (int)keys[i].key;
        return c > 0 && c < 256 ? c : ' '; /* of which nothing comes but a new drawing */
}

void sg_screen_size(const struct sg_screen *s, unsigned *ret_width, unsigned *ret_height)
{
        (void)s;
        *ret_width = (unsigned)getmaxx(stdscr);
        *ret_height = (unsigned)getmaxy(stdscr);
}

void sg_screen_begin(struct sg_screen *s)
{
        (void)s;
        (void)erase();
}

void sg_screen_end(struct sg_screen *s)
{
        (void)s;
        (void)refresh();
}

static attr_t attributes(const struct sg_screen *s, enum sg_top_look look)
{
        switch (look) {
        case SG_TOP_BOLD:
                return A_BOLD;
        case SG_TOP_HEADING:
                return A_BOLD | A_UNDERLINE;
        case SG_TOP_SELECTED:
                return A_REVERSE;
        case SG_TOP_DIM:
                return A_DIM;
        case SG_TOP_YELLOW:
                return s->colours ? (attr_t)COLOR_PAIR(2) : A_DIM;
        case SG_TOP_RED:
                return s->colours ? (attr_t)COLOR_PAIR(1) | A_BOLD : A_BOLD;
        case SG_TOP_GREEN:
                return s->colours ? (attr_t)COLOR_PAIR(3) : A_NORMAL;
        default:
                return A_NORMAL;
        }
}

void sg_screen_put(void *userdata, unsigned row, const struct sg_top_line *line)
{
        const struct sg_screen *s = userdata;
        attr_t attr = attributes(s, line->look);

        (void)attrset(attr);
        (void)mvaddstr((int)row, 0, line->text);
        if (line->look == SG_TOP_SELECTED) /* the whole line */
                for (int x = getcurx(stdscr); x < getmaxx(stdscr) && getcury(stdscr) == (int)row;
                     x++)
                        (void)mvaddch((int)row, x, ' ');
        (void)attrset(A_NORMAL);
        for (size_t i = 0; i < line->n_spans; i++) {
                const struct sg_top_span *span = &line->spans[i];

                attr = attributes(s, span->look);
                (void)mvchgat((int)row, (int)span->from, (int)span->n, attr & ~(attr_t)A_COLOR,
                              (short)PAIR_NUMBER(attr), NULL);
        }
}
