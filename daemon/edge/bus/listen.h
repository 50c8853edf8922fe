/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The listening socket of the peer-to-peer bus, which the service manager may keep for us. */

#include <stdbool.h>

/*
 * An fd that listens on path (mode 0666: who may do what is decided per call): the one that was
 * kept while we were restarted, or a new one in place of a stale socket. *ret_kept: it is in the
 * service manager's store, where those who connect while we are away wait for us; so its path
 * stays.
 */
int sg_bus_listen(const char *path, bool *ret_kept);
