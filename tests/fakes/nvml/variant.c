/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the variants differ in besides their symbols. */

#include "fake.h"

const unsigned fake_v3_stride = FAKE_V3_STRIDE;
