/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Stands in for polkitd on a bus of a test's own: the same interface, and rules that the test
 * writes as it goes.
 *
 * usage: fake_polkit RULES      (the bus is $DBUS_SYSTEM_BUS_ADDRESS)
 *
 * RULES is read at each question; the first line "ACTION UID VERDICT" that fits (* fits all) gives
 * the answer: yes, no, ask (a challenge; granted for a while if the user may be asked), silent,
 * unregistered or error. Each question is a line on stdout: ACTION UID KIND VERB JOB USER
 * INTERACTIVE, and "cancel".
 */
#include "base/cleanup.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define AUTHORITY "org.freedesktop.PolicyKit1.Authority"

struct question {
        const char *kind, *action;
        char verb[64], job[64], user[64];
        uint32_t uid, pid, flags;
        uint64_t started;
};

static int read_subject_entry(sd_bus_message *m, struct question *q, const char **name)
{
        const char *key;
        int32_t uid;
        int r = sd_bus_message_read(m, "s", &key);

        if (r < 0)
                return r;
        if (strcmp(key, "name") == 0)
                return sd_bus_message_read(m, "v", "s", name);
        if (strcmp(key, "pid") == 0)
                return sd_bus_message_read(m, "v", "u", &q->pid);
        if (strcmp(key, "start-time") == 0)
                return sd_bus_message_read(m, "v", "t", &q->started);
        if (strcmp(key, "uid") != 0)
                return -EBADMSG;
        r = sd_bus_message_read(m, "v", "i", &uid);
        q->uid = (uint32_t)uid;
        return r;
}

/* As polkit does it: the name's user is the bus's word; a process must be the one that is meant. */
static int check_subject(sd_bus *bus, struct question *q, const char *name)
{
        _cleanup_(sd_bus_creds_unrefp) sd_bus_creds *creds = NULL;
        unsigned long long started;
        char path[64], line[1024];
        _cleanup_fclose_ FILE *f = NULL;
        int r;

        if (strcmp(q->kind, "system-bus-name") == 0) {
                r = sd_bus_get_name_creds(bus, name, SD_BUS_CREDS_EUID, &creds);
                return r < 0 ? r : sd_bus_creds_get_euid(creds, &q->uid);
        }
        (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/stat", q->pid);
        f = fopen(path, "re");
        if (!f || !fgets(line, sizeof(line), f))
                return -ESRCH;
        if (sscanf(strrchr(line, ')') + 1,
                   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                   "%llu",
                   &started) != 1)
                return -EBADMSG;
        return started == q->started ? 0 : -ESRCH;
}

static int read_subject(sd_bus_message *m, struct question *q)
{
        const char *name = NULL;
        int r;

        r = sd_bus_message_enter_container(m, 'r', "sa{sv}");
        if (r >= 0)
                r = sd_bus_message_read(m, "s", &q->kind);
        if (r >= 0)
                r = sd_bus_message_enter_container(m, 'a', "{sv}");
        while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
                r = read_subject_entry(m, q, &name);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        return r < 0 ? r : check_subject(sd_bus_message_get_bus(m), q, name);
}

static int read_question(sd_bus_message *m, struct question *q)
{
        const char *key, *value;
        int r = read_subject(m, q);

        strcpy(q->verb, "-");
        strcpy(q->job, "-");
        strcpy(q->user, "-");
        if (r >= 0)
                r = sd_bus_message_read(m, "s", &q->action);
        if (r >= 0)
                r = sd_bus_message_enter_container(m, 'a', "{ss}");
        while (r >= 0 && (r = sd_bus_message_read(m, "{ss}", &key, &value)) > 0) {
                char *to = strcmp(key, "verb") == 0   ? q->verb
                           : strcmp(key, "job") == 0  ? q->job
                           : strcmp(key, "user") == 0 ? q->user
                                                      : NULL;

                if (to)
                        (void)snprintf(to, sizeof(q->verb), "%s", value);
        }
        if (r >= 0)
                r = sd_bus_message_exit_container(m);
        return r < 0 ? r : sd_bus_message_read(m, "us", &q->flags, &value);
}

static void find_rule(const char *path, const struct question *q, char *verdict, size_t size)
{
        _cleanup_fclose_ FILE *f = fopen(path, "re");
        char line[256], action[128], uid[32], word[32], own[32];

        (void)snprintf(verdict, size, "ask");
        (void)snprintf(own, sizeof(own), "%" PRIu32, q->uid);
        while (f && fgets(line, sizeof(line), f)) {
                if (sscanf(line, "%127s %31s %31s", action, uid, word) != 3 ||
                    (strcmp(action, "*") != 0 && strcmp(action, q->action) != 0) ||
                    (strcmp(uid, "*") != 0 && strcmp(uid, own) != 0))
                        continue;
                (void)snprintf(verdict, size, "%s", word);
                return;
        }
}

static int answer(sd_bus_message *m, const struct question *q, const char *verdict)
{
        bool asked = strcmp(verdict, "ask") == 0, interactive = q->flags & 1;

        if (strcmp(verdict, "silent") == 0)
                return 1;
        if (strcmp(verdict, "error") == 0)
                return sd_bus_reply_method_errorf(m, "org.freedesktop.PolicyKit1.Error.Failed",
                                                  "told to fail");
        if (strcmp(verdict, "unregistered") == 0)
                return sd_bus_reply_method_errorf(m, "org.freedesktop.PolicyKit1.Error.Failed",
                                                  "Action %s is not registered", q->action);
        if (asked && interactive)
                return sd_bus_reply_method_return(m, "(bba{ss})", true, false, 1,
                                                  "polkit.temporary_authorization_id", "tmpauthz0");
        return sd_bus_reply_method_return(m, "(bba{ss})", strcmp(verdict, "yes") == 0, asked, 0);
}

static int on_check(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        struct question q = {0};
        char verdict[32];
        int r = read_question(m, &q);

        (void)error;
        if (r < 0)
                return sd_bus_reply_method_errorf(m, "org.freedesktop.PolicyKit1.Error.Failed",
                                                  "no such subject: %s", strerror(-r));
        find_rule(userdata, &q, verdict, sizeof(verdict));
        printf("%s %" PRIu32 " %s %s %s %s %s\n", q.action, q.uid, q.kind, q.verb, q.job, q.user,
               q.flags & 1 ? "interactive" : "quiet");
        (void)fflush(stdout);
        return answer(m, &q, verdict);
}

static int on_cancel(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
        (void)userdata;
        (void)error;
        (void)puts("cancel");
        (void)fflush(stdout);
        return sd_bus_reply_method_return(m, NULL);
}

static const sd_bus_vtable vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_METHOD("CheckAuthorization", "(sa{sv})sa{ss}us", "(bba{ss})", on_check,
                      SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("CancelCheckAuthorization", "s", NULL, on_cancel, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END,
};

static int serve(sd_bus *bus)
{
        for (;;) {
                int r = sd_bus_process(bus, NULL);

                if (r == 0)
                        r = sd_bus_wait(bus, UINT64_MAX);
                if (r < 0)
                        return r;
        }
}

int main(int argc, char **argv)
{
        _cleanup_(sd_bus_flush_close_unrefp) sd_bus *bus = NULL;
        int r;

        if (argc != 2) {
                fprintf(stderr, "usage: fake_polkit RULES\n");
                return 2;
        }
        r = sd_bus_open_system(&bus);
        if (r >= 0)
                r = sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/PolicyKit1/Authority",
                                             AUTHORITY, vtable, argv[1]);
        if (r >= 0)
                r = sd_bus_request_name(bus, "org.freedesktop.PolicyKit1", 0);
        if (r >= 0) {
                (void)puts("ready");
                (void)fflush(stdout);
                r = serve(bus);
        }
        fprintf(stderr, "fake_polkit: %s\n", strerror(-r));
        return 1;
}
