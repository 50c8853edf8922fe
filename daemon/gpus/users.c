/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose processes use GPUs, by name: asked for when such a process is first seen, since whoever is
 * shown them isn't kept waiting for a directory service. */
#include "gpus/internal.h"
#include <stdio.h>
#include <string.h>

#define USERS_MAX 256U /* of more only the numbers are known */

struct user {
        struct sg_list link;
        uid_t uid;
        bool asked; /* and not answered */
        char name[SG_USER_NAME_MAX];
};

static void on_name(int result, const char *name, void *userdata)
{
        struct user *u = userdata;

        (void)result; /* it's the number, if nobody knows */
        u->asked = false;
        (void)snprintf(u->name, sizeof(u->name), "%s", name);
}

static struct user *find(const struct sg_gpus *g, uid_t uid)
{
        struct user *u;

        sg_list_foreach (u, &g->users, link)
                if (u->uid == uid)
                        return u;
        return NULL;
}

void sg_gpus_meet_user(struct sg_gpus *g, uid_t uid)
{
        struct user *u;

        if (g->n_users >= USERS_MAX || find(g, uid))
                return;
        u = calloc(1, sizeof(*u));
        if (!u)
                return;
        u->uid = uid;
        u->asked = true;
        (void)snprintf(u->name, sizeof(u->name), "%u", (unsigned)uid);
        sg_list_append(&g->users, &u->link);
        g->n_users++;
        if (sg_users_lookup(g->manager->users, uid, on_name, u) < 0)
                u->asked = false;
}

void sg_gpus_forget_users(struct sg_gpus *g)
{
        struct user *u, *next;

        sg_list_foreach_safe (u, next, &g->users, link) {
                if (u->asked)
                        sg_users_cancel(g->manager->users, on_name, u);
                sg_list_remove(&u->link);
                free(u);
        }
}

const char *sg_gpus_user(const struct sg_manager *m, uid_t uid)
{
        const struct user *u = find(m->gpus, uid);

        return u ? u->name : NULL;
}
