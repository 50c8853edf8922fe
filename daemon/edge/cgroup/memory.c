/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory and swap, whose limits may lie below what a job uses already: the job is brought below
 * first, or the limit is refused with everything as it was. Nobody is killed by a change.
 */

#include "base/format.h"
#include "edge/cgroup/fs.h"
#include "edge/cgroup/group.h"
#include <errno.h>
#include <string.h>

#define SHRINK_TRIES 5
#define V1_LIMIT "memory.limit_in_bytes"
#define V1_BOTH "memory.memsw.limit_in_bytes" /* memory and swap, never less than memory alone */

static int too_small(const char *group, const char *usage_file, uint64_t value, char **why)
{
        char used[SG_FORMAT_MAX], wanted[SG_FORMAT_MAX];
        uint64_t usage = 0;

        (void)sg_group_read_u64(group, usage_file, &usage);
        sg_why(why,
               "job uses %s, the kernel can't shrink it to %s: free memory in the job or ask for "
               "more",
               sg_format_bytes(used, usage), sg_format_bytes(wanted, value));
        return -EBUSY;
}

/* v1 reclaims in the write itself and refuses with EBUSY;
 * pages in flight may yield to another try. */
static int set_v1(const char *group, const char *file, uint64_t value, char **why)
{
        int r = -EBUSY;

        for (unsigned i = 0; r == -EBUSY && i < SHRINK_TRIES; i++) {
                _cleanup_free_ char *text = NULL;

                r = sg_limit_write(group, file, value, &text);
                if (r == -EINTR) /* it takes longer than anybody may wait for it */
                        r = -EBUSY;
                if (r < 0 && r != -EBUSY)
                        sg_why(why, "%s", text ? text : strerror(-r));
        }
        if (r != -EBUSY)
                return r;
        return too_small(group,
                         strcmp(file, V1_BOTH) == 0 ? "memory.memsw.usage_in_bytes"
                                                    : "memory.usage_in_bytes",
                         value, why);
}

/* In the order in which the kernel can take them; a refused second one takes the first back. */
static int set_both_v1(const char *group, uint64_t memory, uint64_t both, char **why)
{
        uint64_t old_memory = SG_UNLIMITED, old_both = SG_UNLIMITED;
        bool raise;
        int r;

        r = sg_limit_read(group, V1_LIMIT, &old_memory);
        if (r == 0)
                r = sg_limit_read(group, V1_BOTH, &old_both);
        if (r < 0)
                return r;
        raise = both >= old_both;
        r = raise ? set_v1(group, V1_BOTH, both, why) : set_v1(group, V1_LIMIT, memory, why);
        if (r < 0)
                return r;
        r = raise ? set_v1(group, V1_LIMIT, memory, why) : set_v1(group, V1_BOTH, both, why);
        if (r < 0)
                (void)sg_limit_write(group, raise ? V1_BOTH : V1_LIMIT,
                                     raise ? old_both : old_memory, NULL);
        return r;
}

int sg_memory_set_v1(const char *group, enum sg_limit_kind kind, const struct sg_limits *l,
                     char **why)
{
        uint64_t memory = sg_limit_whole_pages(l->memory_max);
        uint64_t swap = sg_limit_whole_pages(l->memory_swap_max);
        uint64_t both = SG_UNLIMITED;

        if (kind == SG_LIMIT_SWAP && swap != SG_UNLIMITED && memory == SG_UNLIMITED) {
                sg_why(why, "memory_swap_max is not enforced: on cgroup v1 it takes a limit of "
                            "memory besides");
                (void)set_both_v1(group, memory, both, NULL);
                return -ENODATA;
        }
        if (!sg_group_has(group, V1_BOTH))
                return kind == SG_LIMIT_SWAP ? -EOPNOTSUPP : set_v1(group, V1_LIMIT, memory, why);
        if (memory != SG_UNLIMITED && swap < SG_UNLIMITED - memory)
                both = memory + swap;
        return set_both_v1(group, memory, both, why);
}

int sg_limit_reclaim(const char *group, uint64_t value, char **why)
{
        uint64_t high = SG_UNLIMITED, usage = 0;
        int r;

        (void)sg_group_read_u64(group, "memory.high", &high);
        r = sg_group_read_u64(group, "memory.current", &usage);
        for (unsigned i = 0; r == 0 && usage > value && i < SHRINK_TRIES; i++) {
                r = sg_group_write_u64(group, "memory.high", high < value ? high : value);
                if (r == 0)
                        r = sg_group_read_u64(group, "memory.current", &usage);
        }
        return r == 0 && usage > value ? too_small(group, "memory.current", value, why) : r;
}

/* v2 kills processes until memory.max fits, so the job is brought below the value first. */
static int shrink_v2(const char *group, uint64_t value, char **why)
{
        uint64_t high = SG_UNLIMITED;
        int r;

        (void)sg_group_read_u64(group, "memory.high", &high);
        r = sg_limit_reclaim(group, value, why);
        if (r == 0)
                r = sg_limit_write(group, "memory.max", value, why);
        (void)sg_group_write_u64(group, "memory.high", high);
        return r;
}

int sg_memory_set_v2(const char *group, uint64_t value, char **why)
{
        uint64_t usage = 0;

        if (value != SG_UNLIMITED && sg_group_read_u64(group, "memory.current", &usage) == 0 &&
            usage > value)
                return shrink_v2(group, value, why);
        return sg_limit_write(group, "memory.max", value, why);
}
