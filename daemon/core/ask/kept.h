/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The options of a job as they were asked for, kept with its command (proto/spec.h), and the reply
 * that tells of both: what Submit takes to run it again.
 */

#include "core/ask/reply.h"
#include "core/ask/request.h"

/* Adds the options to the submitted part of a spec. */
void sg_kept_put(const struct sg_request *q, struct sg_record *spec);
/* Writes options, argv and script into a reply. Of an array this task alone is meant. -EBADMSG,
 * -ENOMEM. */
int sg_kept_reply(const struct sg_job *job, const void *spec, size_t size, struct sg_reply *r);
