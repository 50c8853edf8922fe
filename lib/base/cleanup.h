/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Scope-bound clean-up: destructors accept NULL (or -1) so that half-built objects can
 * be dropped. */

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

#define TAKE_PTR(p)                                                                                \
        ({                                                                                         \
                __typeof__(p) *_pp = &(p);                                                         \
                __typeof__(p) _taken = *_pp;                                                       \
                *_pp = NULL;                                                                       \
                _taken;                                                                            \
        })

#define TAKE_FD(fd)                                                                                \
        ({                                                                                         \
                int *_fdp = &(fd);                                                                 \
                int _taken = *_fdp;                                                                \
                *_fdp = -1;                                                                        \
                _taken;                                                                            \
        })

/* Defines NAMEp(), the form that _cleanup_() wants, from a destructor NAME() of one pointer. */
#define SG_DEFINE_CLEANUP(type, name)                                                              \
        static inline void name##p(type *p)                                                        \
        {                                                                                          \
                if (*p)                                                                            \
                        name(*p);                                                                  \
        }

static inline void sg_freep(void *p)
{
        free(*(void **)p);
}

/* Closes fd if it is one and returns -1; errno is left alone. */
int sg_close(int fd);

/* A NULL-terminated list of strings, with them. */
void sg_strv_free(char **strings);

static inline void sg_closep(int *fd)
{
        (void)sg_close(*fd);
}

SG_DEFINE_CLEANUP(char **, sg_strv_free)
SG_DEFINE_CLEANUP(FILE *, fclose)
SG_DEFINE_CLEANUP(DIR *, closedir)

#define _cleanup_free_ _cleanup_(sg_freep)
#define _cleanup_strv_ _cleanup_(sg_strv_freep)
#define _cleanup_close_ _cleanup_(sg_closep)
#define _cleanup_fclose_ _cleanup_(fclosep)
#define _cleanup_closedir_ _cleanup_(closedirp)

#define SG_ELEMENTSOF(a) (sizeof(a) / sizeof((a)[0]))
