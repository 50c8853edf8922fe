/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Refusals as D-Bus has them: errors by name, whose message is the line and, below it, the hint. */

#include "core/ask/answer.h"
#include <systemd/sd-bus.h>

/* For a handler to return: negative, with the error set, or `r` as it is where nothing was refused.
 */
int sg_bus_refuse(sd_bus_error *error, const struct sg_answer *a, int r);
/* Answers a call with that. */
void sg_bus_reply_refusal(sd_bus_message *call, const struct sg_answer *a, int r);
