/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See shim.h. */

#include "ctl/ask/shim.h"
#include "base/cleanup.h"
#include "proto/job-env.h"
#include "proto/names.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#ifndef SG_LIBDIR
#define SG_LIBDIR "/usr/local/lib/schedgov"
#endif

#define SG_SHIM_PATH SG_LIBDIR "/schedgov-shim"

int sg_shim_find(char **ret, struct sg_error *e)
{
        char self[PATH_MAX], *slash;
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - sizeof("schedgov-shim"));

        if (n > 0) {
                self[n] = '\0';
                slash = strrchr(self, '/');
                if (slash) {
                        (void)strcpy(slash + 1, "schedgov-shim"); /* room was left for it */
                        if (access(self, X_OK) == 0) {
                                *ret = strdup(self);
                                return *ret ? 0 : -ENOMEM;
                        }
                }
        }
        if (access(SG_SHIM_PATH, X_OK) < 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, SG_SHIM_PATH,
                                    "install schedgov, or put it beside schedctl",
                                    "cannot run %s: %s", SG_SHIM_PATH, strerror(errno));
        *ret = strdup(SG_SHIM_PATH);
        return *ret ? 0 : -ENOMEM;
}

struct words { /* a growing argv whose strings are never freed: exec or exit follows */
        const char **v;
        size_t n, allocated;
        int error;
};

static void add(struct words *w, const char *s)
{
        if (w->n + 1 >= w->allocated) {
                size_t more = w->allocated + 64;
                const char **grown = reallocarray(w->v, more, sizeof(*grown));

                if (!grown) {
                        w->error = -ENOMEM;
                        return;
                }
                w->v = grown;
                w->allocated = more;
        }
        w->v[w->n++] = s;
        w->v[w->n] = NULL;
}

static void add_pair(struct words *w, const char *option, const char *value)
{
        add(w, option);
        add(w, value);
}

static void add_fd(struct words *w, const char *option, int fd)
{
        char *s;

        if (asprintf(&s, "%d", fd) < 0)
                w->error = -ENOMEM;
        else
                add_pair(w, option, s);
}

int sg_shim_exec(const char *shim, const struct sg_invocation *inv, char *const *argv,
                 const struct sg_attached *a, struct sg_error *e)
{
        static const char *const names[] = {"--gate", "--lock", "--record"};
        struct words w = {0};
        char *preload; /* the environment's, to the end */
        int r = environ ? sg_job_env_drop((const char **)environ, &preload) : 0;

        if (r < 0)
                return r;
        if (inv->workdir && chdir(inv->workdir) < 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--workdir", NULL,
                                    "cannot enter %s: %s", inv->workdir, strerror(errno));
        add(&w, shim);
        add(&w, "--foreground");
        for (size_t i = 0; i < SG_ELEMENTSOF(names); i++)
                add_fd(&w, names[i], a->fds[i]);
        for (size_t i = 0; i < inv->n_env; i++)
                add_pair(&w, "--env", inv->env[i]);
        for (char **p = a->env; p && *p; p++)
                add_pair(&w, "--env", *p);
        for (char **p = a->env_default; p && *p; p++)
                add_pair(&w, "--env-default", *p);
        add(&w, "--");
        for (; *argv; argv++)
                add(&w, *argv);
        if (w.error < 0)
                return w.error;
        (void)fflush(NULL);
        execv(shim, (char **)w.v);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, shim, NULL, "cannot run %s: %s", shim,
                            strerror(errno));
}
