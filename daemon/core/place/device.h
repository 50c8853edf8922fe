/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Devices that a job may use. A list is of one of three kinds:
 *
 *   open      all that there are
 *   guarded   all but those of its guard, of which it has what its rules say
 *   closed    the standard nodes (null zero full random urandom tty ptmx pts), and what its rules
 * say
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SG_DRIVER_NAME_MAX 64 /* the kernel's bound for names in /proc/devices, with its NUL */

struct sg_device_rule {
        char type;            /* 'c' or 'b' */
        int32_t major, minor; /* −1 = any */
        char access[4];       /* subset of "rwm" */
};

/* A node, or all of a driver. */
struct sg_device_other {
        struct sg_device_rule rule;
        char name[SG_DRIVER_NAME_MAX]; /* of a driver whose majors are all allowed, as char-NAME
                                          says it; "" = by its number only */
};

/*
 * What a node gives out piece by piece: nobody has it who wasn't granted it. Immutable, and shared
 * by the lists of all jobs. `others` is what else there is, for those who can't be told what is
 * denied, but only what is allowed.
 */
struct sg_device_guard {
        unsigned n_refs;
        struct sg_device_rule *guarded; /* with all access */
        size_t n_guarded;
        struct sg_device_other *others;
        size_t n_others;
};

struct sg_device_list {
        bool closed;
        struct sg_device_rule *rules; /* none if it is open */
        size_t n;
        struct sg_device_guard *guard; /* none if it is closed */
};

/* Copies both arrays; -ENOMEM. */
int sg_device_guard_new(struct sg_device_guard **ret, const struct sg_device_rule *guarded,
                        size_t n_guarded, const struct sg_device_other *others, size_t n_others);
struct sg_device_guard *sg_device_guard_ref(struct sg_device_guard *g);
struct sg_device_guard *sg_device_guard_unref(struct sg_device_guard *g);
bool sg_device_guard_equal(const struct sg_device_guard *a, const struct sg_device_guard *b);
/* Whether that node, or with −1 one of so many, is guarded. */
bool sg_device_guard_covers(const struct sg_device_guard *g, char type, int32_t major,
                            int32_t minor);

/* The devices of a job: those of its class, and the nodes that it was granted, each in one rule. It
 * is the caller's. Where the class is neither closed nor guarded there is nothing to grant.
 * -ENOMEM. */
int sg_device_list_of_job(struct sg_device_list *ret, const struct sg_device_list *class,
                          const struct sg_device_rule *granted, size_t n_granted);
int sg_device_list_copy(struct sg_device_list *ret, const struct sg_device_list *d); /* -ENOMEM */
void sg_device_list_deinit(struct sg_device_list *d);

/* Not all that there are. */
bool sg_device_list_restricts(const struct sg_device_list *d);
/* A guarded list as a closed one, by numbers: it allows the same of what there is. -ENOMEM. */
int sg_device_list_close(struct sg_device_list *ret, const struct sg_device_list *d);

bool sg_device_list_has(const struct sg_device_list *d, const struct sg_device_rule *rule);
bool sg_device_list_equal(const struct sg_device_list *a, const struct sg_device_list *b);
/* The same to who can be told what is denied: their guards may differ in what else there is. */
bool sg_device_list_denies_same(const struct sg_device_list *a, const struct sg_device_list *b);
