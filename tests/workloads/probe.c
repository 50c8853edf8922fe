/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The jobs of bench-launch, as light as /bin/true but for what they note:
 *
 *   probe stamp FIFO    writes the monotonic time in microseconds to FIFO, as a uint64_t
 *   probe ledger FILE   appends "ID INODE-OF-ITS-GROUP"
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int stamp(const char *fifo)
{
        struct timespec ts;
        uint64_t now;
        int fd;

        (void)clock_gettime(CLOCK_MONOTONIC, &ts);
        now = (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
        fd = open(fifo, O_WRONLY);
        return fd < 0 || write(fd, &now, sizeof(now)) != sizeof(now);
}

/* Of the group that this process is in, in the v2 tree beside v1 or alone. */
static uint64_t group_inode(void)
{
        static const char *const trees[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
        char line[4096], path[8192];
        FILE *f = fopen("/proc/self/cgroup", "re");
        uint64_t inode = 0;
        struct stat st;

        while (f && fgets(line, sizeof(line), f)) {
                if (strncmp(line, "0::", 3) != 0)
                        continue;
                line[strcspn(line, "\n")] = 0;
                for (size_t i = 0; i < 2 && inode == 0; i++) {
                        (void)snprintf(path, sizeof(path), "%s%s", trees[i], line + 3);
                        if (stat(path, &st) == 0)
                                inode = st.st_ino;
                }
        }
        if (f)
                (void)fclose(f);
        return inode;
}

static int ledger(const char *file)
{
        const char *id = getenv("SCHEDGOV_JOB_ID");
        char line[128];
        int fd = open(file, O_WRONLY | O_APPEND | O_CREAT, 0666), n;

        n = snprintf(line, sizeof(line), "%s %" PRIu64 "\n", id ? id : "?", group_inode());
        return fd < 0 || write(fd, line, (size_t)n) != n;
}

int main(int argc, char **argv)
{
        if (argc == 3 && strcmp(argv[1], "stamp") == 0)
                return stamp(argv[2]);
        if (argc == 3 && strcmp(argv[1], "ledger") == 0)
                return ledger(argv[2]);
        (void)fputs("usage: probe stamp FIFO | ledger FILE\n", stderr);
        return 2;
}
