/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Strict parsing of what people and files say. Every function takes the whole string, returns 0 or
 * -EINVAL (not of this form) or -ERANGE (too large), and leaves *ret untouched on failure. No
 * locale.
 */

#include <stdbool.h>
#include <stdint.h>

#define SG_UNLIMITED UINT64_MAX /* "infinity" in every resource field */
#define SG_CPUS_MAX 1024
#define SG_CPU_QUOTA_MIN 10 /* hundredths of a percent: 1 ms per second, the kernel's least */

struct sg_cpuset {
        uint64_t bits[SG_CPUS_MAX / 64];
};

int sg_parse_u64(const char *s, uint64_t *ret);
int sg_parse_u32(const char *s, uint32_t *ret);
int sg_parse_i32(const char *s, int32_t *ret);
int sg_parse_bool(const char *s, bool *ret); /* yes/no, true/false, on/off, 1/0 */

/* "4G", "512M", "1.5G", "123" (bytes), "infinity"; suffixes K M G T P, optional trailing B or iB,
 * powers of 1024. */
int sg_parse_bytes(const char *s, uint64_t *ret);

/* "90" (seconds), "2h", "1h 30min", "500ms", "1d", "1:30:00" (h:m:s), "infinity". */
int sg_parse_usec(const char *s, uint64_t *ret);

/* "20%" → 2000, "12.5%" → 1250, "150%" → 15000: permyriad. The percent sign is required. */
int sg_parse_percent(const char *s, uint64_t *ret_pm);

/* "4" → 4,4; "2-8" → 2,8. lo ≥ 1, hi ≥ lo. */
int sg_parse_range(const char *s, uint32_t *ret_lo, uint32_t *ret_hi);

/* "TERM", "SIGTERM", "15", "RTMIN+3". */
int sg_parse_signal(const char *s, int *ret);
/* "TERM" for 15 (no "SIG"); NULL for a number that is no signal. */
const char *sg_signal_name(int sig);
#define SG_SIGNAL_TEXT_MAX 24
/* For people, whatever it is: "SIGTERM", "signal 32". Returns buf. */
const char *sg_signal_text(char buf[SG_SIGNAL_TEXT_MAX], int sig);

/* "0-3,6" as in cpuset.cpus; the empty string is the empty set. */
int sg_parse_cpuset(const char *s, struct sg_cpuset *ret);
void sg_cpuset_add(struct sg_cpuset *set, unsigned cpu);
bool sg_cpuset_has(const struct sg_cpuset *set, unsigned cpu);
unsigned sg_cpuset_count(const struct sg_cpuset *set);

/* "2026-11-18T12:00:00[.ffffff]Z|±hh:mm", "2026-11-18 12:00[:00]" (local), "now", "10min" or
 * "+10min", "12:30" (next such local time after now). Microseconds since the epoch. */
int sg_parse_timestamp(const char *s, uint64_t now_usec, uint64_t *ret_usec);
/* The same, looking back: "10min" or "-10min" is ago, "12:30" the last such time. */
int sg_parse_past(const char *s, uint64_t now_usec, uint64_t *ret_usec);
