/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* `schedctl adopt`: one group by its path, or the one of a unit, which systemd is asked for. */
#include "adopt/internal.h"
#include "base/cleanup.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int adopt_group(struct sg_adopter *a, sd_bus_message *call, const char *path,
                       const struct sg_class *class, sd_bus_error *error)
{
        struct sg_adoptee as = {.policy = class, .how = SG_ADOPTED_OBSERVED};
        struct sg_watched *g;
        int r;

        strcpy(as.class, class->name);
        r = sg_watch_add(a->watch, path, &g);
        if (r < 0)
                return sd_bus_error_setf(error, SG_ERROR_INVALID, "%s: %s", path,
                                         r == -ENOENT ? "there is no such group" : strerror(-r));
        if (!sg_adopt_unit_of(path, as.unit))
                as.unit[0] = 0;
        else if (class->adopt_limits && a->slice)
                as.how = SG_ADOPTED_LIMITED;
        if (g->owner)
                return sd_bus_error_setf(error, SG_ERROR_WRONG_STATE, "%s is job %" PRIu64, path,
                                         ((struct sg_live *)g->owner)->job.key.n);
        r = sg_adopter_welcome(a, g, &as, call);
        return r >= 0 ? 0
                      : sd_bus_error_setf(error, SG_ERROR_INVALID, "%s: %s", path,
                                          r == -ESRCH    ? "no process is in it"
                                          : r == -ENOSPC ? "too many jobs are adopted already"
                                                         : strerror(-r));
}

struct search {
        struct sg_list link;
        struct sg_adopter *adopter;
        sd_bus_message *call;
        sd_bus_slot *slot;
        char class[SG_CLASS_NAME_MAX];
};

static void search_free(struct search *s)
{
        sg_list_remove(&s->link);
        sd_bus_message_unref(s->call);
        sd_bus_slot_unref(s->slot);
        free(s);
}

void sg_adopter_forget_searches(struct sg_adopter *a)
{
        struct search *s, *next;

        sg_list_foreach_safe (s, next, &a->searches, link)
                search_free(s);
}

static int on_found(sd_bus_message *reply, void *userdata, sd_bus_error *unused)
{
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        struct search *s = userdata;
        const sd_bus_error *e = sd_bus_message_get_error(reply);
        const struct sg_class *class = sg_settings_class(s->adopter->manager->settings, s->class);
        struct sg_unit_facts f = {.group = NULL};
        int r;

        (void)unused;
        r = e ? -EIO : sg_unit_facts_read(reply, &f);
        if (r < 0 || !class)
                (void)sd_bus_error_setf(&error, SG_ERROR_INVALID,
                                        "cannot find the unit's group: %s",
                                        e ? e->message ?: e->name : "the answer can't be read");
        else if (!f.group)
                (void)sd_bus_error_set(&error, SG_ERROR_INVALID, "no such unit is running");
        else
                (void)adopt_group(s->adopter, s->call, f.group, class, &error);
        if (sd_bus_error_is_set(&error))
                (void)sd_bus_reply_method_error(s->call, &error);
        free(f.group);
        search_free(s);
        return 0;
}

static int adopt_unit(struct sg_adopter *a, sd_bus_message *call, const char *unit,
                      const struct sg_class *class, sd_bus_error *error)
{
        struct search *s = calloc(1, sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        sg_list_append(&a->searches, &s->link);
        s->adopter = a;
        s->call = sd_bus_message_ref(call);
        strcpy(s->class, class->name);
        r = sg_unit_ask(a->manager->backend, unit, &s->slot, on_found, s);
        if (r >= 0)
                return 0;
        search_free(s);
        return sd_bus_error_setf(error, r == -EOPNOTSUPP ? SG_ERROR_INVALID : SG_ERROR_BUSY,
                                 "cannot ask for %s: %s", unit,
                                 r == -EOPNOTSUPP
                                         ? "there is no systemd here; give the group's path"
                                 : r == -ENOTCONN ? "systemd can't be reached at the moment"
                                                  : strerror(-r));
}

int sg_adopter_adopt(struct sg_adopter *a, sd_bus_message *call, const char *what,
                     const struct sg_class *class, sd_bus_error *error)
{
        if (!a)
                return sd_bus_error_set(error, SG_ERROR_INVALID, "no control groups are visible");
        if (sg_adopt_unit_valid(what))
                return adopt_unit(a, call, what, class, error);
        if (sg_adopt_pattern_valid(what))
                return adopt_group(a, call, what, class, error);
        return sd_bus_error_setf(error, SG_ERROR_INVALID,
                                 "'%s' is neither a scope or service nor a group's absolute path",
                                 what);
}
