/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/ask/answer.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *sg_answer_kind_to_string(enum sg_answer_kind kind)
{
#define NAME(name, text) [SG_ANSWER_##name] = text,
        static const char *const names[_SG_ANSWER_MAX] = {SG_ANSWER_KINDS(NAME)};

        return kind < _SG_ANSWER_MAX ? names[kind] : NULL;
}

const char *sg_answer_job(char buf[SG_ANSWER_JOB_MAX], uint64_t n)
{
        (void)snprintf(buf, SG_ANSWER_JOB_MAX, "job %" PRIu64, n);
        return buf;
}

void sg_answer_deinit(struct sg_answer *a)
{
        free(a->object);
        free(a->line);
        free(a->hint);
        *a = (struct sg_answer){.kind = SG_ANSWER_NONE};
}

int sg_refusev(struct sg_answer *a, enum sg_answer_kind kind, const char *object,
               const char *format, va_list ap)
{
        struct sg_answer new = {.kind = kind};
        char *rest;

        assert(kind > SG_ANSWER_NONE && kind < _SG_ANSWER_MAX);
        if (vasprintf(&new.line, format, ap) < 0)
                return -ENOMEM;
        rest = strchr(new.line, '\n');
        if (rest) {
                *rest = '\0';
                new.hint = strdup(rest + 1);
        }
        new.object = object ? strdup(object) : NULL;
        if ((rest && !new.hint) || (object && !new.object)) {
                sg_answer_deinit(&new);
                return -ENOMEM;
        }
        sg_answer_deinit(a);
        *a = new;
        return -EINVAL;
}

int sg_refuse(struct sg_answer *a, enum sg_answer_kind kind, const char *object, const char *format,
              ...)
{
        va_list ap;
        int r;

        va_start(ap, format);
        r = sg_refusev(a, kind, object, format, ap);
        va_end(ap);
        return r;
}

int sg_refuse_job(struct sg_answer *a, enum sg_answer_kind kind, uint64_t n, const char *format,
                  ...)
{
        char object[SG_ANSWER_JOB_MAX];
        va_list ap;
        int r;

        va_start(ap, format);
        r = sg_refusev(a, kind, sg_answer_job(object, n), format, ap);
        va_end(ap);
        return r;
}
