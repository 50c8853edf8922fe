/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/launch.h"
#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

static_assert(sizeof(struct sg_launch_request) == 136, "the request has no padding");
static_assert(sizeof(struct sg_launch_answer) == 24, "nor has the answer");

void sg_launch_request_init(struct sg_launch_request *ret, uint64_t id,
                            const struct sg_job_key *key)
{
        *ret = (struct sg_launch_request){.magic = SG_LAUNCH_MAGIC, .id = id};
        sg_attempt_name_format(ret->attempt, key);
}

static bool is_filled_up(const char *s, size_t size)
{
        size_t length = strnlen(s, size);

        for (size_t i = length; i < size; i++)
                if (s[i])
                        return false;
        return length < size;
}

int sg_launch_request_parse(const void *data, size_t size, uint64_t *ret_id, struct sg_job_key *ret)
{
        struct sg_launch_request request;

        if (size != sizeof(request))
                return -EBADMSG;
        memcpy(&request, data, sizeof(request));
        if (request.magic != SG_LAUNCH_MAGIC || request.reserved != 0 || request.id == 0)
                return -EBADMSG;
        *ret_id = request.id;
        if (!is_filled_up(request.attempt, sizeof(request.attempt)))
                return -EINVAL;
        return sg_attempt_name_parse(request.attempt, ret);
}
