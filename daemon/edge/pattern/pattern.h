/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * A user's pattern for the lines of their job: a regular expression with named fields,
 *
 *     step (?<step>\d+)/(?<total>\d+) .* loss: (?<loss>\S+)
 *
 * Fields: loss (or eval), step, total, epoch, epochs. A field may be named more than once, in
 * alternatives; a pattern without names whose one group is a number's is a pattern for the loss.
 *
 * Syntax: . [abc] [^a-z] ^ $ | (…) (?:…) (?<name>…) (?P<name>…), * + ? {n} {n,} {n,m} and their
 * lazy forms, \d \D \w \W \s \S \b \B \t \xHH, any other punctuation behind a backslash as itself,
 * [:alpha:] and its like in brackets, (?i) in front. What can't be matched in time that is linear
 * in the text (back-references, look-around) is refused, and so is a pattern that repetitions blow
 * up: it costs at most SG_PATTERN_STEPS_MAX steps for each byte of a line.
 *
 * Text is bytes. The process must be in the "C" locale, in which programs start.
 */

#include "core/reports/report.h"
#include <stddef.h>
#include <stdint.h>

#define SG_PATTERN_LENGTH_MAX 1024U
#define SG_PATTERN_GROUPS_MAX 16U
#define SG_PATTERN_STATES_MAX 1000U
#define SG_PATTERN_STEPS_MAX 5000U

struct sg_pattern;

/* 0, or -EINVAL with one line that says what is wrong, and where: for when a job is submitted.
 * -ENOMEM. */
int sg_pattern_check(const char *pattern, char **ret_why);

/* ret_why may be NULL. */
int sg_pattern_new(struct sg_pattern **ret, const char *pattern, char **ret_why);
struct sg_pattern *sg_pattern_free(struct sg_pattern *p);

/* 1 = at least one field was found and is a number, 0 = not. -ENOMEM. */
int sg_pattern_match(const struct sg_pattern *p, const char *line, size_t n, struct sg_report *ret);
