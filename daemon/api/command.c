/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command of a request: what is to be run goes into the spec as it came, byte for byte; what is
 * shown of it is made printable. */
#include "core/job/command.h"
#include "api/internal.h"
#include "base/cleanup.h"
#include "proto/job-env.h"
#include "proto/spec.h"
#include <errno.h>
#include <string.h>

/* A block is strings, each with its NUL, as in /proc/PID/cmdline: argv and environments may hold
 * any byte but that. */
bool sg_block_is_whole(const char *block, size_t size)
{
        return size == 0 || block[size - 1] == 0;
}

static void put_block(struct sg_record *r, uint16_t tag, const char *block, size_t size)
{
        for (const char *p = block; p < block + size; p += strlen(p) + 1)
                sg_record_put_str(r, tag, p);
}

/* A job may submit others, not only by schedctl. */
static int put_environment(struct sg_record *r, const char *block, size_t size)
{
        _cleanup_free_ const char **env = NULL;
        _cleanup_free_ char *preload = NULL;
        size_t n = 0;
        int left;

        for (const char *p = block; p < block + size; p += strlen(p) + 1)
                n++;
        env = malloc((n + 1) * sizeof(*env));
        if (!env)
                return -ENOMEM;
        n = 0;
        for (const char *p = block; p < block + size; p += strlen(p) + 1)
                env[n++] = p;
        env[n] = NULL;
        left = sg_job_env_drop(env, &preload);
        for (int i = 0; i < left; i++)
                sg_record_put_str(r, SG_SPEC_ENV, env[i]);
        return left < 0 ? left : 0;
}

/* Without --name a job is called as its program is. */
static void default_name(struct sg_job *j, const char *argv, bool script)
{
        const char *base;

        if (j->name[0])
                return;
        if (script) {
                strcpy(j->name, "script");
                return;
        }
        base = strrchr(argv, '/');
        (void)snprintf(j->name, sizeof(j->name), "%s", base && base[1] ? base + 1 : argv);
        for (char *p = j->name; *p; p++)
                if ((unsigned char)*p < 0x20 || (unsigned char)*p >= 0x7f)
                        *p = '_';
}

int sg_submission_show_command(struct sg_submission *s, const char *argv, size_t size)
{
        default_name(&s->job, argv, size == 0);
        s->command = size == 0 ? strdup("script") : sg_command_join(argv, size);
        s->job.command = s->command ? sg_command_show(s->command) : NULL;
        return s->job.command ? 0 : -ENOMEM;
}

int sg_submission_read_command(struct sg_submission *s, sd_bus_message *m, sd_bus_error *error)
{
        const void *argv, *script, *env;
        size_t argv_size, script_size, env_size;
        int r;

        r = sd_bus_message_read_array(m, 'y', &argv, &argv_size);
        if (r >= 0)
                r = sd_bus_message_read_array(m, 'y', &script, &script_size);
        if (r >= 0)
                r = sd_bus_message_read_array(m, 'y', &env, &env_size);
        if (r < 0)
                return r;
        if (!sg_block_is_whole(argv, argv_size) || !sg_block_is_whole(env, env_size))
                return sd_bus_error_set(error, SG_ERROR_INVALID,
                                        "command and environment must be NUL-terminated strings");
        if (argv_size == 0 && script_size == 0)
                return sd_bus_error_set(error, SG_ERROR_INVALID, "no command");
        if (script_size == 0 && *(const char *)argv == 0)
                return sd_bus_error_set(error, SG_ERROR_INVALID, "the command's name is empty");
        if (script_size > SG_SCRIPT_MAX)
                return sd_bus_error_set(error, SG_ERROR_INVALID, "the script is longer than 1M");
        if (argv_size + script_size + env_size > SG_SPEC_MAX - 65536)
                return sd_bus_error_set(error, SG_ERROR_INVALID,
                                        "command and environment are longer than 8M");
        put_block(&s->spec, SG_SPEC_ARG, argv, argv_size);
        r = put_environment(&s->spec, env, env_size);
        if (r < 0)
                return r;
        if (script_size > 0)
                sg_record_put(&s->spec, SG_SPEC_SCRIPT, script, script_size);
        return sg_submission_show_command(s, argv, script_size > 0 ? 0 : argv_size);
}
