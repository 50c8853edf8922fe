/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The command of a request: what is to be run goes into the spec as it came, byte for byte; what is
 * shown of it is made printable. */
#include "core/job/command.h"
#include "api/internal.h"
#include "base/cleanup.h"
#include "core/ask/kept.h"
#include "proto/job-env.h"
#include "proto/spec.h"
#include <errno.h>
#include <string.h>

/* A block is strings, each with its NUL. */
static void put_block(struct sg_record *r, uint16_t tag, struct sg_bytes block)
{
        for (const char *p = block.data; p < block.data + block.size; p += strlen(p) + 1)
                sg_record_put_str(r, tag, p);
}

/* A job may submit others, not only by schedctl. */
static int put_environment(struct sg_record *r, struct sg_bytes block)
{
        const char *end = block.data + block.size;
        _cleanup_free_ const char **env = NULL;
        _cleanup_free_ char *preload = NULL;
        size_t n = 0;
        int left;

        for (const char *p = block.data; p < end; p += strlen(p) + 1)
                n++;
        env = malloc((n + 1) * sizeof(*env));
        if (!env)
                return -ENOMEM;
        n = 0;
        for (const char *p = block.data; p < end; p += strlen(p) + 1)
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

/* size 0: it is a script */
static int show_command(struct sg_submission *s, struct sg_bytes argv)
{
        struct sg_job *j = &s->request.job;

        default_name(j, argv.data, argv.size == 0);
        s->command = argv.size == 0 ? strdup("script") : sg_command_join(argv.data, argv.size);
        j->command = s->command ? sg_command_show(s->command) : NULL;
        return j->command ? 0 : -ENOMEM;
}

int sg_submission_take_command(struct sg_submission *s)
{
        const struct sg_request *q = &s->request;
        int r;

        put_block(&s->spec, SG_SPEC_ARG, q->argv);
        r = put_environment(&s->spec, q->environment);
        if (r < 0)
                return r;
        if (q->script.size > 0)
                sg_record_put(&s->spec, SG_SPEC_SCRIPT, q->script.data, q->script.size);
        sg_kept_put(q, &s->spec);
        return show_command(s, q->script.size > 0 ? (struct sg_bytes){0} : q->argv);
}
