/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * schedgov.prom in a directory that node_exporter's textfile collector looks at. It is replaced as
 * a whole, readable for all, by a child process that exists for that only: the directory may be on
 * a disk that hangs, and nothing in the daemon waits for one. It isn't synced: after a crash of the
 * machine an old file is worth as little as none.
 */

#include "base/cleanup.h"
#include <systemd/sd-event.h>

struct sg_textfile;

int sg_textfile_new(struct sg_textfile **ret, sd_event *event, const char *dir);
/* Begins to write. What becomes of it is logged when it is another outcome than the last time.
 * -EBUSY: the last write isn't done yet. */
int sg_textfile_put(struct sg_textfile *t, const void *data, size_t size);
/* Removes the file; on a disk that hangs, only if that is done within a second. */
struct sg_textfile *sg_textfile_free(struct sg_textfile *t);
SG_DEFINE_CLEANUP(struct sg_textfile *, sg_textfile_free)
