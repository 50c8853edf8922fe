/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See first-word.h. */

#include "ctl/ask/first-word.h"
#include "base/file.h"
#include "proto/names.h"
#include "proto/search.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHELL_ONLY "|&;<>$`\"'\\*?[](){}~#=\n"

enum found { NOTHING, A_FILE, A_PROGRAM };

static enum found look(const char *workdir, const char *word)
{
        char path[PATH_MAX];
        struct stat st;

        if (*word != '/' && sg_path_join(path, sizeof(path), workdir ? workdir : ".", word) < 0)
                return NOTHING;
        if (stat(*word == '/' ? word : path, &st) < 0 || !S_ISREG(st.st_mode))
                return NOTHING;
        return access(*word == '/' ? word : path, X_OK) == 0 ? A_PROGRAM : A_FILE;
}

/* For a shell, between quotes; false: it has no room. */
static bool quote(char *buf, size_t size, const char *s)
{
        size_t at = 0;

        buf[at++] = '\'';
        for (; *s; s++) {
                const char one[] = {*s, '\0'}, *piece = *s == '\'' ? "'\\''" : one;
                size_t n = strlen(piece);

                if (at + n + 2 > size)
                        return false;
                memcpy(buf + at, piece, n);
                at += n;
        }
        buf[at++] = '\'';
        buf[at] = '\0';
        return true;
}

static int taken_whole(const struct sg_invocation *inv, const char *line, struct sg_error *e)
{
        const char *verb = sg_verbs[inv->verb].name;
        char quoted[300], hint[400];

        if (!strpbrk(line, SHELL_ONLY) && strlen(line) < sizeof(quoted))
                (void)snprintf(hint, sizeof(hint), "type schedctl %s -- %s", verb, line);
        else if (quote(quoted, sizeof(quoted), line))
                (void)snprintf(hint, sizeof(hint), "type schedctl %s --sh %s", verb, quoted);
        else
                (void)snprintf(hint, sizeof(hint), "put --sh in front of it");
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, line, hint,
                            "the whole of '%s' was taken for the name of a program", line);
}

static int not_executable(const struct sg_invocation *inv, const char *word, struct sg_error *e)
{
        const char *verb = sg_verbs[inv->verb].name, *dot = strrchr(word, '.');
        bool python = dot && strcmp(dot, ".py") == 0;
        char hint[400];

        (void)snprintf(hint, sizeof(hint), "type chmod +x %s, or schedctl %s -- %s %s", word, verb,
                       python ? "python3" : "sh", word);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, word, hint,
                            "'%s' in the working directory is not executable", word);
}

int sg_first_word(const struct sg_invocation *inv, char *const *argv, char *const *env, char **ret,
                  struct sg_error *e)
{
        const char *word = argv[0];
        bool named = !strchr(word, '/');
        char path[PATH_MAX];
        enum found found;

        *ret = NULL;
        if (named && sg_search_find(word, env, path) >= 0)
                return 0;
        found = look(inv->workdir, word);
        if (found == NOTHING)
                return !argv[1] && strpbrk(word, " \t\n|&;<>") ? taken_whole(inv, word, e) : 0;
        if (!named)
                return 0;
        if (found == A_FILE)
                return not_executable(inv, word, e);
        return asprintf(ret, "./%s", word) < 0 ? -ENOMEM : 0;
}
