/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What an adopted job's processes are as it begins: another user, another command, an identity that
 * systemd gives it later. */
#include "adopt/internal.h"
#include "base/time-util.h"
#include "core/job/command.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SETTLED_USEC (60ULL * 1000000)

struct renaming {
        struct sg_manager *manager;
        uint64_t n, uid, gid;
};

/* While nobody can tell, the directory service is asked again. */
static void on_other_user(int result, const char *name, void *userdata)
{
        struct renaming *r = userdata;
        struct sg_live *l = sg_manager_find(r->manager, r->n);

        if (l && !sg_life_is_settled(&l->life) && result == -ETIMEDOUT &&
            sg_users_lookup(r->manager->users, (uid_t)r->uid, on_other_user, r) >= 0)
                return;
        if (l && !sg_life_is_settled(&l->life) && result >= 0) {
                l->job.uid = r->uid;
                l->job.gid = r->gid;
                (void)snprintf(l->job.user, sizeof(l->job.user), "%s", name);
                sg_live_changed(l);
        }
        free(r);
}

/* Whoever starts a unit may do so as root, and become somebody else before the program begins. */
static void settle_user(struct sg_live *l, const struct sg_member *now)
{
        struct renaming *r;

        if (l->job.uid == now->uid)
                return;
        r = malloc(sizeof(*r));
        if (!r)
                return;
        *r = (struct renaming){l->manager, l->job.key.n, now->uid, now->gid};
        if (sg_users_lookup(l->manager->users, now->uid, on_other_user, r) < 0)
                free(r);
}

/* systemd's ID came after the process; only by that can systemd be asked how it ended. */
static bool settle_identity(struct sg_live *l)
{
        char now[SG_INVOCATION_ID_MAX];

        if (!sg_watched_identity(l->adopted->watched, now) || strcmp(l->job.invocation, now) == 0)
                return false;
        strcpy(l->job.invocation, now);
        return true;
}

void sg_adopted_settle(struct sg_live *l)
{
        struct sg_limits limits = l->job.limits;
        struct sg_member now;
        char *command;
        bool marked;

        l->adopted->settled = sg_now_realtime_usec() - l->job.submitted_usec > SETTLED_USEC;
        if (!l->adopted->watched || sg_watched_member(l->adopted->watched, &now) < 0)
                return;
        command = sg_command_shown(now.command, now.command_size);
        if (!command)
                return;
        if (l->job.adopted == SG_ADOPTED_OBSERVED) /* its engine has set them by now */
                sg_scope_read_limits(l->groups.scope, &l->job.limits);
        marked = settle_identity(l);
        if (marked || l->job.pid != now.pid || !l->job.command ||
            strcmp(l->job.command, command) != 0 ||
            memcmp(&limits, &l->job.limits, sizeof(limits)) != 0) {
                free(l->job.command);
                l->job.command = command;
                l->job.pid = now.pid;
                sg_live_changed(l);
        } else {
                free(command);
        }
        settle_user(l, &now);
}
