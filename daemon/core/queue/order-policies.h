/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The policies of order.c, each a file of its own. */

#include "base/cleanup.h"
#include "core/queue/order.h"

#define SG_ORDER_DECLARE(kind, name) extern const struct sg_order_policy sg_order_##name;
SG_ORDERS(SG_ORDER_DECLARE)
#undef SG_ORDER_DECLARE
