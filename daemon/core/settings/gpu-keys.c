/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The values of keys about GPUs. */
#include "core/settings/table.h"
#include "proto/gpus.h"
#include <errno.h>
#include <string.h>

static const char blank[] = " \t";

/* "auto" or "no" */
int sg_settings_parse_manage(const struct sg_settings_key *k, const char *value, void *field)
{
        (void)k;
        if (strcmp(value, "auto") != 0 && strcmp(value, "no") != 0)
                return -EINVAL;
        *(bool *)field = value[0] == 'a';
        return 0;
}

/* Words between blanks, kept with one blank between them, in an array of k->max bytes; each of at
 * most k->min bytes. */
int sg_settings_parse_words(const struct sg_settings_key *k, const char *value, void *field)
{
        char *text = field;
        size_t used = 0, size = 0, n;

        for (const char *p = value + strspn(value, blank); *p; p += n + strspn(p + n, blank)) {
                n = strcspn(p, blank);
                size += n + 1;
                if (n > k->min || size > k->max)
                        return -EINVAL;
        }
        memset(text, 0, k->max);
        for (const char *p = value + strspn(value, blank); *p; p += n + strspn(p + n, blank)) {
                n = strcspn(p, blank);
                if (used > 0)
                        text[used++] = ' ';
                memcpy(text + used, p, n);
                used += n;
        }
        return 0;
}

bool sg_settings_device_is_gpu(const char *value)
{
        static const char *const nodes[] = {"/dev/nvidia", "/dev/dri/", "/dev/kfd"};

        for (size_t i = 0; i < SG_ELEMENTSOF(nodes); i++)
                if (strncmp(value, nodes[i], strlen(nodes[i])) == 0)
                        return true;
        return false;
}

bool sg_settings_words_have(const char *words, const char *word)
{
        size_t n = strlen(word), size;

        for (; *words; words += size + (words[size] == ' ')) {
                size = strcspn(words, " ");
                if (size == n && strncmp(words, word, n) == 0)
                        return true;
        }
        return false;
}

/* "2", "1-4", "0.5"; nothing: none. */
int sg_settings_parse_gpus(const struct sg_settings_key *k, const char *value, void *field)
{
        struct sg_gpu_request *q = field;
        uint64_t min = 0, max = 0, share = SG_GPU_WHOLE;

        (void)k;
        if (value[0] != '\0' && sg_gpus_parse(value, &min, &max, &share) < 0)
                return -EINVAL;
        q->min = min;
        q->max = max;
        q->share = share;
        return 0;
}

int sg_settings_parse_match_gpu(const struct sg_settings_key *k, const char *value, void *field)
{
        bool yes;

        (void)k;
        if (value[0] == '\0') {
                *(enum sg_gpu_match *)field = SG_GPU_MATCH_ANY;
                return 0;
        }
        if (sg_parse_bool(value, &yes) < 0)
                return -EINVAL;
        *(enum sg_gpu_match *)field = yes ? SG_GPU_MATCH_YES : SG_GPU_MATCH_NO;
        return 0;
}

/* "2h", which is only told, or "2h end" */
int sg_settings_parse_idle(const struct sg_settings_key *k, const char *value, void *field)
{
        struct sg_class_gpus *g = field;
        size_t n = strlen(value);
        bool ends = n > 4 && strcmp(value + n - 4, " end") == 0;
        char span[64];
        uint64_t usec;

        n -= ends ? 4 : 0;
        if (n >= sizeof(span))
                return -EINVAL;
        memcpy(span, value, n);
        span[n] = '\0';
        if (sg_parse_usec(span, &usec) < 0 || usec < k->min || (ends && usec == SG_UNLIMITED))
                return -EINVAL;
        g->idle_usec = usec;
        g->idle_ends = ends;
        return 0;
}
