/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a job executes is to have us, too, but only what can: the dynamic linker writes a line to
 * stderr otherwise. So we take ourselves out of LD_PRELOAD at the beginning, and put ourselves
 * back, behind what is there then, for each program that fits. What is executed by other ways than
 * these functions (system(3), programs of Go) runs without us.
 *
 * Between vfork(2) and execve(2) all memory is the parent's, and other threads may hold any lock:
 * all that is needed is on the stack, which is bounded. An environment that is larger stays as it
 * is.
 */
#include "omp/omp-internal.h"
#include "proto/preload.h"

#include <dlfcn.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "libschedgov-omp.so"
#define VARIABLE "LD_PRELOAD="
#define REQUIRED "SCHEDGOV_ALLOCATION=" /* without it we do nothing */
#define ENTRIES_MAX 768
#define LINE_MAX_HERE 1024

typedef int spawn_fn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes, char *const argv[], char *const envp[]);

static struct sg_preload preload; /* no library: nothing is put back */

/* Those behind us. Looked up beforehand, since that takes locks. */
static struct {
        int (*execve)(const char *path, char *const argv[], char *const envp[]);
        int (*execvpe)(const char *name, char *const argv[], char *const envp[]);
        int (*fexecve)(int fd, char *const argv[], char *const envp[]);
        spawn_fn *posix_spawn, *posix_spawnp;
} real;

/* --- LD_PRELOAD --- */

static const char *value_of(const char *assignment, const char *variable)
{
        size_t n = strlen(variable);

        return strncmp(assignment, variable, n) == 0 ? assignment + n : NULL;
}

/* Its words are parted by colons and blanks. */
static size_t word_length(const char *s)
{
        return strcspn(s, ": ");
}

static bool names_us(const char *word, size_t n)
{
        const size_t size = sizeof(FILE_NAME) - 1;

        return n >= size && memcmp(word + n - size, FILE_NAME, size) == 0 &&
               (n == size || word[n - size - 1] == '/');
}

/* The first word that is us, or NULL. */
static char *find_us(const char *words)
{
        size_t n;

        for (const char *s = words; *s; s += n + (s[n] != '\0')) {
                n = word_length(s);
                if (names_us(s, n))
                        return (char *)s;
        }
        return NULL;
}

/* With what parts it from its neighbour. */
static void cut_out(char *words, char *word)
{
        char *end = word + word_length(word);

        if (*end)
                end++;
        else if (word > words)
                word--;
        memmove(word, end, strlen(end) + 1);
}

/* In place: whoever runs before us may have kept what main() is going to be called with. */
static bool take_out(char **env)
{
        bool found = false;
        char **left = env;

        for (; *env; env++) {
                char *words = (char *)value_of(*env, VARIABLE), *word;

                while (words && (word = find_us(words))) {
                        cut_out(words, word);
                        found = true;
                }
                if (!words || *words || !found)
                        *left++ = *env;
        }
        *left = NULL;
        return found;
}

static void find_real(void)
{
        *(void **)&real.execvpe = dlsym(RTLD_NEXT, "execvpe");
        *(void **)&real.fexecve = dlsym(RTLD_NEXT, "fexecve");
        *(void **)&real.posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
        *(void **)&real.posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
        *(void **)&real.execve = dlsym(RTLD_NEXT, "execve");
}

/* Another library's constructor may run before ours, and execute something. */
static void need_real(void)
{
        if (!real.execve)
                find_real();
}

void sgo_exec_begin(void)
{
        static char library[LINE_MAX_HERE / 2];
        Dl_info us;

        find_real();
        if (!environ || !take_out(environ) || !dladdr(&preload, &us) || us.dli_fname[0] != '/' ||
            strlen(us.dli_fname) >= sizeof(library))
                return;
        (void)strcpy(library, us.dli_fname);
        (void)sg_preload_init(&preload, library, SG_LOADER);
}

/* --- the environment of what is executed --- */

struct environment {
        char *entries[ENTRIES_MAX + 2];
        char line[LINE_MAX_HERE];
};

/* Where we are to stand, or where the environment ends; NULL: it isn't for us, or already has us.
 */
static char *const *place_in(char *const envp[])
{
        char *const *place = NULL, *const * e;
        bool in_job = false;

        for (e = envp; e && *e; e++) {
                if (value_of(*e, REQUIRED))
                        in_job = true;
                else if (!place && value_of(*e, VARIABLE))
                        place = e;
        }
        if (!in_job || e - envp > ENTRIES_MAX)
                return NULL;
        if (place && find_us(value_of(*place, VARIABLE)))
                return NULL;
        return place ? place : e;
}

/* envp, or one on the stack that has us, too. */
static char *const *with_us(struct environment *new, char *const envp[], char *const *place)
{
        const char *words = *place ? value_of(*place, VARIABLE) : "";
        size_t n = strlen(words), own = strlen(preload.library);
        size_t count = (size_t)(place - envp);
        char *end = new->line;

        if (sizeof(VARIABLE) + n + 1 + own > sizeof(new->line))
                return envp;
        end = mempcpy(end, VARIABLE, sizeof(VARIABLE) - 1);
        end = mempcpy(end, words, n);
        if (n > 0)
                *end++ = ':';
        memcpy(end, preload.library, own + 1);

        memcpy(new->entries, envp, count * sizeof(*envp));
        new->entries[count++] = new->line;
        for (char *const *e = *place ? place + 1 : place; *e; e++)
                new->entries[count++] = *e;
        new->entries[count] = NULL;
        return new->entries;
}

/* --- the functions --- */

/* Sets `env` to what the program is given; a macro, as its body needs this function's stack. */
#define GIVE(env, envp, fits)                                                                      \
        struct environment new_environment;                                                        \
        new_environment.entries[0] = NULL;                                                         \
        char *const *place_of_us = preload.library ? place_in(envp) : NULL;                        \
        char *const *env =                                                                         \
                place_of_us && (fits) ? with_us(&new_environment, envp, place_of_us) : (envp)

static const char *search_path(void)
{
        const char *found = NULL;

        for (char **e = environ; e && *e && !found; e++)
                found = value_of(*e, "PATH=");
        return found;
}

SGO_API int execve(const char *path, char *const argv[], char *const envp[])
{
        GIVE(env, envp, sg_preload_fits(&preload, path));

        need_real();
        return real.execve(path, argv, env);
}

SGO_API int execv(const char *path, char *const argv[])
{
        return execve(path, argv, environ);
}

SGO_API int execvpe(const char *name, char *const argv[], char *const envp[])
{
        GIVE(env, envp, sg_preload_fits_name(&preload, name, search_path()));

        need_real();
        return real.execvpe(name, argv, env);
}

SGO_API int execvp(const char *name, char *const argv[])
{
        return execvpe(name, argv, environ);
}

SGO_API int fexecve(int fd, char *const argv[], char *const envp[])
{
        GIVE(env, envp, sg_preload_fits_fd(&preload, fd));

        need_real();
        return real.fexecve(fd, argv, env);
}

/* What file actions do to the working directory isn't known. */
static bool is_sure(const char *path, const posix_spawn_file_actions_t *actions)
{
        return path[0] == '/' || !actions;
}

SGO_API int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
        GIVE(env, envp, is_sure(path, actions) && sg_preload_fits(&preload, path));

        need_real();
        return real.posix_spawn(pid, path, actions, attributes, argv, env);
}

SGO_API int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const argv[],
                         char *const envp[])
{
        GIVE(env, envp,
             (!strchr(name, '/') || is_sure(name, actions)) &&
                     sg_preload_fits_name(&preload, name, search_path()));

        need_real();
        return real.posix_spawnp(pid, name, actions, attributes, argv, env);
}

/* --- those with their arguments in a row, as many as the caller has --- */

#define COLLECT(argv, first, ap)                                                                   \
        va_list ap, counting;                                                                      \
        size_t n_arguments = 1, next = 1;                                                          \
        va_start(ap, first);                                                                       \
        va_copy(counting, ap);                                                                     \
        for (const char *a = first; a; a = va_arg(counting, char *))                               \
                n_arguments++;                                                                     \
        va_end(counting);                                                                          \
        char **argv = __builtin_alloca(n_arguments * sizeof(*argv));                               \
        argv[0] = (char *)first;                                                                   \
        for (; next < n_arguments; next++)                                                         \
        argv[next] = va_arg(ap, char *)

SGO_API int execl(const char *path, const char *first, ...)
{
        COLLECT(argv, first, ap);

        va_end(ap);
        return execv(path, argv);
}

SGO_API int execlp(const char *name, const char *first, ...)
{
        COLLECT(argv, first, ap);

        va_end(ap);
        return execvp(name, argv);
}

SGO_API int execle(const char *path, const char *first, ...)
{
        COLLECT(argv, first, ap);
        char *const *envp = va_arg(ap, char *const *);

        va_end(ap);
        return execve(path, argv, envp);
}
