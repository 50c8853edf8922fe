/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Requests as D-Bus has them: a verb is a method, its options are an a{sv} in front of the other
 * parameters. */

#include "core/ask/request.h"
#include <systemd/sd-bus.h>

/* Reads a call into a request, which must not outlive it: bytes and descriptors are the message's.
 * Negative: with a refusal, or the message isn't what the method takes. */
int sg_bus_read_request(sd_bus_message *call, struct sg_request *q, struct sg_answer *a);

#define SG_BUS_SIGNATURE_MAX 32
/* What the method of that verb takes: "a{sv}ayayay". */
const char *sg_bus_signature(enum sg_request_verb verb, char buf[SG_BUS_SIGNATURE_MAX]);
/* The D-Bus type of a value. */
const char *sg_bus_type(enum sg_value_type type);
