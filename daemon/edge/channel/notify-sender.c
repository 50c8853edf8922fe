/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/cleanup.h"
#include "edge/channel/notify-internal.h"
#include "edge/common/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define KEEP_USEC 1000000U

bool sg_notify_same_job(const struct sg_job_key *a, const struct sg_job_key *b)
{
        return a->n == b->n && a->attempt == b->attempt && strcmp(a->origin, b->origin) == 0;
}

enum sg_notify_who sg_notify_senders_ask(const struct sg_notify_senders *s, pid_t pid, uid_t uid,
                                         struct sg_job_key *ret)
{
        struct sg_notify_sender sender = {.pid = pid, .uid = uid, .group = "", .group_v1 = ""};
        _cleanup_free_ char *text = NULL;
        _cleanup_close_ int proc = -1;
        char path[32];

        if (pid <= 0) /* of a PID namespace that isn't below ours */
                return SG_NOTIFY_NOBODY;
        (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
        proc = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (proc < 0 || sg_process_groups(proc, s->options->v1_controller, &text, &sender.group,
                                          &sender.group_v1) < 0)
                return SG_NOTIFY_NOBODY;
        return s->options->lookup(&sender, ret, s->options->userdata);
}

enum sg_notify_who sg_notify_senders_find(struct sg_notify_senders *s, pid_t pid, uid_t uid,
                                          uint64_t now_usec, struct sg_job_key *ret)
{
        struct sg_notify_kept *k = &s->kept[(unsigned)pid % SG_SENDERS_KEPT];

        if (k->pid != pid || k->uid != uid || now_usec >= k->until_usec) {
                *k = (struct sg_notify_kept){
                        .pid = pid, .uid = uid, .until_usec = now_usec + KEEP_USEC};
                k->who = sg_notify_senders_ask(s, pid, uid, &k->key);
        }
        if (k->who != SG_NOTIFY_NOBODY)
                *ret = k->key;
        return k->who;
}

void sg_notify_senders_forget(struct sg_notify_senders *s, const struct sg_job_key *key)
{
        for (size_t i = 0; i < SG_SENDERS_KEPT; i++)
                if (s->kept[i].who != SG_NOTIFY_NOBODY && sg_notify_same_job(&s->kept[i].key, key))
                        s->kept[i] = (struct sg_notify_kept){0};
}
