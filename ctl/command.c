/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See command.h. The bus carries strings as UTF-8 only, so what isn't is found here, where its
 * place can be named. */

#include "ctl/command.h"
#include "base/cleanup.h"
#include "ctl/output.h"
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
        cmd->script = TAKE_PTR(buf);
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
        size_t n = 0, used = 0, skipped = 0;

        while (environ && environ[n])
                n++;
        cmd->env = calloc(n + inv->n_env + 1, sizeof(*cmd->env));
        if (!cmd->env)
                return -ENOMEM;
        for (size_t i = 0; i < n; i++) {
                if (overridden(inv, environ[i], 0))
                        continue;
                if (strchr(environ[i], '=') && sg_utf8_is_valid(environ[i], strlen(environ[i])))
                        cmd->env[used++] = environ[i];
                else
                        skipped++;
        }
        for (size_t i = 0; i < inv->n_env; i++)
                if (!overridden(inv, inv->env[i], i + 1))
                        cmd->env[used++] = inv->env[i];
        if (skipped > 0)
                sg_warn("%zu variables of the environment are not UTF-8 and stay behind", skipped);
        return 0;
}

static int check(const struct sg_command *cmd, const struct sg_invocation *inv, struct sg_error *e)
{
        size_t total = cmd->script_size;

        for (size_t i = 0; cmd->argv[i]; i++) {
                size_t len = strlen(cmd->argv[i]);

                if (!sg_utf8_is_valid(cmd->argv[i], len))
                        return sg_error_set(
                                e, SG_EXIT_OWN_FAILURE, NULL,
                                "write the command into a script: schedctl submit <FILE",
                                "word %zu of the command is not UTF-8", i + 1);
                total += len + 1;
        }
        for (size_t i = 0; i < inv->n_env; i++)
                if (!sg_utf8_is_valid(inv->env[i], strlen(inv->env[i])))
                        return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--env", NULL,
                                            "--env '%s' is not UTF-8", inv->env[i]);
        for (size_t i = 0; cmd->env[i]; i++)
                total += strlen(cmd->env[i]) + 1;
        if (total > SG_SPEC_MAX)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, NULL, "put them into a file",
                                    "the command and its environment are longer than 8 MiB");
        return 0;
}

int sg_command_init(struct sg_command *cmd, const struct sg_invocation *inv, struct sg_error *e)
{
        bool dash =
                inv->n_args > 0 && strcmp(inv->args[0], "-") == 0 && inv->verb == SG_VERB_SUBMIT;
        int r = 0;

        cmd->argv = inv->args + (dash ? 1 : 0);
        if (inv->n_args == 0 || dash)
                r = read_script(cmd, inv, e);
        if (r >= 0)
                r = fill_environment(cmd, inv);
        return r < 0 ? r : check(cmd, inv, e);
}

void sg_command_deinit(struct sg_command *cmd)
{
        free(cmd->script);
        free(cmd->env);
        *cmd = (struct sg_command){0};
}

int sg_command_append(const struct sg_command *cmd, sd_bus_message *m)
{
        int r;

        r = sd_bus_message_append_strv(m, cmd->argv);
        if (r >= 0)
                r = sd_bus_message_append_array(m, 'y', cmd->script, cmd->script_size);
        if (r >= 0)
                r = sd_bus_message_append_strv(m, (char **)cmd->env);
        return r;
}
