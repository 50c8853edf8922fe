/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The options of a job as people would type them. Pure. */

#include <jansson.h>
#include <stddef.h>

/* From the options of a schedgov.command/1: "--name train --mem 4G", "" where there are none. */
const char *sg_options_text(const json_t *options, char *buf, size_t size);
