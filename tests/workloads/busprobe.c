/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * busprobe: reads a property of systemd's every 20 ms over one kept connection, until its
 * input ends; then prints "COUNT P50 P99 MAX", times in microseconds.
 *
 * busprobe UNIT FILE: reads weights, one per line; each is made the unit's CPUWeight over one kept
 * connection, and how long it took until FILE, its cpu.weight, reads so is printed, in
 * microseconds.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <time.h>
#include <unistd.h>

#define READS_MAX 100000
#define PERIOD_MSEC 20
#define LOOK_USEC 200
#define ARRIVAL_USEC (10 * UINT64_C(1000000))

static uint64_t now_usec(void)
{
        struct timespec t;

        (void)clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int compare(const void *a, const void *b)
{
        uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

        return (x > y) - (x < y);
}

static int read_property(sd_bus *bus)
{
        sd_bus_message *reply = NULL;
        int r;

        r = sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                               "org.freedesktop.DBus.Properties", "Get", NULL, &reply, "ss",
                               "org.freedesktop.systemd1.Manager", "NFailedUnits");
        sd_bus_message_unref(reply);
        return r;
}

static int probe(sd_bus *bus)
{
        static uint32_t took[READS_MAX];
        struct pollfd input = {.events = POLLIN};
        size_t n = 0;
        int r;

        while (n < READS_MAX && poll(&input, 1, PERIOD_MSEC) == 0) {
                uint64_t begin = now_usec();

                r = read_property(bus);
                if (r < 0)
                        return r;
                took[n++] = (uint32_t)(now_usec() - begin);
        }
        if (n == 0)
                return -ENODATA;
        qsort(took, n, sizeof(took[0]), compare);
        (void)printf("%zu %u %u %u\n", n, took[n / 2], took[n * 99 / 100], took[n - 1]);
        return 0;
}

static int set_weight(sd_bus *bus, const char *unit, uint64_t weight)
{
        return sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                  "org.freedesktop.systemd1.Manager", "SetUnitProperties", NULL,
                                  NULL, "sba(sv)", unit, 1, 1, "CPUWeight", "t", weight);
}

/* systemd answers before it writes. */
static int await_weight(int fd, uint64_t weight, uint64_t until)
{
        const struct timespec look = {.tv_nsec = LOOK_USEC * 1000};
        char text[32];

        while (now_usec() < until) {
                ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

                if (n < 0)
                        return -errno;
                text[n] = 0;
                if (strtoull(text, NULL, 10) == weight)
                        return 0;
                (void)nanosleep(&look, NULL);
        }
        return -ETIMEDOUT;
}

static int set_weights(sd_bus *bus, const char *unit, const char *file)
{
        int fd = open(file, O_RDONLY | O_CLOEXEC), r = fd < 0 ? -errno : 0;
        char line[32];

        while (r >= 0 && fgets(line, sizeof(line), stdin)) {
                uint64_t weight = strtoull(line, NULL, 10), begin = now_usec();

                r = set_weight(bus, unit, weight);
                if (r >= 0)
                        r = await_weight(fd, weight, begin + ARRIVAL_USEC);
                if (r < 0)
                        break;
                (void)printf("%" PRIu64 "\n", now_usec() - begin);
                (void)fflush(stdout);
        }
        if (fd >= 0)
                (void)close(fd);
        return r;
}

int main(int argc, char **argv)
{
        sd_bus *bus = NULL;
        int r;

        r = sd_bus_open_system(&bus);
        if (r >= 0)
                r = read_property(bus);
        if (r >= 0)
                r = argc == 3 ? set_weights(bus, argv[1], argv[2]) : probe(bus);
        if (r < 0)
                (void)fprintf(stderr, "busprobe: %s\n", strerror(-r));
        sd_bus_flush_close_unref(bus);
        return r < 0 ? 1 : 0;
}
