/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is answered often. */
#include "api/call.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void sg_call_fail(struct sg_call *c, int error)
{
        sg_call_refuse(c, &(struct sg_answer){.kind = SG_ANSWER_NONE}, error);
}

__attribute__((format(printf, 4, 0))) static void refuse(struct sg_call *c,
                                                         enum sg_answer_kind kind,
                                                         const char *object, const char *format,
                                                         va_list ap)
{
        _cleanup_(sg_answer_deinit) struct sg_answer a = {.kind = SG_ANSWER_NONE};
        int r = sg_refusev(&a, kind, object, format, ap);

        sg_call_refuse(c, &a, r);
}

void sg_call_refuse_line(struct sg_call *c, enum sg_answer_kind kind, const char *object,
                         const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        refuse(c, kind, object, format, ap);
        va_end(ap);
}

void sg_call_refuse_job(struct sg_call *c, enum sg_answer_kind kind, uint64_t n, const char *format,
                        ...)
{
        char object[SG_ANSWER_JOB_MAX];
        va_list ap;

        va_start(ap, format);
        refuse(c, kind, sg_answer_job(object, n), format, ap);
        va_end(ap);
}

int sg_call_send_document(struct sg_call *c, const char *doc)
{
        sg_reply_text(sg_call_reply(c), "document", doc);
        return sg_call_send_large(c, strlen(doc));
}
