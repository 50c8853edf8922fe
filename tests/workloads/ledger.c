/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ledger FILE STATUS [MSEC]: a job that can't deny having run. Its first deed is a durable line "id
 * attempt marker" at the end of FILE; then it sleeps and exits with STATUS. What the governor says
 * about it can be held against that.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char *env(const char *name)
{
        const char *value = getenv(name);

        return value ? value : "-";
}

int main(int argc, char **argv)
{
        char line[256];
        ssize_t size;
        int fd;

        if (argc < 3) {
                (void)fputs("usage: ledger FILE STATUS [MSEC]\n", stderr);
                return 100;
        }
        size = snprintf(line, sizeof(line), "%s %s %s\n", env("SCHEDGOV_JOB_ID"),
                        env("SCHEDGOV_ATTEMPT"), env("LEDGER_MARK"));
        fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
        /* One write(2): lines of different jobs don't mix. */
        if (fd < 0 || write(fd, line, (size_t)size) != size || fdatasync(fd) < 0) {
                perror(argv[1]);
                return 101;
        }
        if (argc > 3) {
                long msec = strtol(argv[3], NULL, 10);

                (void)nanosleep(&(struct timespec){msec / 1000, msec % 1000 * 1000000}, NULL);
        }
        return (int)strtol(argv[2], NULL, 10);
}
