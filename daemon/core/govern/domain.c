/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Classes and the domains that they form. A new configuration is made beside the old one and takes
 * its place whole: domains whose parameters are still wanted, and what is remembered of classes,
 * move over.
 */

#include "core/govern/internal.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sg_domain *sg_domain_free(struct sg_domain *d)
{
        if (d && d->state)
                d->policy->destroy(d->state);
        free(d);
        return NULL;
}
SG_DEFINE_CLEANUP(struct sg_domain *, sg_domain_free)

static int domain_new(struct sg_domain **ret, const struct sg_share_settings *settings, double now)
{
        _cleanup_(sg_domain_freep) struct sg_domain *d = calloc(1, sizeof(*d));

        if (!d)
                return -ENOMEM;
        d->settings = *settings;
        d->policy = sg_share_policies[settings->share];
        d->clock = now;
        d->capacity = 1;
        d->interval = settings->tick;
        if (d->policy->create) {
                int r = d->policy->create(&d->state, &d->settings);

                if (r < 0)
                        return r;
        }
        *ret = TAKE_PTR(d);
        return 0;
}

/* A domain of the same policy with other parameters takes over what the old one has promised and
 * counted, as it would over a restart. */
static void inherit(struct sg_domain *d, const struct sg_domain *from)
{
        _cleanup_(sg_record_deinitp) struct sg_record state = {0};

        d->heir_of = from;
        d->clock = from->clock;
        d->capacity = from->capacity;
        if (!d->policy->save)
                return;
        d->policy->save(from->state, &state);
        if (state.error == 0) /* else, or if memory is short now, it begins anew */
                (void)d->policy->load(d->state, state.data, state.size);
}

static const struct sg_domain *domain_of_class(const struct sg_governor *g, const char *name)
{
        for (size_t i = 0; i < g->n_classes; i++)
                if (strcmp(g->classes[i].name, name) == 0)
                        return g->classes[i].domain;
        return NULL;
}

struct layout {
        struct sg_governed_class *classes;
        size_t n_classes;
        struct sg_domain **domains;
        size_t n_domains;
};

static struct sg_domain *domain_among(struct sg_domain *const *domains, size_t n,
                                      const struct sg_share_settings *settings)
{
        for (size_t i = 0; i < n; i++)
                if (sg_share_settings_equal(&domains[i]->settings, settings))
                        return domains[i];
        return NULL;
}

static int lay_out(struct layout *to, const struct sg_governor *g,
                   const struct sg_governor_class *classes, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                struct sg_governed_class *c = &to->classes[i];
                struct sg_domain *d =
                        domain_among(to->domains, to->n_domains, &classes[i].settings);

                if (!d)
                        d = domain_among(g->domains, g->n_domains, &classes[i].settings);
                if (!d) {
                        const struct sg_domain *before = domain_of_class(g, classes[i].name);
                        int r = domain_new(&d, &classes[i].settings, g->now);

                        if (r < 0)
                                return r;
                        if (before && before->policy == d->policy)
                                inherit(d, before);
                }
                if (!domain_among(to->domains, to->n_domains, &d->settings))
                        to->domains[to->n_domains++] = d;
                strncpy(c->name, classes[i].name, sizeof(c->name) - 1);
                c->weight = classes[i].weight;
                c->domain = d;
                for (size_t j = 0; j < g->n_classes; j++)
                        if (strcmp(g->classes[j].name, c->name) == 0) {
                                c->history = g->classes[j].history;
                                c->past = g->classes[j].past;
                        }
                to->n_classes++;
        }
        return 0;
}

static bool holds(struct sg_domain *const *domains, size_t n, const struct sg_domain *d)
{
        for (size_t i = 0; i < n; i++)
                if (domains[i] == d)
                        return true;
        return false;
}

/* Frees the domains of a that aren't in b. */
static void free_others(struct sg_domain **a, size_t n_a, struct sg_domain *const *b, size_t n_b)
{
        for (size_t i = 0; i < n_a; i++)
                if (!holds(b, n_b, a[i]))
                        sg_domain_free(a[i]);
        free(a);
}

static int room_for_classes(struct sg_governor *g, size_t n)
{
        struct sg_class_decision *decisions =
                reallocarray(g->class_decisions, n, sizeof(*decisions));
        struct sg_share_class *shares;

        if (!decisions)
                return -ENOMEM;
        g->class_decisions = decisions;
        shares = reallocarray(g->share_classes, n, sizeof(*shares));
        if (!shares)
                return -ENOMEM;
        g->share_classes = shares;
        return 0;
}

static void swap_in(struct sg_governor *g, const struct layout *to)
{
        struct sg_domain **domains = g->domains;
        size_t n_domains = g->n_domains;

        free(g->classes);
        g->classes = to->classes;
        g->n_classes = to->n_classes;
        g->domains = to->domains;
        g->n_domains = to->n_domains;
        for (size_t i = 0; i < g->n_jobs; i++)
                (void)sg_governor_enter(g, g->jobs[i]);
        for (size_t i = 0; i < g->n_domains; i++)
                g->domains[i]->heir_of = NULL;
        free_others(domains, n_domains, g->domains, g->n_domains);
}

int sg_governor_configure(struct sg_governor *g, double cpus,
                          const struct sg_governor_class *classes, size_t n)
{
        struct layout to = {
                .classes = calloc(n, sizeof(struct sg_governed_class)),
                .domains = calloc(n, sizeof(struct sg_domain *)),
        };
        int r = to.classes && to.domains ? room_for_classes(g, n) : -ENOMEM;

        if (r == 0)
                r = lay_out(&to, g, classes, n);
        if (r < 0) {
                free_others(to.domains, to.n_domains, g->domains, g->n_domains);
                free(to.classes);
                return r;
        }
        g->cpus = cpus;
        swap_in(g, &to);
        sg_governor_stir(g);
        return 0;
}
