/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/answer.h"
#include "proto/names.h"

static const char *const names[_SG_ANSWER_MAX] = {
        [SG_ANSWER_INVALID] = SG_ERROR_INVALID,
        [SG_ANSWER_NO_SUCH_JOB] = SG_ERROR_NO_SUCH_JOB,
        [SG_ANSWER_NOT_YOURS] = SG_ERROR_NOT_YOURS,
        [SG_ANSWER_DENIED] = SG_ERROR_DENIED,
        [SG_ANSWER_WRONG_STATE] = SG_ERROR_WRONG_STATE,
        [SG_ANSWER_BUSY] = SG_ERROR_BUSY,
        [SG_ANSWER_STORE] = SG_ERROR_STORE,
        [SG_ANSWER_AUTHENTICATE] = SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED,
};

int sg_bus_refuse(sd_bus_error *error, const struct sg_answer *a, int r)
{
        if (a->kind == SG_ANSWER_NONE)
                return r;
        return sd_bus_error_setf(error, names[a->kind], "%s%s%s", a->line, a->hint ? "\n" : "",
                                 a->hint ?: "");
}

void sg_bus_reply_refusal(sd_bus_message *call, const struct sg_answer *a, int r)
{
        _cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;

        r = sg_bus_refuse(&error, a, r);
        if (sd_bus_error_is_set(&error))
                (void)sd_bus_reply_method_error(call, &error);
        else
                (void)sd_bus_reply_method_errno(call, r, NULL);
}
