/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/cgroup/knob.h"
#include "base/cleanup.h"

#define KNOB(kind, field, tag, unit, option, request, document, class_key, label, help,            \
             controller, v1_file, v2_file, v2_key, most, property)                                 \
        {                                                                                          \
                SG_LIMIT_##kind, SG_UNIT_##unit, offsetof(struct sg_limits, field),                \
                        SG_CONTROLLER_##controller, v1_file, v2_file, v2_key, most, property       \
        }

const struct sg_knob sg_knobs[] = {SG_KERNEL_LIMITS(KNOB)};
const size_t sg_n_knobs = SG_ELEMENTSOF(sg_knobs);

const struct sg_knob *sg_knob_of(enum sg_limit_kind kind)
{
        for (size_t i = 0; i < sg_n_knobs; i++)
                if (sg_knobs[i].kind == kind)
                        return &sg_knobs[i];
        return NULL;
}
