/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A message bus of the test's own: dbus-daemon in a fresh directory, restarted at will. */
#include "base/file.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#define PATIENCE_USEC (20 * SG_USEC_PER_SEC)
#define wait_until(event, condition)                                                               \
        do {                                                                                       \
                uint64_t _end = sg_now_monotonic_usec() + PATIENCE_USEC;                           \
                while (!(condition)) {                                                             \
                        assert_true(sg_now_monotonic_usec() < _end);                               \
                        assert_true(sd_event_run(event, 50000) >= 0);                              \
                }                                                                                  \
        } while (0)

struct bus_daemon {
        char dir[32], path[64], config[64];
        pid_t pid;
};

/* The address of it in an environment variable. */
static inline void bus_daemon_setenv(struct bus_daemon *b, const char *variable)
{
        char address[96];

        (void)snprintf(address, sizeof(address), "unix:path=%s", b->path);
        assert_int_equal(setenv(variable, address, 1), 0);
}

/* It is where the system bus is looked for from now on. Everyone may own and call anything: who may
 * do what is not what is tested with it. */
static inline void bus_daemon_init(struct bus_daemon *b)
{
        FILE *f;

        *b = (struct bus_daemon){0};
        strcpy(b->dir, "/tmp/sg-bus-XXXXXX");
        assert_non_null(mkdtemp(b->dir));
        assert_int_equal(chmod(b->dir, 0755), 0);
        (void)snprintf(b->path, sizeof(b->path), "%s/socket", b->dir);
        (void)snprintf(b->config, sizeof(b->config), "%s/config", b->dir);
        f = fopen(b->config, "we");
        assert_non_null(f);
        (void)fprintf(f,
                      "<busconfig><type>system</type><listen>unix:path=%s</listen>"
                      "<policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/>"
                      "<allow send_type=\"method_call\"/><allow send_type=\"signal\"/>"
                      "<allow send_type=\"method_return\"/><allow send_type=\"error\"/>"
                      "<allow eavesdrop=\"false\"/></policy></busconfig>",
                      b->path);
        assert_int_equal(fclose(f), 0);
        bus_daemon_setenv(b, "DBUS_SYSTEM_BUS_ADDRESS");
        sg_log_set_level(LOG_ERR);
}

/* dbus-daemon writes its address when it can be connected to. */
static inline void bus_daemon_start(struct bus_daemon *b)
{
        char config[96], line[256];
        int ready[2];

        (void)snprintf(config, sizeof(config), "--config-file=%s", b->config);
        assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
        b->pid = fork();
        assert_true(b->pid >= 0);
        if (b->pid == 0) {
                (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
                (void)dup2(ready[1], 3);
                (void)execlp("dbus-daemon", "dbus-daemon", config, "--nofork", "--nopidfile",
                             "--nosyslog", "--print-address=3", NULL);
                _exit(127);
        }
        (void)close(ready[1]);
        assert_true(read(ready[0], line, sizeof(line)) > 0);
        (void)close(ready[0]);
}

static inline void bus_daemon_stop(struct bus_daemon *b)
{
        if (b->pid > 0) {
                assert_int_equal(kill(b->pid, SIGKILL), 0);
                assert_int_equal(waitpid(b->pid, NULL, 0), b->pid);
        }
        b->pid = 0;
}

static inline void bus_daemon_deinit(struct bus_daemon *b)
{
        bus_daemon_stop(b);
        (void)unlink(b->config);
        (void)unlink(b->path);
        assert_int_equal(rmdir(b->dir), 0);
}
