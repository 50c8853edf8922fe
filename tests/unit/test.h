/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What cmocka.h wants to have been included before it, and what nearly every test needs. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include <errno.h>
#include <string.h>

/* So much less of what is done again and again, with other numbers. */
#ifdef __SANITIZE_ADDRESS__
#define TEST_SLOW 10
#else
#define TEST_SLOW 1
#endif
