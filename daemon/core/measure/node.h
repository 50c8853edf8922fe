/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the queue goes by of this host. */

#include <stdint.h>

/* The node at one moment. */
struct sg_node_snapshot {
        uint64_t now_usec; /* of a clock that nobody sets */
        uint64_t cpus;
        uint64_t memory_total, memory_available;
        uint64_t declared_used; /* of what is in use: the part of running jobs with declared memory
                                 */
};
