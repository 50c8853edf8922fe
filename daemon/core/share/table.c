/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All policies that a policy file can name, and the names of what they put jobs into.
 */

#include "core/share/policies.h"

#define ENTRY(kind, name) [SG_SHARE_##kind] = &sg_share_##name,
const struct sg_share_policy *const sg_share_policies[_SG_SHARE_MAX] = {SG_SHARE_POLICIES(ENTRY)};

const char *sg_share_list_to_string(enum sg_share_list l)
{
        static const char *const names[] = {
                [SG_LIST_NONE] = "none",   [SG_LIST_NEW] = "new",
                [SG_LIST_WATCH] = "watch", [SG_LIST_COMPLETE] = "complete",
                [SG_LIST_PROBE] = "probe", [SG_LIST_RUN] = "run",
                [SG_LIST_LAST] = "last",   [SG_LIST_WAIT] = "wait",
                [SG_LIST_ASIDE] = "aside", [SG_LIST_DROPPED] = "dropped",
        };

        return names[l];
}
