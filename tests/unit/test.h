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
