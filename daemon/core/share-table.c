/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All policies that a policy file can name, and the names of what they put jobs into.
 */

#include "core/share-policies.h"

const struct sg_share_policy *const sg_share_policies[] = {
        [SG_SHARE_GROWTH] = &sg_share_growth,     [SG_SHARE_FLOWCON] = &sg_share_flowcon,
        [SG_SHARE_FAIR] = &sg_share_fair,         [SG_SHARE_SRPT] = &sg_share_srpt,
        [SG_SHARE_LAS] = &sg_share_las,           [SG_SHARE_SLAQ] = &sg_share_slaq,
        [SG_SHARE_DEADLINE] = &sg_share_deadline, [SG_SHARE_HESRPT] = &sg_share_hesrpt,
};

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
