/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which function the caller would have got without us. Mostly there is one, behind us in the global
 * scope. Where an interpreter loads extensions, each may bring an OpenMP or a BLAS of its own, in a
 * scope that only it can see: then it is what the caller's own dependencies have, found once for
 * each place that calls.
 *
 * What was found stays loaded: its address is kept.
 */
#include "omp/omp-internal.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARIES_MAX 64
#define SITES_MAX 4096U         /* places that call; those beyond are looked up each time */
#define SYMBOL_LOOKUP_ERROR 127 /* as the dynamic linker exits */

struct site {
        const struct sgo_entry *entry;
        const void *caller; /* NULL: whoever */
        struct sgo_real real;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sgo_library libraries[LIBRARIES_MAX];
static size_t n_libraries;
static _Atomic(const struct site *) sites[SITES_MAX];

/* --- libraries --- */

static bool is_ours(const void *function)
{
        static const void *base;
        Dl_info info;

        if (!base && dladdr((const void *)sgo_resolve, &info))
                base = info.dli_fbase;
        return dladdr(function, &info) && info.dli_fbase == base;
}

void *sgo_symbol(void *handle, const char *name)
{
        void *p = handle ? dlsym(handle, name) : NULL;

        return p && !is_ours(p) ? p : NULL;
}

#define FIND(handle, name, member) *(void **)&(member) = sgo_symbol(handle, name)

static void fill(struct sgo_library *l, const void *base, void *handle)
{
        l->base = base;
        FIND(handle, "omp_get_max_threads", l->get_max_threads);
        FIND(handle, "omp_get_active_level", l->get_active_level);
        FIND(handle, "omp_get_level", l->get_level);
        FIND(handle, "omp_get_team_size", l->get_team_size);
        FIND(handle, "omp_set_num_threads", l->set_num_threads);
        FIND(handle, "__kmpc_push_num_threads", l->push_num_threads);
        FIND(handle, "__kmpc_global_thread_num", l->global_thread_num);
        sgo_blas_find(l, handle);
}

static struct sgo_library *library_at(const void *base, const char *path)
{
        static struct sgo_library none;
        struct sgo_library *l = &none;
        void *handle;

        (void)pthread_mutex_lock(&lock);
        for (size_t i = 0; i < n_libraries && l == &none; i++)
                if (libraries[i].base == base)
                        l = &libraries[i];
        if (l == &none && n_libraries < LIBRARIES_MAX) {
                handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
                if (handle) {
                        l = &libraries[n_libraries++];
                        fill(l, base, handle);
                }
        }
        (void)pthread_mutex_unlock(&lock);
        return l;
}

/* A program's own name is empty for dlopen(3), which then wants NULL. */
static void *open_again(const char *path)
{
        return dlopen(path && *path ? path : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

static struct sgo_library *library_of(const void *function)
{
        struct link_map *map;
        Dl_info info;

        if (!dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP))
                return library_at(NULL, NULL);
        return library_at(info.dli_fbase, *map->l_name ? map->l_name : NULL);
}

/* --- functions --- */

static void *behind_caller(const char *name, const void *caller)
{
        struct link_map *map;
        Dl_info info;
        void *handle, *p;

        if (!dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP))
                return NULL;
        handle = open_again(map->l_name);
        p = sgo_symbol(handle, name);
        if (handle)
                (void)dlclose(handle);
        return p;
}

static bool is_openmp_blas(const void *address)
{
        struct link_map *map;
        Dl_info info;
        void *handle;
        bool yes;

        if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !*map->l_name)
                return false;
        handle = open_again(map->l_name);
        yes = handle && sgo_blas_is_openmp(handle, info.dli_fbase);
        if (handle)
                (void)dlclose(handle);
        return yes;
}

struct search {
        const char *name;
        void *found;
};

static int look_into(struct dl_phdr_info *info, size_t size, void *data)
{
        struct search *s = data;
        void *handle;

        (void)size;
        if (!info->dlpi_name || !*info->dlpi_name)
                return 0;
        handle = open_again(info->dlpi_name);
        s->found = sgo_symbol(handle, s->name);
        if (handle)
                (void)dlclose(handle);
        return s->found != NULL;
}

/* A library that relies on who loaded it to have loaded the runtime, too. */
static void *anywhere(const char *name)
{
        struct search s = {.name = name};

        (void)dl_iterate_phdr(look_into, &s);
        return s.found;
}

static int one(void)
{
        return 1;
}

/* Somebody who asks by a weak reference whether there is an OpenMP found our stub. For the rest it
 * is the end, as it would have been without us. */
static void *nowhere(const struct sgo_entry *e)
{
        if (e->kind == SGO_MAX || e->kind == SGO_SET)
                return (void *)one;
        (void)dprintf(STDERR_FILENO, "libschedgov-omp: undefined symbol: %s\n", e->name);
        _exit(SYMBOL_LOOKUP_ERROR);
}

static struct site find(const struct sgo_entry *e, const void *caller)
{
        struct site s = {.entry = e};

        s.real.function = dlsym(RTLD_NEXT, e->name);
        if (!s.real.function) {
                s.caller = caller;
                s.real.function = behind_caller(e->name, caller);
        }
        if (!s.real.function)
                s.real.function = anywhere(e->name);
        if (!s.real.function)
                s.real.function = nowhere(e);
        s.real.library = library_of(s.real.function);
        if (e->kind == SGO_MAX) {
                s.caller = caller;
                if (is_openmp_blas(caller))
                        s.real.caller = SGO_OPENMP_BLAS;
                else if (sgo_is_onednn(caller))
                        s.real.caller = SGO_ONEDNN;
        }
        return s;
}

static unsigned place_of(const struct sgo_entry *e, const void *caller)
{
        uint64_t h = ((uintptr_t)e >> 3) * 0x9e3779b97f4a7c15ULL;

        h = (h ^ (uintptr_t)caller) * 0x9e3779b97f4a7c15ULL;
        return (unsigned)(h >> 40) % SITES_MAX;
}

/* Only what is found for a caller of its own goes by caller; the first free place is taken, and
 * nothing is ever taken out. */
static const struct site *kept(const struct sgo_entry *e, const void *caller)
{
        for (unsigned i = place_of(e, caller), n = 0; n < 8; i++, n++) {
                const struct site *s =
                        atomic_load_explicit(&sites[i % SITES_MAX], memory_order_acquire);

                if (!s)
                        return NULL;
                if (s->entry == e && s->caller == caller)
                        return s;
        }
        return NULL;
}

static void keep(const struct site *found)
{
        struct site *s = malloc(sizeof(*s));

        if (!s)
                return;
        *s = *found;
        for (unsigned i = place_of(s->entry, s->caller), n = 0; n < 8; i++, n++) {
                const struct site *empty = NULL;

                if (atomic_compare_exchange_strong(&sites[i % SITES_MAX], &empty, s))
                        return;
        }
        free(s);
}

struct sgo_real sgo_resolve(const struct sgo_entry *e, const void *caller)
{
        const struct site *s = kept(e, NULL);

        if (!s)
                s = kept(e, caller);
        if (s)
                return s->real;

        struct site found = find(e, caller);
        keep(&found);
        return found.real;
}

/* Kept under an entry of its own, as the entry of the function itself isn't kept by caller. */
enum sgo_caller sgo_resolve_clause(const void *caller)
{
        static const struct sgo_entry clause = {.name = "num_threads"};
        const struct site *s = kept(&clause, caller);

        if (s)
                return s->real.caller;

        struct site found = {.entry = &clause, .caller = caller};
        if (sgo_may_be_narrowed(caller))
                found.real.caller = SGO_NARROWED;
        keep(&found);
        return found.real.caller;
}
