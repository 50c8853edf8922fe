/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An OpenMP program that knows nothing of any governor: a command a line on stdin, an answer a line
 * on stdout, which is how many threads each region had. Built by each compiler that there is.
 */
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOP 64

static double now(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int plain(void)
{
        int n = 0;

#pragma omp parallel
#pragma omp atomic
        n++;
        return n;
}

/* A loop's threads are those that the region has, whatever they got to do. */
#define LOOPS(name, how)                                                                           \
        static int name(void)                                                                      \
        {                                                                                          \
                int n = 0, done = 0;                                                               \
                _Pragma(how) for (int i = 0; i < LOOP; i++)                                        \
                {                                                                                  \
                        if (i == 0)                                                                \
                                n = omp_get_num_threads();                                         \
                        _Pragma("omp atomic") done++;                                              \
                }                                                                                  \
                return done == LOOP ? n : -1;                                                      \
        }

LOOPS(static_loop, "omp parallel for schedule(static)")
LOOPS(dynamic_loop, "omp parallel for schedule(dynamic)")
LOOPS(monotonic_loop, "omp parallel for schedule(monotonic:dynamic)")
LOOPS(guided_loop, "omp parallel for schedule(guided)")
LOOPS(runtime_loop, "omp parallel for schedule(runtime)")

static int sections(void)
{
        int n = 0, done = 0;

#pragma omp parallel sections reduction(+ : done)
        {
#pragma omp section
                {
                        n = omp_get_num_threads();
                        done++;
                }
#pragma omp section
                done++;
        }
        return done == 2 ? n : -1;
}

static int reduction(void)
{
        int n = 0;

#pragma omp parallel reduction(+ : n)
        n += 1;
        return n;
}

static int clause(int threads)
{
        int n = 0;

#pragma omp parallel num_threads(threads)
#pragma omp atomic
        n++;
        return n;
}

static int only_if(int yes)
{
        int n = 0;

#pragma omp parallel if (yes)
#pragma omp atomic
        n++;
        return n;
}

/* A clause in front of a region that isn't one must not be taken for the next one's. */
static int clause_and_if(int threads)
{
        int n = 0;

#pragma omp parallel num_threads(threads) if (threads > 1000)
#pragma omp atomic
        n++;
        return n;
}

/* More arguments than registers hold. */
static int many_shared(void)
{
        int a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8, i = 9, j = 10, n = 0;
        double x = 0.5, y = 0.25;

#pragma omp parallel shared(a, b, c, d, e, f, g, h, i, j, x, y)
        {
                int sum = a + b + c + d + e + f + g + h + i + j;

#pragma omp atomic
                n += sum == 55 && x + y == 0.75;
        }
        return n;
}

/* Threads of all inner regions together. */
static int nested(void)
{
        int n = 0;

        omp_set_max_active_levels(2);
#pragma omp parallel
#pragma omp parallel
#pragma omp atomic
        n++;
        omp_set_max_active_levels(1);
        return n;
}

static void *in_thread(void *arg)
{
        *(int *)arg = plain();
        return NULL;
}

static int thread(void)
{
        pthread_t t;
        int n = -1;

        if (pthread_create(&t, NULL, in_thread, &n) == 0)
                (void)pthread_join(t, NULL);
        return n;
}

/* The child begins with a runtime of its own: it must not have used one before. */
static int in_child(void)
{
        int status;
        pid_t pid = fork();

        if (pid == 0)
                _exit(plain());
        return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Threads of our own region while a child has regions, too: it ends when its end of the pipe does.
 */
static int beside_child(void)
{
        struct pollfd p = {.events = POLLIN};
        int pipes[2], n;
        pid_t pid;

        if (pipe(pipes) < 0)
                return -1;
        pid = fork();
        if (pid == 0) {
                (void)close(pipes[1]);
                p.fd = pipes[0];
                while (poll(&p, 1, 1) == 0)
                        (void)plain();
                _exit(0);
        }
        (void)close(pipes[0]);
        (void)poll(NULL, 0, 100);
        n = plain();
        (void)close(pipes[1]);
        return waitpid(pid, NULL, 0) == pid ? n : -1;
}

/* Nanoseconds per empty region, the least of several rounds. */
static double cost(int regions)
{
        double best = 1e9;

        for (int round = 0; round < 10; round++) {
                double begin = now(), each;

                for (int i = 0; i < regions; i++)
#pragma omp parallel
                        __asm__ volatile(""); /* else there would be no region */
                each = (now() - begin) * 1e9 / regions;
                if (each < best)
                        best = each;
        }
        return best;
}

/* Regions of fixed work until the time is over: how much of it per second. */
static double work(double seconds)
{
        double begin = now(), end = begin + seconds, sum = 0;
        uint64_t done = 0;

        while (now() < end) {
#pragma omp parallel for reduction(+ : sum) schedule(static)
                for (int i = 0; i < 400000; i++)
                        sum += (double)(i ^ (int)done) * 1e-9;
                done++;
        }
        return sum < 0 ? 0 : (double)done / (now() - begin);
}

static int answer(const char *command, int argument)
{
        static const struct {
                const char *name;
                int (*f)(void);
        } simple[] = {
                {"plain", plain},
                {"static", static_loop},
                {"dynamic", dynamic_loop},
                {"guided", guided_loop},
                {"monotonic", monotonic_loop},
                {"runtime", runtime_loop},
                {"sections", sections},
                {"reduction", reduction},
                {"shared", many_shared},
                {"nested", nested},
                {"thread", thread},
                {"child", in_child},
                {"beside", beside_child},
                {"max", omp_get_max_threads},
        };

        for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++)
                if (strcmp(command, simple[i].name) == 0)
                        return simple[i].f();
        if (strcmp(command, "clause") == 0)
                return clause(argument);
        if (strcmp(command, "if") == 0)
                return only_if(argument);
        if (strcmp(command, "clause-if") == 0)
                return clause_and_if(argument);
        if (strcmp(command, "set") == 0)
                omp_set_num_threads(argument);
        return 0;
}

int main(void)
{
        char line[64], command[32];

        while (fgets(line, sizeof(line), stdin)) {
                double argument = 0;

                if (sscanf(line, "%31s %lf", command, &argument) < 1)
                        continue;
                if (strcmp(command, "cost") == 0)
                        (void)printf("%.1f\n", cost((int)argument));
                else if (strcmp(command, "work") == 0)
                        (void)printf("%.3f\n", work(argument));
                else
                        (void)printf("%d\n", answer(command, (int)argument));
                (void)fflush(stdout);
        }
        return 0;
}
