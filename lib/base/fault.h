/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Fault points: where tests kill our processes, compiled only with -DSG_FAULTS. A test arms one by
 * writing "NAME WHO" to STATE/fault, WHO being self, peer or both; the process that reaches the
 * point takes the file away (so that a fault strikes once) and sends SIGKILL.
 */

#include <sys/types.h>

#ifdef SG_FAULTS
/* `file` is the fault file relative to dirfd; `peer` the process that "peer" means here, or 0. */
void sg_fault(const char *name, int dirfd, const char *file, pid_t peer);
#else
static inline void sg_fault(const char *name, int dirfd, const char *file, pid_t peer)
{
        (void)name;
        (void)dirfd;
        (void)file;
        (void)peer;
}
#endif
