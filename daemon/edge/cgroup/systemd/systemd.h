/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The backend that asks systemd; what others started as units is in foreign.h. */

struct sg_backend_ops;

extern const struct sg_backend_ops sg_systemd_ops;
