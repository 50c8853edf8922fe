/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/common/process.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/utf8.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define GROUPS_TEXT_MAX (64U * 1024) /* a dozen lines of paths */
#define STATUS_TEXT_MAX (16U * 1024)

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
static void find_groups(char *text, const char *v1, const char **ret_group,
                        const char **ret_group_v1)
{
        char *line;

        *ret_group = *ret_group_v1 = "";
        while ((line = strsep(&text, "\n"))) {
                char *controllers = strchr(line, ':');
                char *path = controllers ? strchr(++controllers, ':') : NULL;

                if (!path)
                        continue;
                if (path == controllers)
                        *ret_group = path + 1;
                else if (v1 && is_in_list(controllers, (size_t)(path - controllers), v1))
                        *ret_group_v1 = path + 1;
        }
}

int sg_process_groups(int proc, const char *v1, char **ret_text, const char **ret_group,
                      const char **ret_group_v1)
{
        int r = sg_read_file(proc, "cgroup", GROUPS_TEXT_MAX, ret_text, NULL);

        if (r >= 0)
                find_groups(*ret_text, v1, ret_group, ret_group_v1);
        return r;
}

static const char *value_of(const char *status, const char *key)
{
        const char *p = strstr(status, key);

        return p ? p + strlen(key) : NULL;
}

/* The kernel writes \n and \\ in a name as such, so that a line is a line. */
static void take_name(struct sg_process_look *p, const char *status)
{
        const char *name = value_of(status, "Name:\t");
        size_t n = name ? strcspn(name, "\n") : 0, used = 0;

        for (size_t size; used < n; used += size) {
                size = sg_utf8_harmless(name + used, n - used);
                if (size == 0 || used + size >= sizeof(p->name))
                        break;
                memcpy(p->name + used, name + used, size);
        }
        p->name[used] = '\0';
}

static int take_uid(struct sg_process_look *p, const char *status)
{
        const char *uid = value_of(status, "\nUid:\t");
        char *end;
        unsigned long v;

        if (!uid)
                return -EBADMSG;
        v = strtoul(uid, &end, 10);
        if (end == uid)
                return -EBADMSG;
        p->uid = (uid_t)v;
        return 0;
}

static int gone(int r)
{
        return r == -ENOENT ? -ESRCH : r;
}

/* A directory of /proc stays that of the process that it was opened for: reads fail with ESRCH once
 * that has gone, whoever has its number then. */
int sg_process_look(struct sg_process_look *ret, pid_t pid, const char *v1)
{
        struct sg_process_look p = {.text = NULL};
        _cleanup_free_ char *status = NULL;
        _cleanup_close_ int proc = -1;
        char path[32];
        int r;

        if (pid <= 0)
                return -ESRCH;
        (void)snprintf(path, sizeof(path), "/proc/%d", (int)pid);
        proc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (proc < 0)
                return gone(-errno);
        r = sg_read_file(proc, "status", STATUS_TEXT_MAX, &status, NULL);
        if (r < 0)
                return gone(r);
        take_name(&p, status);
        r = take_uid(&p, status);
        if (r >= 0)
                r = sg_process_groups(proc, v1, &p.text, &p.group, &p.group_v1);
        if (r < 0)
                return gone(r);
        *ret = p;
        return 0;
}

void sg_process_look_deinit(struct sg_process_look *p)
{
        free(p->text);
        *p = (struct sg_process_look){.group = "", .group_v1 = ""};
}
