/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A forked child that goes on as a part of the same program. */

/*
 * To be called first in the child. Of the caller's descriptors it keeps the standard streams and
 * `keep` (two, or −1), and no signal handler. A signal that ends the caller doesn't end the child:
 * it ends when the socket between the two is closed. `name` is shown by ps(1), up to 15 characters.
 */
void sg_child_set_up(const char *name, const int keep[2]);
