/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See request.h. */

#include "ctl/ask/request.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

static int append_u32(sd_bus_message *m, const char *key, uint64_t v)
{
        return sd_bus_message_append(m, "{sv}", key, "u", (uint32_t)v);
}

static int append_option(sd_bus_message *m, const struct sg_invocation *inv,
                         const struct sg_option *o)
{
        const void *at = (const char *)inv + o->offset;
        const uint64_t *n = at;
        int r;

        switch (o->type) {
        case SG_OPTION_FLAG:
                return sd_bus_message_append(m, "{sv}", o->key, "b", *(const bool *)at);
        case SG_OPTION_STRING:
        case SG_OPTION_NAME:
        case SG_OPTION_GPUS:
        case SG_OPTION_ARRAY:
        case SG_OPTION_AFTER:
                return sd_bus_message_append(m, "{sv}", o->key, "s", *(const char *const *)at);
        case SG_OPTION_COUNT:
                return append_u32(m, o->key, *n);
        case SG_OPTION_PRIORITY:
                return sd_bus_message_append(m, "{sv}", o->key, "i",
                                             (int32_t) * (const int64_t *)at);
        case SG_OPTION_NUMBER:
        case SG_OPTION_STEPS:
        case SG_OPTION_WEIGHT:
        case SG_OPTION_BYTES:
        case SG_OPTION_USEC:
        case SG_OPTION_PERCENT:
        case SG_OPTION_TIME:
        case SG_OPTION_DUE:
        case SG_OPTION_PAST:
                return sd_bus_message_append(m, "{sv}", o->key, "t", *n);
        case SG_OPTION_CPUS:
                r = append_u32(m, "cpus", n[0]);
                return r >= 0 && n[1] != n[0] ? append_u32(m, "cpus_max", n[1]) : r;
        case SG_OPTION_PART:
        case SG_OPTION_ENV:
                break; /* goes with the environment, or nowhere */
        }
        return -EINVAL;
}

static int append_given(sd_bus_message *m, const struct sg_invocation *inv)
{
        for (size_t i = 0; i < sg_n_options; i++) {
                int r;

                if (!sg_options[i].key || !sg_option_given(inv, i))
                        continue;
                r = append_option(m, inv, &sg_options[i]);
                if (r < 0)
                        return r;
        }
        return 0;
}

static int make_absolute(const char *dir, const char *path, char **ret)
{
        if (*path == '/')
                *ret = strdup(path);
        else if (asprintf(ret, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, path) < 0)
                *ret = NULL;
        return *ret ? 0 : -ENOMEM;
}

/* Of the job, absolute. */
static int find_workdir(const struct sg_invocation *inv, const struct sg_kept *kept, char **ret,
                        struct sg_error *e)
{
        _cleanup_free_ char *cwd = NULL;

        if (!inv->workdir && kept && kept->workdir)
                return make_absolute("/", kept->workdir, ret);
        if (inv->workdir && *inv->workdir == '/')
                return make_absolute("/", inv->workdir, ret);
        cwd = getcwd(NULL, 0);
        if (!cwd)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, "give an absolute --workdir",
                                    "cannot determine the working directory: %s", strerror(errno));
        return make_absolute(cwd, inv->workdir ? inv->workdir : cwd, ret);
}

static int append_path(sd_bus_message *m, const char *key, const char *workdir, const char *path)
{
        _cleanup_free_ char *absolute = NULL;
        int r;

        if (!path)
                return 0;
        r = make_absolute(workdir, path, &absolute);
        return r < 0 ? r : sd_bus_message_append(m, "{sv}", key, "s", absolute);
}

/* cpus_max comes with --cpus, array_last with --array. */
static bool is_key_of(const struct sg_option *o, const char *key)
{
        size_t n = o->key ? strlen(o->key) : 0;

        if (n == 0 || strncmp(o->key, key, n) != 0)
                return false;
        return key[n] == '\0' ||
               (key[n] == '_' && (o->type == SG_OPTION_CPUS || o->type == SG_OPTION_ARRAY));
}

static bool is_given(const struct sg_invocation *inv, const char *key)
{
        if (strcmp(key, "workdir") == 0 || (strcmp(key, "output") == 0 && inv->output) ||
            (strcmp(key, "error") == 0 && inv->error))
                return true;
        for (size_t i = 0; i < sg_n_options; i++)
                if (sg_option_given(inv, i) && is_key_of(&sg_options[i], key))
                        return true;
        return false;
}

static int copy_option(sd_bus_message *m, const char *key, sd_bus_message *from)
{
        int r = sd_bus_message_open_container(m, 'e', "sv");

        if (r >= 0)
                r = sd_bus_message_append_basic(m, 's', key);
        if (r >= 0)
                r = sd_bus_message_copy(m, from, false);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_kept(sd_bus_message *m, const struct sg_invocation *inv,
                       const struct sg_kept *kept)
{
        sd_bus_message *from = kept->reply;
        const char *key;
        int r = sg_kept_enter_options(kept);

        while (r >= 0 && (r = sd_bus_message_enter_container(from, 'e', "sv")) > 0) {
                r = sd_bus_message_read_basic(from, 's', &key);
                if (r < 0)
                        return r;
                r = is_given(inv, key) ? sd_bus_message_skip(from, "v") : copy_option(m, key, from);
                if (r >= 0)
                        r = sd_bus_message_exit_container(from);
        }
        return r;
}

static mode_t get_umask(void)
{
        mode_t mask = umask(077);

        (void)umask(mask);
        return mask;
}

int sg_request_append_job(sd_bus_message *m, const struct sg_invocation *inv,
                          const struct sg_kept *kept, const char *token, struct sg_error *e)
{
        _cleanup_free_ char *workdir = NULL;
        int r;

        r = find_workdir(inv, kept, &workdir, e);
        if (r < 0)
                return r;
        r = sd_bus_message_open_container(m, 'a', "{sv}");
        if (r >= 0)
                r = append_given(m, inv);
        if (r >= 0 && kept)
                r = append_kept(m, inv, kept);
        if (r >= 0)
                r = append_path(m, "workdir", workdir, workdir);
        if (r >= 0)
                r = append_path(m, "output", workdir, inv->output);
        if (r >= 0)
                r = append_path(m, "error", workdir, inv->error);
        if (r >= 0)
                r = append_u32(m, "umask", get_umask());
        if (r >= 0 && token)
                r = sd_bus_message_append(m, "{sv}", "token", "s", token);
        if (r >= 0 && !token && inv->verb == SG_VERB_RUN)
                r = sd_bus_message_append(m, "{sv}", "foreground", "b", true);
        if (r >= 0)
                r = sd_bus_message_close_container(m);
        return r < 0 ? sg_error_errno(e, r, "cannot make the request") : 0;
}

int sg_request_append_changes(sd_bus_message *m, const struct sg_invocation *inv)
{
        int r = sd_bus_message_open_container(m, 'a', "{sv}");

        if (r >= 0)
                r = append_given(m, inv);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_selection(sd_bus_message *m, const struct sg_selection *s)
{
        int r = 0;

        if (s->own)
                r = sd_bus_message_append(m, "{sv}", "own", "b", true);
        if (r >= 0 && s->newest)
                r = sd_bus_message_append(m, "{sv}", "newest", "b", true);
        if (r >= 0 && s->name)
                r = sd_bus_message_append(m, "{sv}", "name", "s", s->name);
        if (r >= 0 && s->array > 0)
                r = sd_bus_message_append(m, "{sv}", "array", "t", s->array);
        return r;
}

int sg_request_append_filter(sd_bus_message *m, const struct sg_invocation *inv, const char *flag,
                             const struct sg_selection *selection, uint64_t limit)
{
        int r = sd_bus_message_open_container(m, 'a', "{sv}");

        if (r >= 0 && inv)
                r = append_given(m, inv);
        if (r >= 0 && flag)
                r = sd_bus_message_append(m, "{sv}", flag, "b", true);
        if (r >= 0)
                r = append_selection(m, selection);
        if (r >= 0)
                r = sd_bus_message_append(m, "{sv}", "limit", "t", limit);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

int sg_request_token(char buf[SG_REQUEST_TOKEN_SIZE])
{
        static const char hex[] = "0123456789abcdef";
        unsigned char random[16];

        if (getrandom(random, sizeof(random), 0) != sizeof(random))
                return -errno;
        for (size_t i = 0; i < sizeof(random); i++) {
                buf[2 * i] = hex[random[i] >> 4];
                buf[2 * i + 1] = hex[random[i] & 15];
        }
        buf[2 * sizeof(random)] = '\0';
        return 0;
}
