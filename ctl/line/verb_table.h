/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What schedctl can do, by name. The verbs themselves are in verbs.h. */

#include "ctl/line/error.h"

enum sg_verb_id {
        SG_VERB_RUN,
        SG_VERB_SUBMIT,
        SG_VERB_LIST,
        SG_VERB_STATUS,
        SG_VERB_PLOT,
        SG_VERB_TOP,
        SG_VERB_LOGS,
        SG_VERB_WAIT,
        SG_VERB_CANCEL,
        SG_VERB_HOLD,
        SG_VERB_RELEASE,
        SG_VERB_SUSPEND,
        SG_VERB_RESUME,
        SG_VERB_REQUEUE,
        SG_VERB_RERUN,
        SG_VERB_SIGNAL,
        SG_VERB_SET,
        SG_VERB_HISTORY,
        SG_VERB_SIMULATE,
        SG_VERB_EVENTS,
        SG_VERB_EXPLAIN,
        SG_VERB_LIMITS,
        SG_VERB_GPUS,
        SG_VERB_POLICY,
        SG_VERB_CONFIG,
        SG_VERB_ADOPT,
        SG_VERB_VERSION,
        SG_VERB_HELP,
        _SG_VERB_MAX,
};

struct sg_verb {
        const char *name, *arguments, *summary, *example;
};

extern const struct sg_verb sg_verbs[_SG_VERB_MAX];
int sg_verb_from_string(const char *name); /* -EINVAL */

/* Describes the error, with the verb that may have been meant; -ECANCELED. */
int sg_verb_unknown(const char *word, struct sg_error *e);
