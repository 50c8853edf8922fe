/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Numbers as people and machines read them. Each writes into buf, always terminates it and returns
 * buf. */

#include "parse.h"
#include <stddef.h>
#include <stdint.h>

#define SG_FORMAT_MAX 64

char *sg_format_bytes(char buf[SG_FORMAT_MAX], uint64_t bytes); /* "1.5G", "512M", "infinity" */
char *sg_format_usec(char buf[SG_FORMAT_MAX],
                     uint64_t usec); /* "1h 30min", "4.2s", "85ms", "infinity" */
char *sg_format_percent(char buf[SG_FORMAT_MAX], uint64_t pm); /* "20%", "12.5%", "infinity" */
char *sg_format_rfc3339(char buf[SG_FORMAT_MAX],
                        uint64_t usec); /* "2026-11-18T12:00:00.000000Z" (UTC) */
char *sg_format_local(char buf[SG_FORMAT_MAX],
                      uint64_t usec); /* "2026-11-18 12:00:00" in the local zone */
/* "0-3,6"; truncated only if size is too small, which the return value says: -ENOSPC. */
int sg_format_cpuset(char *buf, size_t size, const struct sg_cpuset *set);
