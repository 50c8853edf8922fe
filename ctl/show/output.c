/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See output.h. Whether stdout is a terminal, and how wide, is found out before a pager takes its
 * place. */

#include "ctl/show/output.h"
#include "base/parse.h"
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager;

bool sg_output_is_terminal(void)
{
        static int answer = -1;

        if (answer < 0)
                answer = isatty(STDOUT_FILENO) == 1;
        return answer == 1;
}

static bool colours_wanted(void)
{
        static int answer = -1;

        if (answer < 0) {
                const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

                answer = sg_output_is_terminal() && !(no && *no) && term && *term &&
                         strcmp(term, "dumb") != 0;
        }
        return answer == 1;
}

const char *sg_colour(enum sg_colour colour)
{
        static const char *const sequence[] = {"\x1b[0m",  "\x1b[1m",  "\x1b[2m",
                                               "\x1b[31m", "\x1b[32m", "\x1b[33m"};

        return colours_wanted() ? sequence[colour] : "";
}

enum sg_colour sg_colour_of_state(const char *state)
{
        static const struct {
                const char *state;
                enum sg_colour colour;
        } table[] = {
                {"running", SG_GREEN}, {"starting", SG_GREEN}, {"suspended", SG_YELLOW},
                {"killed", SG_RED},    {"oom", SG_RED},        {"timeout", SG_RED},
                {"failed", SG_RED},    {"lost", SG_RED},
        };

        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
                if (strcmp(table[i].state, state) == 0)
                        return table[i].colour;
        return SG_PLAIN;
}

/* The environment's word comes first; 0 = nobody knows the size. */
static unsigned find_size(const char *variable, bool columns)
{
        const char *value = getenv(variable);
        struct winsize ws;
        uint32_t n;

        if (value && sg_parse_u32(value, &n) == 0 && n > 0)
                return n;
        if (sg_output_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0)
                return columns ? ws.ws_col : ws.ws_row;
        return 0;
}

unsigned sg_terminal_width(void)
{
        static unsigned width;
        static bool known;

        if (!known)
                width = find_size("COLUMNS", true);
        known = true;
        return width;
}

unsigned sg_terminal_height(void)
{
        return find_size("LINES", false);
}

/* A locale that isn't installed still says what the terminal can show. */
static bool named_utf8(void)
{
        static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

        for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
                const char *value = getenv(variables[i]);

                if (value && *value)
                        return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
        }
        return false;
}

bool sg_output_is_utf8(void)
{
        if (!setlocale(LC_CTYPE, "") && named_utf8())
                (void)setlocale(LC_CTYPE, "C.UTF-8");
        return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* NULL where there is nothing to page with, or the user asked for none with an empty name. */
static const char *pager_command(void)
{
        const char *command = getenv("SCHEDGOV_PAGER");

        if (!command)
                command = getenv("PAGER");
        if (!command)
                command = access("/usr/bin/less", X_OK) == 0 ? "less" : "";
        return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

void sg_pager_open(void)
{
        const char *command = pager_command();
        int fds[2];

        if (!command || !sg_output_is_terminal())
                return;
        (void)sg_terminal_width(); /* while stdout is the terminal */
        if (pipe(fds) < 0)
                return;
        (void)fflush(stdout);
        pager = fork();
        if (pager < 0) {
                (void)close(fds[0]);
                (void)close(fds[1]);
                pager = 0;
                return; /* unpaged output is better than none */
        }
        if (pager == 0) {
                (void)dup2(fds[0], STDIN_FILENO);
                (void)close(fds[0]);
                (void)close(fds[1]);
                (void)setenv("LESS", "FRSXMK", 0);
                execl("/bin/sh", "sh", "-c", command, (char *)NULL);
                _exit(127);
        }
        (void)dup2(fds[1], STDOUT_FILENO);
        (void)close(fds[0]);
        (void)close(fds[1]);
}

int sg_output_finish(struct sg_error *e)
{
        if (fflush(stdout) == 0 && !ferror(stdout))
                return 0;
        return sg_error_errno(e, errno > 0 ? -errno : -EIO, "cannot write the output");
}

int sg_pager_close(struct sg_error *e)
{
        int r = sg_output_finish(e);

        if (pager == 0)
                return r;
        (void)close(STDOUT_FILENO); /* the end of what it reads */
        while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
                ;
        pager = 0;
        return r;
}
