/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Settings as an object: defaults, assignment and validation, all by the table of table.c.
 * Every scalar is at its fallback or at a value that its row accepts; lists are NULL when empty.
 */

#include "core/settings/table.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#define QUOTED_MAX 60 /* bytes of a bad value that a message repeats */

static int why_set(char **ret_why, int error, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

static int why_set(char **ret_why, int error, const char *format, ...)
{
        va_list ap;
        char *s = NULL;
        int r;

        va_start(ap, format);
        r = vasprintf(&s, format, ap);
        va_end(ap);
        if (r < 0)
                return -ENOMEM;
        *ret_why = s;
        return error;
}

/* What to show of a value, without cutting a UTF-8 sequence in two. */
static int quoted_size(const char *value)
{
        size_t n = strnlen(value, QUOTED_MAX + 1);

        if (n > QUOTED_MAX)
                for (n = QUOTED_MAX; n > 0 && ((unsigned char)value[n] & 0xC0) == 0x80; n--)
                        ;
        return (int)n;
}

static void *field_of(void *object, const struct sg_settings_key *k)
{
        return (char *)object + k->offset;
}

static int assign(void *object, const char *file, const char *section, const char *key,
                  const char *value, char **ret_why)
{
        const struct sg_settings_key *k = sg_settings_key_find(file, section, key);
        int r;

        if (!k) {
                char *why = sg_settings_unknown(file, section, key);

                if (!why)
                        return -ENOMEM;
                *ret_why = why;
                return -EINVAL;
        }
        r = k->parse(k, value[0] == '\0' ? k->fallback : value, field_of(object, k));
        if (r == -EINVAL)
                return why_set(ret_why, r, "[%s] %s= wants %s, not '%.*s%s'", section, key,
                               k->wants, quoted_size(value), value,
                               value[quoted_size(value)] == '\0' ? "" : "…");
        return r;
}

static int assign_defaults(void *object, const char *file)
{
        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++) {
                int r;

                if (strcmp(k->file, file) != 0)
                        continue;
                r = k->parse(k, k->fallback, field_of(object, k));
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A host name may hold what a node name must not; the node must start anyway. */
static void hostname_copy(char ret[SG_NODE_NAME_MAX], const char *hostname)
{
        size_t n = 0;

        for (const char *p = hostname; *p && n + 1 < SG_NODE_NAME_MAX; p++) {
                bool ok = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
                          (*p >= '0' && *p <= '9') || *p == '_' || *p == '.' || *p == '-';

                if (n == 0 && (!ok || *p == '.' || *p == '-'))
                        continue;
                ret[n++] = ok ? *p : '_';
        }
        ret[n] = '\0';
        if (n == 0)
                memcpy(ret, "localhost", sizeof("localhost"));
}

static int class_new(struct sg_class **ret, const char *file)
{
        _cleanup_(sg_class_freep) struct sg_class *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return -ENOMEM;
        if (file) {
                c->file = strdup(file);
                if (!c->file)
                        return -ENOMEM;
        }
        sg_gpu_request_init(&c->gpus.given);
        c->limits_max.pin = c->limits_max.threads = SG_UNLIMITED;
        r = assign_defaults(c, "policy");
        if (r < 0)
                return r;
        *ret = TAKE_PTR(c);
        return 0;
}

static void class_deinit(struct sg_class *c)
{
        /* the lists: an empty assignment frees them */
        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++)
                if (k->list && strcmp(k->file, "policy") == 0)
                        (void)k->parse(k, "", field_of(c, k));
        free(c->file);
}

struct sg_class *sg_class_free(struct sg_class *c)
{
        if (c) {
                class_deinit(c);
                free(c);
        }
        return NULL;
}

int sg_settings_new(struct sg_settings **ret, const char *hostname)
{
        _cleanup_(sg_settings_freep) struct sg_settings *s = calloc(1, sizeof(*s));
        _cleanup_(sg_class_freep) struct sg_class *c = NULL;
        int r;

        if (!s)
                return -ENOMEM;
        hostname_copy(s->hostname, hostname ? hostname : "");
        r = assign_defaults(s, "conf");
        if (r < 0)
                return r;
        r = class_new(&c, NULL);
        if (r < 0)
                return r;
        memcpy(c->name, "default", sizeof("default"));
        s->classes = TAKE_PTR(c);
        s->n_classes = 1;
        *ret = TAKE_PTR(s);
        return 0;
}

/* For who makes them or frees them: they are const to all others. */
static struct sg_class *classes_of(const struct sg_settings *s)
{
        return (struct sg_class *)s->classes;
}

struct sg_settings *sg_settings_free(const struct sg_settings *s)
{
        if (!s)
                return NULL;
        for (size_t i = 0; i < s->n_classes; i++)
                class_deinit(&classes_of(s)[i]);
        free(classes_of(s));
        free((void *)s);
        return NULL;
}

int sg_settings_assign(struct sg_settings *s, const char *section, const char *key,
                       const char *value, char **ret_why)
{
        return assign(s, "conf", section, key, value, ret_why);
}

int sg_settings_class_begin(struct sg_settings *s, const char *file, struct sg_class **ret)
{
        (void)s;
        return class_new(ret, file);
}

int sg_settings_class_assign(struct sg_class *c, const char *section, const char *key,
                             const char *value, char **ret_why)
{
        return assign(c, "policy", section, key, value, ret_why);
}

/* What jobs get must be something that they may ask for. What was left at its fallback follows the
 * maximum down; what was written must not contradict it. */
static int class_fit_limits(struct sg_class *c, char **ret_why)
{
        for (size_t i = 0; i < sg_n_limits; i++) {
                const struct sg_limit *k = &sg_limit_table[i];
                uint64_t *limit = sg_limit_at(&c->limits, k), max = sg_limit_of(&c->limits_max, k);

                if (*limit <= max)
                        continue;
                if (*limit != k->unset)
                        return why_set(ret_why, -EINVAL,
                                       "[Limits] %s= is above Max%s=: what a job gets must be "
                                       "something that it may ask for",
                                       k->class_key, k->class_key);
                *limit = max;
        }
        return 0;
}

/* The same for GPUs. */
static int class_fit_gpus(const struct sg_class *c, char **ret_why)
{
        const struct sg_class_gpus *g = &c->gpus;

        if (g->given.max > g->max)
                return why_set(ret_why, -EINVAL,
                               "[Limits] Gpus= is above MaxGpus=: what a job gets must be "
                               "something that it may ask for");
        if (g->given.min > 0 && g->given.share < SG_GPU_WHOLE &&
            g->given.memory_bytes == SG_UNLIMITED)
                return why_set(ret_why, -EINVAL,
                               "[Limits] Gpus= is a part of a GPU, which needs its memory said: "
                               "give GpuMemory= as well");
        if (g->match == SG_GPU_MATCH_NO && g->given.min > 0)
                return why_set(ret_why, -EINVAL,
                               "[Match] Gpu=no is for jobs without GPUs, to which [Limits] Gpus= "
                               "would give some");
        return 0;
}

static int class_check(const struct sg_settings *s, const struct sg_class *c, char **ret_why)
{
        const struct sg_class *other;

        if (c->name[0] == '\0')
                return why_set(ret_why, -EINVAL,
                               "[Class] Name= is missing: a policy file makes one class");
        if (strcmp(c->name, "default") == 0 &&
            (c->match_user || c->match_group || c->match_command || c->gpus.match))
                return why_set(ret_why, -EINVAL,
                               "[Match] isn't for the class \"default\": it gets what no other "
                               "class matches");
        other = sg_settings_class(s, c->name);
        if (other && other->file)
                return why_set(ret_why, -EINVAL,
                               "[Class] Name=%s is already made by %s: give it another name or "
                               "mask one file with a link to /dev/null",
                               c->name, other->file);
        return 0;
}

/* Moves the contents of *c: a file's "default" replaces the built-in one, others go behind. */
static int class_store(struct sg_settings *s, struct sg_class *c)
{
        struct sg_class *grown;

        if (strcmp(c->name, "default") == 0) {
                class_deinit(classes_of(s));
                *classes_of(s) = *c;
                return 0;
        }
        grown = realloc(classes_of(s), (s->n_classes + 1) * sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        grown[s->n_classes++] = *c;
        s->classes = grown;
        return 0;
}

int sg_settings_class_end(struct sg_settings *s, struct sg_class *c, char **ret_why)
{
        _cleanup_(sg_class_freep) struct sg_class *owned = c;
        int r;

        r = class_check(s, c, ret_why);
        if (r < 0)
                return r;
        r = class_fit_limits(c, ret_why);
        if (r >= 0)
                r = class_fit_gpus(c, ret_why);
        if (r >= 0)
                r = sg_share_settings_check(&c->share, ret_why);
        if (r < 0)
                return r;
        /* as systemd's "auto": naming devices closes the rest */
        if (c->n_devices > 0)
                c->device_closed = true;
        r = class_store(s, c);
        if (r < 0)
                return r;
        free(TAKE_PTR(owned)); /* the contents live on in s->classes */
        return 0;
}
