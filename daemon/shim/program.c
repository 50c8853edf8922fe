/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Environment, PATH look-up and exec. */

#include "shim/program.h"
#include "base/cleanup.h"
#include "proto/job-env.h"
#include "proto/search.h"
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static size_t count(char *const *strings)
{
        size_t n = 0;

        while (strings && strings[n])
                n++;
        return n;
}

/* The index of the variable that `assignment` sets, or n. */
static size_t find(char *const *env, size_t n, const char *assignment)
{
        size_t length = strcspn(assignment, "="), i;

        for (i = 0; i < n; i++)
                if (strncmp(env[i], assignment, length) == 0 && env[i][length] == '=')
                        break;
        return i;
}

int sg_program_env(char *const *env, char *const *force, char *const *defaults, char ***ret)
{
        size_t n = count(env), at;
        char **merged = malloc((n + count(force) + count(defaults) + 1) * sizeof(char *));

        if (!merged)
                return -ENOMEM;
        if (n > 0)
                memcpy(merged, env, n * sizeof(char *));
        for (; force && *force; force++) {
                at = find(merged, n, *force);
                merged[at] = *force;
                n += at == n;
        }
        for (; defaults && *defaults; defaults++) {
                at = find(merged, n, *defaults);
                if (at == n && !sg_job_env_is_decided(env, *defaults))
                        merged[n++] = *defaults;
        }
        merged[n] = NULL;
        *ret = merged;
        return 0;
}

void sg_program_put_env(char ***env, char *assignment)
{
        char *const force[] = {assignment, NULL};
        char **with;

        if (sg_program_env(*env, force, NULL, &with) < 0)
                return;
        free(*env);
        *env = with;
}

int sg_program_exec_with(const char *interpreter, const char *argument, const char *path,
                         char *const *args, char *const *env)
{
        size_t n = count(args), at = 0;
        _cleanup_free_ const char **argv = malloc((n + 4) * sizeof(char *));

        if (!argv)
                return -ENOMEM;
        argv[at++] = interpreter;
        if (*argument)
                argv[at++] = argument;
        argv[at++] = path;
        for (size_t i = 0; i < n; i++)
                argv[at++] = args[i];
        argv[at] = NULL;
        execve(interpreter, (char *const *)argv, env);
        return -errno;
}

/* What the kernel doesn't recognise is a shell script without its #! line. */
static int exec_file(const char *path, char *const *argv, char *const *env)
{
        execve(path, argv, env);
        if (errno == ENOEXEC)
                return sg_program_exec_with(SG_PROGRAM_SHELL, "", path, argv + 1, env);
        return -errno;
}

const char *sg_program_getenv(char *const *env, const char *name)
{
        size_t n = count(env), at = find(env, n, name);

        return at < n ? env[at] + strlen(name) + 1 : NULL;
}

/* Errors that mean "not in this directory": the search goes on. */
static bool is_elsewhere(int r)
{
        return r == -ENOENT || r == -ENOTDIR || r == -ESTALE || r == -ENODEV || r == -ETIMEDOUT ||
               r == -ENAMETOOLONG;
}

int sg_program_exec(char *const *argv, char *const *env)
{
        const char *name = argv[0], *dirs = sg_search_dirs(env);
        bool denied = false;
        char path[PATH_MAX];
        int r;

        if (*name == '\0')
                return -ENOENT;
        if (strchr(name, '/'))
                return exec_file(name, argv, env);
        while (dirs) {
                dirs = sg_search_next(dirs, name, path);
                if (!path[0])
                        continue;
                r = exec_file(path, argv, env);
                if (r == -EACCES) /* by the file; in a directory that isn't ours it may not be */
                        denied |= access(path, F_OK) == 0;
                else if (!is_elsewhere(r))
                        return r;
        }
        return denied ? -EACCES : -ENOENT;
}

int sg_program_exec_file(const char *path, char *const *args, char *const *env)
{
        size_t n = count(args);
        _cleanup_free_ const char **argv = malloc((n + 2) * sizeof(char *));

        if (!argv)
                return -ENOMEM;
        argv[0] = path;
        if (n > 0)
                memcpy(argv + 1, args, n * sizeof(char *));
        argv[n + 1] = NULL;
        return exec_file(path, (char *const *)argv, env);
}
