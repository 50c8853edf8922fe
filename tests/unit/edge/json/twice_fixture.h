/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The same request, read twice: as JSON, and as the message of D-Bus that says the same. What came
 * of each is text, which has to be equal: the request, value by value, or what refuses it. For the
 * test of the corpus and for the fuzzer.
 */

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-bus.h>

/* A bus that nobody listens to at the other end, to make messages with; NULL: there can be none. */
sd_bus *twice_bus(void);

/* What came of it, on the heap; NULL or "" for a lack of memory. */
char *twice_by_json(const char *text, size_t size, bool *ret_refused);
/* -EOPNOTSUPP, -EINVAL: D-Bus can't say that. */
int twice_by_bus(sd_bus *bus, const char *text, size_t size, char **ret);
