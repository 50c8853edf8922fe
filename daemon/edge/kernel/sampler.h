/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Reads the counters of one job, round after round. Its files stay open and are read by pread(2);
 * a file that fails because its controller came or went is opened again. A round allocates nothing.
 *
 * Files are kept open only while less than three quarters of RLIMIT_NOFILE (the soft one) is in
 * use; beyond that each is opened, read and closed. A job has up to 14 files.
 */

#include "core/measure/sample.h"
#include "proto/spec.h"

#define SG_SAMPLER_FILES_MAX 14

struct sg_sampler;

/* dirs are borrowed and have to outlive it: those of the job's scope (sg_scope_dirs()). whole: of
 * the groups themselves instead of `job` below them, as with sg_counters_read_whole(). Opens
 * nothing yet; -ENOMEM. */
int sg_sampler_new(struct sg_sampler **ret, const struct sg_group_dir *dirs, size_t n_dirs,
                   bool whole);
struct sg_sampler *sg_sampler_free(struct sg_sampler *s); /* NULL is fine */

/* The scope has its groups only now, or in more hierarchies than before. */
void sg_sampler_set_dirs(struct sg_sampler *s, const struct sg_group_dir *dirs, size_t n_dirs);

/*
 * Reads what the SG_SAMPLE_ bits say into *io and leaves its other figures alone; a figure that
 * can't be had becomes SG_UNLIMITED. 0; or -ENOENT if the job's groups are gone, then *io is as it
 * was. A file that isn't there is looked for again every 64th time.
 */
int sg_sampler_read(struct sg_sampler *s, uint32_t what, struct sg_sample *io);

/* What went wrong since the last call, in one line for the log; each file is spoken of once. False:
 * nothing (more). */
bool sg_sampler_trouble(struct sg_sampler *s, char *buf, size_t size);

/* How many of its files are open now. */
unsigned sg_sampler_fds(const struct sg_sampler *s);
