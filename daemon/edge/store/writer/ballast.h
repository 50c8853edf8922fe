/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * STATE/ballast: room on the disk that nobody else gets. It is given up for the moment in which
 * something is written that a full disk must not prevent (an end, a hold, whatever frees room), and
 * taken back right after that. New jobs never get it.
 *
 * It is as large as the disk lets it be: the last free bytes are ours, up to what is wanted, since
 * who fills a disk doesn't stop before its last page.
 */

#include <stdbool.h>
#include <stdint.h>

struct sg_ballast {
        int state_fd, fd; /* the latter −1: not there yet */
        uint64_t wanted, held;
};

/* Doesn't fail: without room, or where files can't be made, there is just less of it, or none. */
void sg_ballast_open(struct sg_ballast *b, int state_fd);
void sg_ballast_close(struct sg_ballast *b);
/* Whether that made any room. */
bool sg_ballast_drop(struct sg_ballast *b);
/* Takes (back) what there is room for. */
void sg_ballast_fill(struct sg_ballast *b);
bool sg_ballast_is_whole(const struct sg_ballast *b);
/* Whether the ballast is smaller than wanted for lack of room (and not because of a file system
 * that can't do it, or of a quota). */
bool sg_ballast_is_short(const struct sg_ballast *b);
/* What the disk has left for anything else. */
uint64_t sg_ballast_room(const struct sg_ballast *b);
