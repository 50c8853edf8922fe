/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The measuring parts of bench-launch, in C so that the instrument costs less than what it
 * measures. Commands take turns, round by round; "++" is between them.
 *
 *   bench_launch spawn ROUNDS LABEL CMD… [== SETTLE…] [++ …]
 *       process start to exit; then, not measured, SETTLE with what CMD printed
 *   bench_launch start ROUNDS FIFO LABEL CMD… [== SETTLE…] [++ …]
 *       process start to what the job writes to FIFO (workloads/probe.c)
 *   bench_launch load SOCKET CLIENTS JOBS CMD…
 *       submits from CLIENTS connections, one job at a time each
 *
 * Results are lines "LABEL p50_us p99_us".
 */
#include "base/time-util.h"
#include "proto/names.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#define RIVALS_MAX 8

extern char **environ;

struct rival {
        const char *label;
        char **argv;
        char **settle;
        uint64_t *usec;
};

static int compare_u64(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

        return (x > y) - (x < y);
}

/* argv behind the options: LABEL CMD… separated by "++";
 * cut into NULL-terminated lists in place. */
static size_t split(char **argv, struct rival *rivals, size_t rounds)
{
        size_t n = 0;

        while (*argv && n < RIVALS_MAX) {
                rivals[n] = (struct rival){.label = argv[0],
                                           .argv = argv + 1,
                                           .usec = calloc(rounds, sizeof(uint64_t))};
                for (argv++; *argv && strcmp(*argv, "++") != 0; argv++)
                        if (strcmp(*argv, "==") == 0) {
                                *argv = NULL;
                                rivals[n].settle = argv + 1;
                        }
                n++;
                if (*argv)
                        *argv++ = NULL;
        }
        return n;
}

static pid_t start(char **argv, int out)
{
        posix_spawn_file_actions_t files;
        pid_t pid;
        int r;

        (void)posix_spawn_file_actions_init(&files);
        (void)posix_spawn_file_actions_adddup2(&files, out, 1);
        r = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
        (void)posix_spawn_file_actions_destroy(&files);
        if (r != 0) {
                fprintf(stderr, "bench_launch: cannot start %s: %s\n", argv[0], strerror(r));
                exit(1);
        }
        return pid;
}

static void finish(pid_t pid, const char *label)
{
        int status;

        if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
                fprintf(stderr, "bench_launch: %s failed\n", label);
                exit(1);
        }
}

static void print(const struct rival *rivals, size_t n, size_t rounds)
{
        for (size_t i = 0; i < n; i++) {
                qsort(rivals[i].usec, rounds, sizeof(uint64_t), compare_u64);
                printf("%s %" PRIu64 " %" PRIu64 "\n", rivals[i].label, rivals[i].usec[rounds / 2],
                       rivals[i].usec[rounds * 99 / 100]);
        }
}

/* SETTLE… and, behind it, the line that the measured command printed. */
static void settle(const struct rival *r, int fd)
{
        char line[256], *argv[16];
        ssize_t size = read(fd, line, sizeof(line) - 1);
        size_t n = 0;

        if (!r->settle || size <= 0)
                return;
        line[size] = 0;
        line[strcspn(line, "\n")] = 0;
        while (r->settle[n] && n < 14) {
                argv[n] = r->settle[n];
                n++;
        }
        argv[n++] = line;
        argv[n] = NULL;
        finish(start(argv, 2), r->label);
}

static int spawn_mode(size_t rounds, char **argv)
{
        struct rival rivals[RIVALS_MAX];
        size_t n = split(argv, rivals, rounds);
        int out[2];

        if (pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0)
                return 1;
        for (size_t round = 0; round < rounds; round++)
                for (size_t i = 0; i < n; i++) {
                        uint64_t t = sg_now_monotonic_usec();

                        finish(start(rivals[i].argv, out[1]), rivals[i].label);
                        rivals[i].usec[round] = sg_now_monotonic_usec() - t;
                        settle(&rivals[i], out[0]);
                }
        print(rivals, n, rounds);
        return 0;
}

static int start_mode(size_t rounds, const char *fifo, char **argv)
{
        struct rival rivals[RIVALS_MAX];
        size_t n = split(argv, rivals, rounds);
        int fd = open(fifo, O_RDWR | O_CLOEXEC), out[2];

        if (fd < 0 || pipe2(out, O_CLOEXEC | O_NONBLOCK) < 0) {
                perror(fifo);
                return 1;
        }
        for (size_t round = 0; round < rounds; round++)
                for (size_t i = 0; i < n; i++) {
                        uint64_t t = sg_now_monotonic_usec(), stamp;
                        pid_t pid = start(rivals[i].argv, out[1]);

                        if (read(fd, &stamp, sizeof(stamp)) != sizeof(stamp))
                                return 1;
                        finish(pid, rivals[i].label);
                        rivals[i].usec[round] = stamp - t;
                        settle(&rivals[i], out[0]);
                }
        print(rivals, n, rounds);
        return 0;
}

static int submit_one(sd_bus *bus, const char *argv, size_t argv_size, const char *env,
                      size_t env_size)
{
        sd_bus_message *m = NULL, *reply = NULL;
        sd_bus_error error = SD_BUS_ERROR_NULL;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, NULL, SG_BUS_PATH, SG_BUS_MANAGER, "Submit");
        if (r >= 0)
                r = sd_bus_message_append(m, "a{sv}", 1, "workdir", "s", "/");
        if (r >= 0)
                r = sd_bus_message_append_array(m, 'y', argv, argv_size);
        if (r >= 0)
                r = sd_bus_message_append_array(m, 'y', NULL, 0);
        if (r >= 0)
                r = sd_bus_message_append_array(m, 'y', env, env_size);
        if (r >= 0)
                r = sd_bus_call(bus, m, 0, &error, &reply);
        if (r < 0)
                fprintf(stderr, "bench_launch: submit: %s\n", error.message ?: strerror(-r));
        sd_bus_error_free(&error);
        sd_bus_message_unref(m);
        sd_bus_message_unref(reply);
        return r;
}

static int client(const char *socket, size_t jobs, char **argv)
{
        char address[4096], block[8192];
        size_t size = 0;
        sd_bus *bus = NULL;
        int r;

        for (char **a = argv; *a; a++) {
                memcpy(block + size, *a, strlen(*a) + 1);
                size += strlen(*a) + 1;
        }
        (void)snprintf(address, sizeof(address), "unix:path=%s", socket);
        r = sd_bus_new(&bus);
        if (r >= 0)
                r = sd_bus_set_address(bus, address);
        if (r >= 0)
                r = sd_bus_start(bus);
        for (size_t i = 0; r >= 0 && i < jobs; i++)
                r = submit_one(bus, block, size, "PATH=/usr/bin:/bin",
                               sizeof("PATH=/usr/bin:/bin"));
        sd_bus_unref(bus);
        return r < 0;
}

static int load_mode(const char *socket, size_t clients, size_t jobs, char **argv)
{
        int status, failed = 0;

        for (size_t i = 0; i < clients; i++)
                if (fork() == 0)
                        _exit(client(socket, jobs / clients, argv));
        while (wait(&status) > 0)
                failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        return failed;
}

int main(int argc, char **argv)
{
        if (argc >= 4 && strcmp(argv[1], "spawn") == 0)
                return spawn_mode(strtoul(argv[2], NULL, 10), argv + 3);
        if (argc >= 5 && strcmp(argv[1], "start") == 0)
                return start_mode(strtoul(argv[2], NULL, 10), argv[3], argv + 4);
        if (argc >= 6 && strcmp(argv[1], "load") == 0)
                return load_mode(argv[2], strtoul(argv[3], NULL, 10), strtoul(argv[4], NULL, 10),
                                 argv + 5);
        fprintf(stderr, "usage: see the head of tests/bench/bench_launch.c\n");
        return 2;
}
