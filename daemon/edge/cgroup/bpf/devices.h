/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Lists of devices as BPF programs on a v2 group (no controller is needed for that). */

#include "core/place/device.h"
#include <stddef.h>

/* c or b, major, minor, access: what a closed scope may use besides its own rules. */
extern const struct sg_device_rule sg_devices_standard[];
extern const size_t sg_devices_n_standard;

/* 1 if the kernel takes such programs from us, 0 if not. */
int sg_devices_bpf_supported(void);
/* Attaches a closed or guarded list to the group's directory, in place of an earlier program of
 * ours or of whoever attached there, atomically; asks the kernel whether it is there. The program
 * lives as long as the group. -errno. */
int sg_devices_bpf_attach(const char *group, const struct sg_device_list *d);
/* Takes a program of ours away, and leaves one of others. */
int sg_devices_bpf_detach(const char *group);
