/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether those users and groups exist that policies name. It is no error of a configuration that
 * is loaded: a directory service may be away just then, and takes as long as it likes. `config
 * verify` waits for it and tells; a start and a reload say it in the log, later.
 */
#include "api/internal.h"
#include "edge/common/log.h"
#include <errno.h>
#include <string.h>

struct check {
        struct sg_call *call; /* NULL: it is for the log */
        struct sg_config_errors errors;
        size_t n_before; /* errors that were there */
        bool manages_gpus;
        const struct sg_config_name **asked;
        size_t n_asked;
};

static void check_free(struct check *c)
{
        sg_call_unref(c->call);
        sg_config_errors_deinit(&c->errors);
        free(c->asked);
        free(c);
}

static int conclude(const struct check *c)
{
        if (c->call)
                return sg_api_reply_errors(c->call, &c->errors);
        for (size_t i = c->n_before; i < c->errors.n; i++)
                sg_log(LOG_WARNING, "%s: %s", c->errors.items[i].where, c->errors.items[i].what);
        return 0;
}

/* A group counts where submissions find it: in /etc/group. */
static int look_at_group(struct check *c, const struct sg_config_name *n)
{
        gid_t gid;

        if (sg_users_find_group(n->name, &gid) != -ENOENT)
                return 0;
        return sg_config_errors_add(
                &c->errors, n->where,
                "[Match] Group=: there is no group '%s' in /etc/group; one of a "
                "directory service is named by its number",
                n->name);
}

/* Only `config verify` tells: nothing is wrong with it, but it isn't what one would expect. */
static int look_at_device(struct check *c, const struct sg_config_name *n)
{
        if (!c->call || !c->manages_gpus)
                return 0;
        return sg_config_errors_add(&c->errors, n->where,
                                    "[Limits] DeviceAllow=%s opens a GPU to all jobs of the class, "
                                    "whoever was given it; use Gpus= instead, or [Gpu] Manage=no",
                                    n->name);
}

static int look_at_all(struct check *c)
{
        int r = 0;

        c->asked = calloc(c->errors.n_names + 1, sizeof(*c->asked));
        if (!c->asked)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < c->errors.n_names; i++) {
                const struct sg_config_name *n = &c->errors.names[i];

                if (n->group)
                        r = look_at_group(c, n);
                else if (n->device)
                        r = look_at_device(c, n);
                else
                        c->asked[c->n_asked++] = n;
        }
        return r;
}

/* Of users of whom nobody could tell, the first one is enough; and while a daemon starts, its
 * directory service may well do so, too. */
static int judge(struct check *c, const int *results)
{
        bool told = !c->call;
        int r = 0;

        for (size_t i = 0; r >= 0 && i < c->n_asked; i++) {
                const struct sg_config_name *n = c->asked[i];

                if (results[i] == 0)
                        r = sg_config_errors_add(&c->errors, n->where,
                                                 "[Match] User=: there is no user '%s'", n->name);
                else if (results[i] < 0 && !told)
                        r = sg_config_errors_add(&c->errors, n->where,
                                                 "[Match] User=: cannot tell whether there is a "
                                                 "user '%s': the directory service doesn't answer",
                                                 n->name);
                told = told || results[i] < 0;
        }
        return r;
}

static void on_found(const int *results, size_t n, void *userdata)
{
        struct check *c = userdata;
        int r;

        (void)n;
        r = judge(c, results);
        if (r >= 0)
                r = conclude(c);
        if (r < 0 && c->call)
                sg_call_fail(c->call, r);
        check_free(c);
}

static int ask(struct check *c, struct sg_manager *m)
{
        const char **names = calloc(c->n_asked, sizeof(*names));
        int r;

        if (!names)
                return -ENOMEM;
        for (size_t i = 0; i < c->n_asked; i++)
                names[i] = c->asked[i]->name;
        r = sg_names_find(m->names, names, c->n_asked, on_found, c);
        free(names);
        return r;
}

/* Takes the errors. Negative: nothing is said of them, nor will be. */
static int begin(struct sg_manager *m, struct sg_call *call, const struct sg_settings *settings,
                 struct sg_config_errors *errors)
{
        struct check *c = calloc(1, sizeof(*c));
        int r;

        if (!c)
                return -ENOMEM;
        c->errors = *errors;
        *errors = (struct sg_config_errors){0};
        c->n_before = c->errors.n;
        c->manages_gpus = settings && settings->gpu.manage;
        c->call = call ? sg_call_ref(call) : NULL;
        r = look_at_all(c);
        if (r >= 0 && c->n_asked > 0) {
                r = ask(c, m);
                if (r >= 0)
                        return 1;
        } else if (r >= 0) {
                r = conclude(c);
        }
        check_free(c);
        return r;
}

int sg_api_verify_names(struct sg_call *call, const struct sg_settings *settings,
                        struct sg_config_errors *errors)
{
        return begin(call->manager, call, settings, errors);
}

void sg_api_check_names(struct sg_manager *m)
{
        _cleanup_(sg_settings_freep) const struct sg_settings *settings = NULL;
        struct sg_config_errors errors = {0};
        int r = sg_config_load(&settings, &m->config_place, m->node.name, &errors, NULL);

        if (r >= 0)
                r = begin(m, NULL, settings, &errors);
        sg_config_errors_deinit(&errors);
        if (r < 0)
                sg_log(LOG_WARNING, "cannot check the users and groups of policies: %s",
                       strerror(-r));
}
