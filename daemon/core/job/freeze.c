/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/job/freeze.h"
#include "base/cleanup.h"
#include <errno.h>
#include <string.h>

static const char *const words[] = {"user", "move", "memory", "gpu"};

void sg_freeze_format(char buf[SG_FREEZE_TEXT_MAX], uint64_t set)
{
        size_t at = 0;

        for (size_t i = 0; i < SG_ELEMENTSOF(words); i++) {
                size_t length = strlen(words[i]);

                if (!(set & 1U << i))
                        continue;
                if (at > 0)
                        buf[at++] = ' ';
                memcpy(buf + at, words[i], length);
                at += length;
        }
        buf[at] = '\0';
}

static uint64_t reason_of(const char *word, size_t length)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(words); i++)
                if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
                        return 1U << i;
        return 0;
}

int sg_freeze_parse(const char *text, uint64_t *ret)
{
        uint64_t set = 0, reason;

        for (const char *p = text; *p;) {
                size_t length = strcspn(p, " ");

                reason = reason_of(p, length);
                if (reason == 0)
                        return -EINVAL;
                set |= reason;
                p += length;
                p += *p == ' ';
        }
        *ret = set;
        return 0;
}
