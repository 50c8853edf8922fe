/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See shim.h. */

#include "ctl/shim.h"
#include "base/cleanup.h"
#include "proto/names.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
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

static void add_format(struct words *w, const char *option, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
static void add_format(struct words *w, const char *option, const char *format, ...)
{
        va_list ap;
        char *s;
        int n;

        va_start(ap, format);
        n = vasprintf(&s, format, ap);
        va_end(ap);
        if (n < 0) {
                w->error = -ENOMEM;
                return;
        }
        add(w, option);
        add(w, s);
}

/* Runtimes that count the machine's CPUs would start as many threads, whatever the job may use. */
static void add_threads(struct words *w, const struct sg_invocation *inv)
{
        static const char *const names[] = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                            "MKL_NUM_THREADS"};

        for (size_t i = 0; inv->cpus[0] > 0 && i < SG_ELEMENTSOF(names); i++)
                add_format(w, "--env-default", "%s=%" PRIu64, names[i], inv->cpus[0]);
        if (inv->cpu_quota > 0 && inv->cpu_quota != UINT64_MAX)
                add_format(w, "--env-default", "OMP_WAIT_POLICY=passive");
}

int sg_shim_exec(const char *shim, const struct sg_invocation *inv, const char *id,
                 const int fds[3], struct sg_error *e)
{
        static const char *const names[] = {"--gate", "--lock", "--record"};
        struct words w = {0};

        if (inv->workdir && chdir(inv->workdir) < 0)
                return sg_error_set(e, SG_EXIT_OWN_FAILURE, "--workdir", NULL,
                                    "cannot enter %s: %s", inv->workdir, strerror(errno));
        add(&w, shim);
        add(&w, "--foreground");
        for (size_t i = 0; i < SG_ELEMENTSOF(names); i++)
                add_format(&w, names[i], "%d", fds[i]);
        for (size_t i = 0; i < inv->n_env; i++) {
                add(&w, "--env");
                add(&w, inv->env[i]);
        }
        add_format(&w, "--env", "SCHEDGOV_JOB_ID=%s", id);
        add_threads(&w, inv);
        add(&w, "--");
        for (size_t i = 0; i < inv->n_args; i++)
                add(&w, inv->args[i]);
        if (w.error < 0)
                return w.error;
        (void)fflush(NULL);
        execv(shim, (char **)w.v);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, shim, NULL, "cannot run %s: %s", shim,
                            strerror(errno));
}
