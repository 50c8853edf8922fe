/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See command.h. The bus carries strings as UTF-8 only: what isn't UTF-8 is found here, where its
 * place can be named. */

#include "ctl/ask/command.h"
#include "base/cleanup.h"
#include "ctl/ask/first-word.h"
#include "proto/job-env.h"
#include <errno.h>
#include <string.h>

static int read_stdin(struct sg_command *cmd, struct sg_error *e)
{
        _cleanup_free_ char *buf = malloc(SG_SCRIPT_MAX + 1);
        size_t size = 0;

        if (!buf)
                return -ENOMEM;
        while (size <= SG_SCRIPT_MAX) {
                ssize_t n = read(STDIN_FILENO, buf + size, SG_SCRIPT_MAX + 1 - size);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return sg_error_errno(e, -errno, "cannot read the script from stdin");
                if (n == 0)
                        break;
                size += (size_t)n;
        }
        if (size == 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL,
                                    "give a command behind --, or a script on stdin",
                                    "the script on stdin is empty");
        if (size > SG_SCRIPT_MAX)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL,
                                    "put it into a file and submit that",
                                    "the script on stdin is longer than 1 MiB");
        cmd->own_script = TAKE_PTR(buf);
        cmd->script = cmd->own_script;
        cmd->script_size = size;
        return 0;
}

static int read_script(struct sg_command *cmd, const struct sg_invocation *inv, struct sg_error *e)
{
        if (inv->verb != SG_VERB_SUBMIT)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, "see schedctl run --help",
                                    "run wants a command");
        if (isatty(STDIN_FILENO) == 1)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL,
                                    "give a command behind --, or a script: schedctl submit <FILE",
                                    "no command, and stdin is a terminal");
        return read_stdin(cmd, e);
}

static bool same_variable(const char *a, const char *b)
{
        size_t len = strcspn(a, "=");

        return strncmp(a, b, len) == 0 && b[len] == '=';
}

static bool overridden(const struct sg_invocation *inv, const char *variable, size_t from)
{
        for (size_t i = from; i < inv->n_env; i++)
                if (same_variable(inv->env[i], variable))
                        return true;
        return false;
}

static int fill_environment(struct sg_command *cmd, const struct sg_invocation *inv)
{
        int r = environ ? sg_job_env_drop((const char **)environ, &cmd->preload) : 0;
        size_t n, used = 0;

        if (r < 0)
                return r;
        n = (size_t)r;
        cmd->env = calloc(n + inv->n_env + 1, sizeof(*cmd->env));
        if (!cmd->env)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++)
                if (strchr(environ[i], '=') && !overridden(inv, environ[i], 0))
                        cmd->env[used++] = environ[i];
        for (size_t i = 0; i < inv->n_env; i++)
                if (!overridden(inv, inv->env[i], i + 1))
                        cmd->env[used++] = inv->env[i];
        return 0;
}

static size_t block_size(const char *const *strings)
{
        size_t size = 0;

        for (; *strings; strings++)
                size += strlen(*strings) + 1;
        return size;
}

static int check_size(const struct sg_command *cmd, struct sg_error *e)
{
        if (block_size((const char *const *)cmd->argv) + block_size(cmd->env) + cmd->script_size <=
            SG_SPEC_MAX)
                return 0;
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, "put them into a file",
                            "the command and its environment are longer than 8 MiB");
}

static int fill_words(struct sg_command *cmd, char *const *words)
{
        size_t n = 0;

        while (words[n])
                n++;
        cmd->argv = calloc(n + 1, sizeof(*cmd->argv));
        if (!cmd->argv)
                return -ENOMEM;
        memcpy(cmd->argv, words, n * sizeof(*words));
        return 0;
}

static int fill_shell(struct sg_command *cmd, const struct sg_invocation *inv, struct sg_error *e)
{
        char *const words[] = {(char *)"/bin/sh", (char *)"-c", (char *)inv->sh, NULL};

        if (inv->n_args > 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--sh",
                                    "write all of it between the quotes of --sh",
                                    "--sh is the whole command; '%s' is too much", inv->args[0]);
        return fill_words(cmd, words);
}

static int fill_command(struct sg_command *cmd, const struct sg_invocation *inv, struct sg_error *e)
{
        bool dash =
                inv->n_args > 0 && strcmp(inv->args[0], "-") == 0 && inv->verb == SG_VERB_SUBMIT;
        int r;

        if (inv->sh)
                return fill_shell(cmd, inv, e);
        r = fill_words(cmd, inv->args + (dash ? 1 : 0));
        if (r < 0)
                return r;
        if (inv->n_args == 0 || dash)
                return read_script(cmd, inv, e);
        r = sg_first_word(inv, cmd->argv, (char *const *)cmd->env, &cmd->program, e);
        if (r >= 0 && cmd->program)
                cmd->argv[0] = cmd->program;
        return r;
}

int sg_command_init(struct sg_command *cmd, const struct sg_invocation *inv, struct sg_error *e)
{
        int r = fill_environment(cmd, inv);

        if (r >= 0)
                r = fill_command(cmd, inv, e);
        return r < 0 ? r : check_size(cmd, e);
}

int sg_command_init_again(struct sg_command *cmd, const struct sg_invocation *inv,
                          const struct sg_kept *kept, struct sg_error *e)
{
        int r = fill_words(cmd, kept->argv);

        if (r < 0)
                return r;
        cmd->kept = kept;
        cmd->script = kept->script;
        cmd->script_size = kept->script_size;
        r = fill_environment(cmd, inv);
        return r < 0 ? r : check_size(cmd, e);
}

void sg_command_deinit(struct sg_command *cmd)
{
        free(cmd->argv);
        free(cmd->program);
        free(cmd->own_script);
        free(cmd->env);
        free(cmd->preload);
        *cmd = (struct sg_command){0};
}

int sg_command_append_block(sd_bus_message *m, const char *const *strings)
{
        size_t size = block_size(strings);
        void *space;
        char *p;
        int r;

        r = sd_bus_message_append_array_space(m, 'y', size, &space);
        if (r < 0)
                return r;
        p = space;
        for (; *strings; strings++)
                p = stpcpy(p, *strings) + 1;
        return 0;
}

int sg_command_append(const struct sg_command *cmd, sd_bus_message *m)
{
        int r;

        r = sg_command_append_block(m, (const char *const *)cmd->argv);
        if (r >= 0)
                r = sd_bus_message_append_array(m, 'y', cmd->script, cmd->script_size);
        if (r >= 0)
                r = sg_command_append_block(m, cmd->env);
        return r;
}
