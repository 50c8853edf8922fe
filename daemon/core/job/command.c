/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/job/command.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include <stdlib.h>
#include <string.h>

#define COMMAND_SHOWN 160 /* bytes of the command that lists show */

char *sg_command_join(const char *argv, size_t size)
{
        size_t n = size > SG_COMMAND_COMPARED ? SG_COMMAND_COMPARED : size;
        char *line = malloc(n + 1);

        if (!line)
                return NULL;
        for (size_t i = 0; i < n; i++)
                line[i] = argv[i] == 0 ? ' ' : argv[i];
        while (n > 0 && line[n - 1] == ' ')
                n--;
        line[n] = 0;
        return line;
}

char *sg_command_show(const char *line)
{
        size_t n = sg_utf8_fit(line, strlen(line), COMMAND_SHOWN);
        char *s;

        while (n > 0 && line[n - 1] == ' ')
                n--;
        s = strndup(line, n);
        if (s)
                sg_utf8_clean(s, n);
        return s;
}

char *sg_command_shown(const char *argv, size_t size)
{
        _cleanup_free_ char *line = sg_command_join(argv, size);

        return line ? sg_command_show(line) : NULL;
}
