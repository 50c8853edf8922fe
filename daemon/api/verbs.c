/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What each verb does. */
#include "api/internal.h"
#include <assert.h>

static const struct handler {
        int (*ask)(struct sg_call *call, struct sg_answer *a);
        /* Of a live job, which is asked for only by those who may: as `right`, in messages. */
        int (*ask_job)(struct sg_call *call, struct sg_live *l, struct sg_answer *a);
        const char *right;
} handlers[_SG_REQUEST_VERB_MAX] = {
        [SG_REQUEST_SUBMIT] = {sg_api_submit},
        [SG_REQUEST_DRY_RUN] = {sg_api_submit},
        [SG_REQUEST_RUN] = {sg_api_run},
        [SG_REQUEST_ATTACH] = {sg_api_attach},
        [SG_REQUEST_LIST_JOBS] = {sg_api_list},
        [SG_REQUEST_DESCRIBE_JOBS] = {sg_api_list},
        [SG_REQUEST_DESCRIBE_JOB] = {sg_api_describe_job},
        [SG_REQUEST_DESCRIBE_COMMAND] = {sg_api_describe_command},
        [SG_REQUEST_WAIT_JOB] = {sg_api_wait_job},
        [SG_REQUEST_DESCRIBE_SERIES] = {sg_api_describe_series},
        [SG_REQUEST_OPEN_LOG] = {sg_api_open_log},
        [SG_REQUEST_LIST_EVENTS] = {sg_api_list_events},
        [SG_REQUEST_SUBSCRIBE] = {sg_api_subscribe},
        [SG_REQUEST_ADOPT] = {sg_api_adopt},
        [SG_REQUEST_DESCRIBE] = {sg_api_describe},
        [SG_REQUEST_EXPLAIN] = {sg_api_explain},
        [SG_REQUEST_OPEN_DECISIONS] = {sg_api_open_decisions},
        [SG_REQUEST_LIST_POLICIES] = {sg_api_list_policies},
        [SG_REQUEST_DESCRIBE_LIMITS] = {sg_api_describe_limits},
        [SG_REQUEST_SET_POLICY] = {sg_api_set_policy},
        [SG_REQUEST_RELOAD] = {sg_api_reload},
        [SG_REQUEST_CONFIG_CAT] = {sg_api_config_cat},
        [SG_REQUEST_CONFIG_VERIFY] = {sg_api_config_verify},
        [SG_REQUEST_GPUS] = {sg_api_gpus},
        [SG_REQUEST_DRAIN_GPU] = {sg_api_drain_gpu},
        [SG_REQUEST_CANCEL] = {.ask_job = sg_api_cancel, .right = "cancel"},
        [SG_REQUEST_HOLD] = {.ask_job = sg_api_hold, .right = "hold"},
        [SG_REQUEST_RELEASE] = {.ask_job = sg_api_release, .right = "release"},
        [SG_REQUEST_SUSPEND] = {.ask_job = sg_api_suspend, .right = "suspend"},
        [SG_REQUEST_RESUME] = {.ask_job = sg_api_resume, .right = "resume"},
        [SG_REQUEST_REQUEUE] = {.ask_job = sg_api_requeue, .right = "requeue"},
        [SG_REQUEST_SIGNAL] = {.ask_job = sg_api_signal, .right = "signal"},
        [SG_REQUEST_SET] = {.ask_job = sg_api_set, .right = "set"},
};

int sg_api_handle(struct sg_call *call, struct sg_live *l, struct sg_answer *a)
{
        const struct handler *h = &handlers[call->verb];
        int r;

        assert(sg_request_is_of_job(call->verb) == (l != NULL));
        if (!l)
                return h->ask(call, a);
        r = sg_authorize_job(call, &l->job, h->right, a);
        return r > 0 ? h->ask_job(call, l, a) : r;
}
