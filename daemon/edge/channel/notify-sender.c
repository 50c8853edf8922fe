/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/cleanup.h"
#include "base/file.h"
#include "edge/channel/notify-internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define KEEP_USEC 1000000U
#define GROUPS_TEXT_MAX (64U * 1024) /* a dozen lines of paths */

bool sg_notify_same_job(const struct sg_job_key *a, const struct sg_job_key *b)
{
        return a->n == b->n && a->attempt == b->attempt && strcmp(a->origin, b->origin) == 0;
}

static bool is_in_list(const char *list, size_t n, const char *word)
{
        size_t length = strlen(word);

        for (const char *p = list, *end = list + n; p < end;) {
                const char *comma = memchr(p, ',', (size_t)(end - p));
                size_t here = (size_t)((comma ? comma : end) - p);

                if (here == length && memcmp(p, word, length) == 0)
                        return true;
                p += here + 1;
        }
        return false;
}

/* Cuts up the text of /proc/PID/cgroup: "0::/path", "4:memory:/path", "1:name=x:/path". */
static void find_groups(char *text, const char *controller, struct sg_notify_sender *s)
{
        char *line;

        while ((line = strsep(&text, "\n"))) {
                char *controllers = strchr(line, ':');
                char *path = controllers ? strchr(++controllers, ':') : NULL;

                if (!path)
                        continue;
                if (path == controllers)
                        s->group = path + 1;
                else if (controller &&
                         is_in_list(controllers, (size_t)(path - controllers), controller))
                        s->group_v1 = path + 1;
        }
}

enum sg_notify_who sg_notify_senders_ask(const struct sg_notify_senders *s, pid_t pid, uid_t uid,
                                         struct sg_job_key *ret)
{
        struct sg_notify_sender sender = {.pid = pid, .uid = uid, .group = "", .group_v1 = ""};
        _cleanup_free_ char *text = NULL;
        char path[32];

        if (pid <= 0) /* of a PID namespace that isn't below ours */
                return SG_NOTIFY_NOBODY;
        (void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
        if (sg_read_file(AT_FDCWD, path, GROUPS_TEXT_MAX, &text, NULL) < 0)
                return SG_NOTIFY_NOBODY;
        find_groups(text, s->options->v1_controller, &sender);
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
