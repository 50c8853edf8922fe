/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the table of vendors says of whose a number is. */

#include "core/gpu/nodes.h"

bool sg_gpu_is_driver(const char *name); /* of character devices, of any vendor's GPUs */
bool sg_gpu_is_module(const char *name); /* that drives devices on the bus */
int32_t sg_gpu_assigned_major(size_t i); /* −1: there are no more */
