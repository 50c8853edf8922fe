/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * burn SECONDS: computes until it has used that much CPU time, which with less than a whole CPU
 * takes longer. A line for each tenth, and at its end, so that whoever follows its output sees it
 * work.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NSEC_PER_SEC 1000000000ULL
#define ROUND 100000 /* some 0.1 ms: the clock is then a small part of the work */

static uint64_t used_nsec(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

static void burn(uint64_t nsec)
{
        volatile uint64_t x = 1;
        uint64_t tenths = 0, done;

        do {
                for (int i = 0; i < ROUND; i++)
                        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
                for (done = used_nsec(); tenths < 10 && done >= nsec / 10 * (tenths + 1); tenths++)
                        (void)printf("progress %" PRIu64 "%%\n", (tenths + 1) * 10);
                (void)fflush(stdout);
        } while (done < nsec);
}

int main(int argc, char **argv)
{
        double seconds = -1;
        char *end = NULL;

        errno = 0;
        if (argc == 2)
                seconds = strtod(argv[1], &end);
        if (argc != 2 || errno || end == argv[1] || *end || !(seconds > 0 && seconds <= 1e6)) {
                (void)fputs("usage: burn SECONDS\n", stderr);
                return 2;
        }
        burn((uint64_t)(seconds * (double)NSEC_PER_SEC));
        return ferror(stdout) ? 1 : 0;
}
