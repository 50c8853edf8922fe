/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Says whether libschedgov-omp.so is loaded, and what is in LD_PRELOAD: "1 -". With a way and a
 * program it executes that by that way instead; with two, both of them, one by the other.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int is_loaded(void)
{
        char line[4096];
        int found = 0;
        FILE *f = fopen("/proc/self/maps", "re");

        while (f && fgets(line, sizeof(line), f))
                found |= strstr(line, "/libschedgov-omp.so") != NULL;
        if (f)
                (void)fclose(f);
        return found;
}

static int wait_for(pid_t pid)
{
        int status = -1;

        return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* What main() shares with its child is as it was. */
static int by_vfork(char **argv)
{
        char **before = environ;
        pid_t pid = vfork();

        if (pid == 0) {
                (void)execve(argv[0], argv, environ);
                _exit(127);
        }
        return wait_for(pid) == 0 && environ == before && !getenv("LD_PRELOAD") ? 0 : 1;
}

static int by_spawn(char **argv, int search)
{
        pid_t pid;
        int r = search ? posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ)
                       : posix_spawn(&pid, argv[0], NULL, NULL, argv, environ);

        return r == 0 ? wait_for(pid) : 1;
}

static char **large_environment(void)
{
        enum { MANY = 5000 };
        static char *large[MANY + 1];
        size_t n = 0;

        for (char **e = environ; *e; e++)
                large[n++] = *e;
        while (n < MANY)
                large[n++] = (char *)"X=1";
        return large;
}

static int execute(const char *way, char **argv)
{
        const char *program = argv[0], *second = argv[1], *third = second ? argv[2] : NULL;

        if (strcmp(way, "execve") == 0)
                (void)execve(program, argv, environ);
        else if (strcmp(way, "execv") == 0)
                (void)execv(program, argv);
        else if (strcmp(way, "execvp") == 0)
                (void)execvp(program, argv);
        else if (strcmp(way, "execvpe") == 0)
                (void)execvpe(program, argv, environ);
        else if (strcmp(way, "execl") == 0)
                (void)execl(program, program, second, third, NULL);
        else if (strcmp(way, "execlp") == 0)
                (void)execlp(program, program, second, third, NULL);
        else if (strcmp(way, "execle") == 0 && second)
                (void)execle(program, program, second, third, NULL, environ);
        else if (strcmp(way, "execle") == 0)
                (void)execle(program, program, NULL, environ);
        else if (strcmp(way, "fexecve") == 0)
                (void)fexecve(open(program, O_RDONLY), argv, environ);
        else if (strcmp(way, "large") == 0)
                (void)execve(program, argv, large_environment());
        else if (strcmp(way, "vfork") == 0)
                return by_vfork(argv);
        else if (strcmp(way, "posix_spawn") == 0 || strcmp(way, "posix_spawnp") == 0)
                return by_spawn(argv, way[11] == 'p');
        return 1;
}

int main(int argc, char **argv)
{
        const char *preload = getenv("LD_PRELOAD");

        if (argc > 2)
                return execute(argv[1], argv + 2);
        (void)printf("%d %s\n", is_loaded(), preload ? preload : "-");
        return 0;
}
