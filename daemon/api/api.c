/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who asks, and what they may make us hold. */
#include "api/internal.h"
#include <errno.h>
#include <string.h>

void sg_api_disconnect(struct sg_manager *m, struct sg_client *c)
{
        sg_authorizer_forget(m->authorizer, c);
        sg_submissions_drop(m, c);
        sg_callers_disconnect(m, c);
}

bool sg_caller_is_admin(const struct sg_manager *m, const struct sg_caller *c)
{
        return c->uid == 0 || c->uid == getuid() ||
               (m->admin_gid != (gid_t)-1 && sg_caller_in_group(c, m->admin_gid));
}

struct sg_who sg_call_who(const struct sg_call *call)
{
        const struct sg_client *c = sg_call_client(call);

        return (struct sg_who){.is = c, .uid = c ? c->caller.uid : 0};
}

bool sg_caller_owns(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid)
{
        return c->uid == uid || sg_caller_is_admin(m, c);
}

bool sg_caller_sees_all(const struct sg_manager *m, const struct sg_caller *c)
{
        return m->settings->show_others == SG_SHOW_LIST || sg_caller_is_admin(m, c);
}

bool sg_caller_may_see(const struct sg_manager *m, const struct sg_caller *c, uint64_t uid)
{
        return c->uid == uid || sg_caller_sees_all(m, c);
}

/* Whose requests take more than they may has the next one only when they take less (turns.c). */
int sg_api_owe(const struct sg_call *call, enum sg_charge charge, uint64_t amount,
               struct sg_owed *ret)
{
        struct sg_ledger *ledger = call->manager->ledger;
        bool bytes = charge == SG_CHARGE_ANSWERS || charge == SG_CHARGE_REQUESTS;
        struct sg_client *c = sg_call_client(call);
        int r;

        if (!c)
                return -ENOTCONN;
        r = bytes ? sg_ledger_book(ledger, c->caller.uid, charge, amount)
                  : sg_ledger_take(ledger, c->caller.uid, charge, amount);
        if (r != 0)
                return r < 0 ? r : -EBUSY;
        *ret = (struct sg_owed){ledger, charge, c->caller.uid, amount};
        return 0;
}

void sg_api_paid(struct sg_owed *o)
{
        if (o->ledger)
                sg_ledger_give(o->ledger, o->uid, o->charge, o->amount);
        *o = (struct sg_owed){0};
}

/* --- what isn't there */

#define CLASSES_SHOWN 256U

int sg_api_no_class(const struct sg_manager *m, const char *name, struct sg_answer *a)
{
        const struct sg_settings *s = m->settings;
        char names[CLASSES_SHOWN] = "";
        size_t used = 0;

        for (size_t i = 0; i < s->n_classes; i++) {
                const char *next = s->classes[i].name;

                if (used + strlen(next) + sizeof(" …") > sizeof(names)) {
                        strcpy(names + used, " …");
                        break;
                }
                used += (size_t)sprintf(names + used, "%s%s", i > 0 ? " " : "", next);
        }
        return sg_refuse(a, SG_ANSWER_INVALID, "class",
                         s->n_classes == 1
                                 ? "there is no class '%s'\nthere is only %s; a file makes "
                                   "others, see schedgov.policy(5)"
                                 : "there is no class '%s'\nuse one of %s",
                         name, names);
}
