/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The daemon's words to its operator: to the journal with fields to filter by where stderr is the
 * journal's, else as one line on stderr. Edges and the manager log once, where the object's name is
 * known; core never does. errno survives every call.
 */

#include "proto/message-ids.h"
#include <syslog.h>

/* Messages above this priority (LOG_ERR … LOG_DEBUG) are dropped; LOG_INFO at first. */
void sg_log_set_level(int priority);

__attribute__((format(printf, 2, 3))) void sg_log(int priority, const char *fmt, ...);

/*
 * An event with its MESSAGE_ID (proto/message-ids.h), SCHEDGOV_JOB_ID and SCHEDGOV_REASON; each may
 * be NULL. The text is shown behind "job ID: ", so it doesn't name the job itself.
 */
__attribute__((format(printf, 5, 6))) void sg_log_job(int priority, const char *message_id,
                                                      const char *job_id, const char *reason,
                                                      const char *fmt, ...);
