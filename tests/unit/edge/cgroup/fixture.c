/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See fixture.h. */
#include "tests/unit/edge/cgroup/fixture.h"

void burn_cpu(uint64_t usec)
{
        clock_t end = clock() + (clock_t)(usec * CLOCKS_PER_SEC / SG_USEC_PER_SEC);

        while (clock() < end)
                ;
}

void fixture_backend(struct fixture *f, const char *wanted)
{
        char instance[32];
        int r;

        (void)snprintf(instance, sizeof(instance), "t%d", getpid());
        free(f->why);
        f->why = NULL;
        r = sg_backend_new(&f->backend,
                           &(struct sg_backend_options){.wanted = wanted, .instance = instance},
                           &f->why);
        if (r < 0)
                fail_msg("no backend: %s: %s", strerror(-r), f->why ? f->why : "?");
}

int fixture_teardown(void **state)
{
        struct fixture *f = *state;
        int r = 0;

        for (size_t i = 0; i < f->n_scopes; i++)
                (void)sg_scope_freeze(f->scopes[i], false);
        for (size_t i = 0; i < f->n_scopes; i++)
                (void)sg_scope_signal(f->scopes[i], SIGKILL);
        for (size_t i = 0; i < f->n_pids; i++)
                if (f->pids[i] > 0) {
                        (void)kill(f->pids[i], SIGKILL);
                        (void)waitpid(f->pids[i], NULL, 0);
                }
        for (size_t i = 0; i < f->n_scopes; i++) {
                uint64_t end = sg_now_monotonic_usec() + WAIT_USEC;

                while ((r = sg_scope_remove(f->scopes[i])) == -EBUSY &&
                       sg_now_monotonic_usec() < end)
                        (void)usleep(2000);
                (void)sg_scope_free(f->scopes[i]);
        }
        while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
        (void)sg_backend_free(f->backend);
        free(f->why);
        free(f);
        return r;
}

int fixture_setup_as(void **state, const char *wanted)
{
        struct fixture *f = calloc(1, sizeof(*f));

        *state = f;
        /* Orphans of a job come back to us, as they do to the shim. */
        (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
        fixture_backend(f, wanted);
        return 0;
}

struct sg_limits limits(void)
{
        struct sg_limits l;

        sg_limits_default(&l);
        return l;
}

const struct sg_job_key key_of[4] = {
        {"host-a", 1, 1},
        {"host-a", 2, 1},
        {"host-a", 3, 2},
        {"host-a", 4, 1},
};

struct sg_scope_request request(const struct sg_limits *l, size_t n)
{
        return (struct sg_scope_request){
                .key = &key_of[n], .class = "train", .class_weight = 100, .limits = *l};
}

struct sg_scope *scope_with(struct fixture *f, const struct sg_scope_request *req)
{
        struct sg_scope *s = NULL;
        int r;

        free(f->why);
        f->why = NULL;
        r = sg_scope_new(&s, f->backend, req, &f->why);
        if (r < 0)
                fail_msg("no scope: %s: %s", strerror(-r), f->why ? f->why : "?");
        f->scopes[f->n_scopes++] = s;
        return s;
}

struct sg_scope *scope(struct fixture *f, const struct sg_limits *l, size_t n)
{
        struct sg_scope_request req = request(l, n);

        return scope_with(f, &req);
}

struct sg_counters counters(struct sg_scope *s)
{
        struct sg_counters c;

        sg_scope_counters(s, &c);
        return c;
}
