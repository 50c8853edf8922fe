/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A request, value by value. */
#include "core/ask/request.h"
#include "base/format.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sg_request_init(struct sg_request *q, enum sg_request_verb verb)
{
        *q = (struct sg_request){.verb = verb,
                                 .array_first = SG_UNLIMITED,
                                 .array_last = SG_UNLIMITED,
                                 .count = 1,
                                 .umask = 022,
                                 .pidfd = -1};
        sg_job_init(&q->job);
}

static void free_words(char **words)
{
        for (char **w = words; w && *w; w++)
                free(*w);
        free(words);
}

void sg_request_deinit(struct sg_request *q)
{
        const struct sg_filter *f = &q->filter;
        char *const strings[] = {
                q->workdir, q->on_end, q->cursor,     q->array,        q->id,
                q->what,    q->class,  q->argv.owned, q->script.owned, q->environment.owned,
                f->user,    f->state,  f->name,       f->class,        q->gpu.ids,
        };

        for (size_t i = 0; i < SG_ELEMENTSOF(strings); i++)
                free(strings[i]);
        free_words(q->assignments);
        sg_job_deinit(&q->job);
        sg_request_init(q, q->verb);
}

int sg_request_find(const struct sg_request *q, const char *name, const struct sg_param **ret,
                    struct sg_answer *a)
{
        const char *kind = sg_request_verbs[q->verb].options ?: "parameter";
        bool later = false;

        for (size_t i = 0; i < sg_n_request_options; i++) {
                const struct sg_param *p = &sg_request_options[i];

                if (strcmp(p->name, name) != 0)
                        continue;
                if (!(p->verbs & (1ULL << q->verb))) {
                        later = later || p->verbs & (1ULL << SG_REQUEST_SUBMIT);
                        continue;
                }
                if (q->given[i])
                        return sg_refuse(a, SG_ANSWER_INVALID, name, "%s is given twice", name);
                *ret = p;
                return 0;
        }
        if (later && q->verb == SG_REQUEST_SET)
                return sg_refuse(a, SG_ANSWER_INVALID, name,
                                 "%s can't be changed once a job is submitted", name);
        return sg_refuse(a, SG_ANSWER_INVALID, name, "unknown %s '%s'", kind, name);
}

int sg_request_mistyped(const struct sg_param *p, const char *wanted, struct sg_answer *a)
{
        return sg_refuse(a, SG_ANSWER_INVALID, p->name, "%s: wants %s", p->name, wanted);
}

/* Values */

static int check_text(const struct sg_param *p, const char *s, size_t max, struct sg_answer *a)
{
        for (const char *c = s; *c; c++)
                if ((unsigned char)*c < 0x20 || *c == 0x7f)
                        return sg_refuse(a, SG_ANSWER_INVALID, p->name,
                                         "%s: control characters are not allowed", p->name);
        if (strlen(s) > max)
                return sg_refuse(a, SG_ANSWER_INVALID, p->name, "%s: at most %zu bytes, not %zu",
                                 p->name, max, strlen(s));
        return 0;
}

static int store_text(const struct sg_param *p, void *place, const char *s, struct sg_answer *a)
{
        size_t max = p->size > 0 ? p->size - 1 : p->max;
        char *copy;
        int r = max > 0 ? check_text(p, s, max, a) : 0;

        if (r < 0)
                return r;
        if (p->size > 0) {
                strcpy(place, s);
                return 0;
        }
        copy = strdup(s);
        if (!copy)
                return -ENOMEM;
        free(*(char **)place);
        *(char **)place = copy;
        return 0;
}

/* As people write it. */
static const char *format_value(char buf[SG_FORMAT_MAX], const struct sg_param *p, uint64_t v)
{
        for (size_t i = 0; i < sg_n_limits; i++)
                if (p->ask == SG_ASK(sg_limit_table[i].kind))
                        return sg_limit_format(buf, sg_limit_table[i].unit, v);
        return sg_limit_format(buf, p->ask == SG_ASK_GPU_MEM ? SG_UNIT_BYTES : SG_UNIT_COUNT, v);
}

static int store_unsigned(const struct sg_param *p, uint64_t *place, uint64_t v,
                          struct sg_answer *a)
{
        bool low = p->min > 0 && v < (uint64_t)p->min, bounded = p->verbs != 0;
        char bound[SG_FORMAT_MAX], given[SG_FORMAT_MAX];

        if (bounded && (low || v > p->max))
                return sg_refuse(a, SG_ANSWER_INVALID, p->name, "%s: at %s %s, not %s", p->name,
                                 low ? "least" : "most",
                                 format_value(bound, p, low ? (uint64_t)p->min : p->max),
                                 format_value(given, p, v));
        *place = v;
        return 0;
}

static int store_signed(const struct sg_param *p, int64_t *place, int64_t v, struct sg_answer *a)
{
        bool bounded = p->verbs != 0;

        if (bounded && (v < p->min || v > (int64_t)p->max))
                return sg_refuse(a, SG_ANSWER_INVALID, p->name,
                                 "%s: from %" PRIi64 " to %" PRIu64 ", not %" PRIi64, p->name,
                                 p->min, p->max, v);
        *place = v;
        return 0;
}

static int store_words(char ***place, char *const *words)
{
        char **copy;
        size_t n = 0;

        while (words && words[n])
                n++;
        copy = calloc(n + 1, sizeof(*copy));
        if (!copy)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                copy[i] = strdup(words[i]);
                if (!copy[i]) {
                        free_words(copy);
                        return -ENOMEM;
                }
        }
        free_words(*place);
        *place = copy;
        return 0;
}

static int store_bytes(struct sg_bytes *place, struct sg_bytes v)
{
        free(place->owned);
        *place = v;
        return 0;
}

static int store(const struct sg_param *p, void *place, const struct sg_value *v,
                 struct sg_answer *a)
{
        switch (p->type) {
        case SG_VALUE_TEXT:
                return store_text(p, place, v->text, a);
        case SG_VALUE_FLAG:
                *(uint64_t *)place = v->number != 0;
                return 0;
        case SG_VALUE_U64:
        case SG_VALUE_U32:
                return store_unsigned(p, place, v->number, a);
        case SG_VALUE_I32:
        case SG_VALUE_FILE:
                return store_signed(p, place, v->integer, a);
        case SG_VALUE_WORDS:
                return store_words(place, v->words);
        default:
                return store_bytes(place, v->bytes);
        }
}

int sg_request_put(struct sg_request *q, const struct sg_param *p, const struct sg_value *v,
                   struct sg_answer *a)
{
        int r = store(p, (char *)q + p->offset, v, a);

        if (r < 0)
                return r;
        q->asked |= p->ask;
        if (p->verbs)
                q->given[p - sg_request_options] = true;
        if (q->job.deadline_usec == SG_UNLIMITED) /* none, which a job has without this, too */
                q->job.deadline_usec = 0;
        return 0;
}

void sg_request_apply(const struct sg_request *q, struct sg_job *job)
{
        const size_t begin = offsetof(struct sg_request, job), end = begin + sizeof(*job);

        for (size_t i = 0; i < sg_n_request_options; i++) {
                const struct sg_param *p = &sg_request_options[i];
                size_t size = p->type == SG_VALUE_TEXT ? p->size : sizeof(uint64_t);

                if (q->given[i] && p->offset >= begin && p->offset < end)
                        memcpy((char *)job + (p->offset - begin), (const char *)q + p->offset,
                               size);
        }
}
