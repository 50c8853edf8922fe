/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Devices that a job may use. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sg_device_rule {
        char type;            /* 'c' or 'b' */
        int32_t major, minor; /* −1 = any */
        char access[4];       /* subset of "rwm" */
};

struct sg_device_list {
        bool closed; /* the standard nodes (null zero full random urandom tty ptmx pts) and those of
                        the rules; else all that there are */
        struct sg_device_rule *rules; /* none unless it is closed */
        size_t n;
};

/* The devices of a job: those of its class, and the nodes that it was granted, each in one rule. It
 * is the caller's. -ENOMEM. */
int sg_device_list_of_job(struct sg_device_list *ret, const struct sg_device_list *class,
                          const struct sg_device_rule *granted, size_t n_granted);
int sg_device_list_copy(struct sg_device_list *ret, const struct sg_device_list *d); /* -ENOMEM */
void sg_device_list_deinit(struct sg_device_list *d);

bool sg_device_list_has(const struct sg_device_list *d, const struct sg_device_rule *rule);
bool sg_device_list_equal(const struct sg_device_list *a, const struct sg_device_list *b);
