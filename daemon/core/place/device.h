/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Devices that a job may use. */

#include <stdint.h>

struct sg_device_rule {
        char type;            /* 'c' or 'b' */
        int32_t major, minor; /* −1 = any */
        char access[4];       /* subset of "rwm" */
};
