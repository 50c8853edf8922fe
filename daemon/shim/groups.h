/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Joining the groups that the daemon made. What takes the machine-wide lock of cgroup.procs
 * (base/fork.h) is avoided: on v2 a process is born in its group; on v1 only a process itself can
 * move without that lock, by its `tasks` file, and a child is born where its parent is. So the
 * keeper visits the job's groups to fork there, and comes back.
 *
 * It never visits where it could come to harm: those that freeze, kill or count processes.
 */

#include "proto/spec.h"
#include <stdbool.h>

/* The keeper's own start. in_keeper: it was born in the v2 group. */
int sg_groups_keep(const struct sg_spec *s, bool in_keeper);
/* fork(2), the child in all groups of the job; the caller is in all of the keeper's afterwards.
 * -errno; a child that couldn't be placed is gone.
 * after_end: the job has ended, and its groups may still be frozen, or have been killed: after
 * cgroup.kill, kernels (6.18) kill what is born there from elsewhere, but not who moves in. */
pid_t sg_groups_fork(const struct sg_spec *s, bool after_end);
