/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* A forked child that goes on as a part of the same program. */

/*
 * The first thing that it does. Of the caller's descriptors it keeps the standard streams and
 * `keep` (two, or −1), and no signal handler. What ends the caller by a signal doesn't end the
 * child: that is for the closing of the socket between them. `name` is shown by ps(1), up to 15
 * characters.
 */
void sg_child_set_up(const char *name, const int keep[2]);
