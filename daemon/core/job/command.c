/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/job/command.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include <stdbool.h>
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

static uint64_t hash(uint64_t before, const char *word, size_t size)
{
        uint64_t h = before;

        for (size_t i = 0; i < size; i++) /* FNV-1a */
                h = (h ^ (uint8_t)word[i]) * UINT64_C(0x100000001b3);
        return h;
}

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "train.py", "src/train"; not ".1" or "3.5". */
static bool names_a_file(const char *word, size_t size)
{
        if (word[0] == '-')
                return false;
        for (size_t i = 0; i < size; i++)
                if (word[i] == '/' || (word[i] == '.' && i + 1 < size && is_letter(word[i + 1])))
                        return true;
        return false;
}

uint64_t sg_command_program(const char *line)
{
        size_t size = strcspn(line, " ");
        uint64_t h = hash(UINT64_C(0xcbf29ce484222325), line, size);
        bool module = false;

        for (const char *word = line + size; *word == ' '; word += size) {
                word++;
                size = strcspn(word, " ");
                if (module || names_a_file(word, size)) {
                        h = hash(h ^ ' ', word, size);
                        break;
                }
                module = size == 2 && memcmp(word, "-m", 2) == 0;
        }
        return h ?: 1;
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
