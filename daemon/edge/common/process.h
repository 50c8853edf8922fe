/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What /proc says of a process of somebody's. */

#include <stdint.h>
#include <sys/types.h>

#define SG_PROCESS_NAME_MAX 16

struct sg_process_look {
        char name[SG_PROCESS_NAME_MAX]; /* harmless UTF-8, as it calls itself; "" = not known */
        uid_t uid;                      /* real */
        char *text;                     /* of the two below; the caller's */
        const char *group;              /* in the v2 tree, from its root; "" where there is none */
        const char *group_v1;           /* in the v1 hierarchy that was asked about, "" likewise */
};

/* All of one process: what was read isn't of another one that has its number by now. v1: the
 * controller to be asked about ("memory"), or NULL. -ESRCH: it has gone. */
int sg_process_look(struct sg_process_look *ret, pid_t pid, const char *v1);
void sg_process_look_deinit(struct sg_process_look *p);

/* Its groups alone. *ret_text is the caller's, as above. */
int sg_process_groups(int proc, const char *v1, char **ret_text, const char **ret_group,
                      const char **ret_group_v1);
