/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What is done about a damaged database. All of it that can be read is copied into a new one, which
 * then takes its place; jobs that can't be read are set aside. STATE/quarantine keeps the damaged
 * file, and a report of what isn't in the new one any more, as far as it can be read.
 *
 * Damage that shows only while the daemon runs fails what meets it, and is marked: it is for the
 * next start, since nobody can say of a job that lives what the copy would make of it.
 */

#include "edge/store/writer/db.h"

#define SG_RESCUE_TEXT_MAX 512

/* Whether all jobs that live can be read, and nobody has met damage elsewhere: 0, or -EBADMSG. */
int sg_db_check(struct sg_db *db, int state_fd);
void sg_db_mark_damaged(const struct sg_db *db, int state_fd);

/* Closes it, and opens what takes its place; `what` says in a line what has become of it. On
 * failure nothing has, and what is open is the damaged one, or nothing; `what` says why. */
int sg_db_rescue(struct sg_db *db, int state_fd, char what[SG_RESCUE_TEXT_MAX]);
