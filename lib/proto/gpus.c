/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/gpus.h"
#include "base/parse.h"
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WHOLE 100U
#define PART_MIN 5U
#define PART_MAX 95U

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

/* "0.5" or ".25": hundredths. */
static int parse_part(const char *s, uint64_t *ret)
{
        const char *digits = s + (*s == '0') + 1;
        uint64_t part;

        if (!is_digit(digits[0]) || digits[strspn(digits, "0123456789")] != '\0')
                return -EINVAL;
        part = (uint64_t)(digits[0] - '0') * 10;
        if (digits[1])
                part += (uint64_t)(digits[1] - '0');
        if (part < PART_MIN || part > PART_MAX || (digits[1] && digits[2]))
                return -ERANGE;
        *ret = part;
        return 0;
}

int sg_gpus_parse(const char *s, uint64_t *ret_min, uint64_t *ret_max, uint64_t *ret_share)
{
        uint32_t min = 0, max = 0;
        uint64_t share = WHOLE;
        int r = 0;

        if (s[0] == '.' || (s[0] == '0' && s[1] == '.')) {
                r = parse_part(s, &share);
                min = max = 1;
        } else if (strcmp(s, "0") != 0) {
                r = sg_parse_range(s, &min, &max);
        }
        if (r < 0)
                return r;
        if (max > SG_GPUS_ASKED_MAX)
                return -ERANGE;
        *ret_min = min;
        *ret_max = max;
        *ret_share = share;
        return 0;
}

const char *sg_gpus_format(char buf[SG_GPUS_TEXT_MAX], uint64_t min, uint64_t max, uint64_t share)
{
        uint32_t least = (uint32_t)min, most = (uint32_t)max;

        if (share < WHOLE)
                (void)snprintf(buf, SG_GPUS_TEXT_MAX, share % 10 ? "0.%02u" : "0.%u",
                               (unsigned)(share % 10 ? share : share / 10) % WHOLE);
        else if (least != most)
                (void)snprintf(buf, SG_GPUS_TEXT_MAX, "%" PRIu32 "-%" PRIu32, least % 1000,
                               most % 1000);
        else
                (void)snprintf(buf, SG_GPUS_TEXT_MAX, "%" PRIu32, least % 1000);
        return buf;
}

/* An index, or what a driver calls a UUID: "GPU-8f6e…", "MIG-…". */
static bool is_id(const char *s, size_t n)
{
        if (n == 0 || n >= SG_GPU_ID_TEXT_MAX)
                return false;
        for (size_t i = 0; i < n; i++)
                if (!is_digit(s[i]) && !(s[i] >= 'a' && s[i] <= 'z') &&
                    !(s[i] >= 'A' && s[i] <= 'Z') && s[i] != '-')
                        return false;
        return s[0] != '-' && (!is_digit(s[0]) || strspn(s, "0123456789") == n);
}

static bool stands_before(const char *list, const char *id, size_t n)
{
        for (const char *p = list; p < id; p += strcspn(p, ",") + 1)
                if (strcspn(p, ",") == n && strncmp(p, id, n) == 0)
                        return true;
        return false;
}

int sg_gpu_ids_count(const char *s, size_t *ret)
{
        size_t count = 0, n;

        for (const char *p = s;; p += n + 1) {
                n = strcspn(p, ",");
                if (!is_id(p, n) || stands_before(s, p, n))
                        return -EINVAL;
                if (++count > SG_GPUS_ASKED_MAX)
                        return -ERANGE;
                if (!p[n])
                        break;
        }
        *ret = count;
        return 0;
}

int sg_gpu_mig_check(const char *s)
{
        size_t n = strlen(s);

        if (n >= SG_GPU_MIG_TEXT_MAX || !is_digit(s[0]) ||
            strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789.+") != n || !strstr(s, "g."))
                return -EINVAL;
        return 0;
}
