/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/edge/channel/notify_fixture.h"
#include "base/datagram.h"
#include "base/file.h"
#include "base/time-util.h"
#include "edge/common/log.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum sg_notify_who lookup(const struct sg_notify_sender *sender, struct sg_job_key *ret,
                          void *userdata)
{
        struct fixture *f = userdata;

        f->lookups++;
        f->sender = *sender;
        (void)snprintf(f->group, sizeof(f->group), "%s", sender->group);
        (void)snprintf(f->group_v1, sizeof(f->group_v1), "%s", sender->group_v1);
        *ret = f->key;
        return f->who;
}

unsigned open_fds(void)
{
        unsigned n = 0;

        for (int fd = 0; fd < 256; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

void on_message(const struct sg_job_key *key, const struct sg_notify *message, void *userdata)
{
        struct fixture *f = userdata;

        f->messages++;
        if (f->count_fds)
                f->fds = open_fds();
        f->got_key = *key;
        f->got = *message;
        sg_report_merge(&f->report, &message->report);
}

int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));
        struct sg_notify_socket_options o = {
                .v1_controller = "memory", .lookup = lookup, .on_message = on_message};

        assert_non_null(f);
        *state = f;
        sg_log_set_level(LOG_EMERG);
        strcpy(f->dir, "/tmp/sg-notify-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        assert_return_code(chmod(f->dir, 0755), errno);
        assert_int_equal(sg_path_join(f->path, sizeof(f->path), f->dir, "notify"), 0);
        f->who = SG_NOTIFY_JOB;
        f->key = (struct sg_job_key){.origin = "host", .n = 7, .attempt = 2};
        o.path = f->path;
        o.userdata = f;
        assert_int_equal(sd_event_new(&f->event), 0);
        assert_int_equal(sg_notify_socket_new(&f->socket, f->event, &o), 0);

        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        strcpy(sa.sun_path, f->path);
        f->client = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        assert_return_code(connect(f->client, (struct sockaddr *)&sa, sizeof(sa)), errno);
        return 0;
}

int teardown(void **state)
{
        struct fixture *f = *state;

        (void)sg_close(f->client);
        f->socket = sg_notify_socket_free(f->socket);
        assert_int_equal(access(f->path, F_OK), -1);
        sd_event_unref(f->event);
        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        free(f);
        return 0;
}

void run_until(struct fixture *f, const uint64_t *counter, uint64_t wanted)
{
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;

        while (*counter < wanted) {
                assert_true(sg_now_monotonic_usec() < end);
                assert_return_code(sd_event_run(f->event, 100 * SG_USEC_PER_MSEC), 0);
        }
}

void run_until_received(struct fixture *f)
{
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;

        for (int left = 1;;) {
                assert_return_code(ioctl(f->client, SIOCOUTQ, &left), errno);
                if (left == 0)
                        break;
                assert_true(sg_now_monotonic_usec() < end);
                assert_return_code(sd_event_run(f->event, 100 * SG_USEC_PER_MSEC), 0);
        }
}

void send_text(struct fixture *f, const char *text)
{
        assert_int_equal(sg_datagram_send(f->client, text, strlen(text), -1), 0);
        run_until_received(f);
}

pid_t flood(const struct fixture *f)
{
        pid_t pid = fork();

        if (pid == 0)
                for (;;)
                        if (send(f->client, "STEP=1", 6, 0) < 0)
                                _exit(1);
        assert_return_code(pid, errno);
        return pid;
}
