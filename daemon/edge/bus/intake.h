/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a connection sends, on its way to sd-bus, which would take in whatever a message's head
 * announces. Here the head is looked at first:
 *
 *     who asks ── socket ──► intake ── socket pair ──► sd-bus ── socket ──► who asks
 *
 *     "\0AUTH EXTERNAL …\r\n … BEGIN\r\n"                    so much text, and no more
 *     l|B type flags 1 | body | serial | fields | …          messages: 16 bytes of head, whose
 *                        u32    u32      u32                  fields are filled up to 8
 *
 * A message that is larger than any request is refused, and each is charged to its user until
 * sd-bus has all of it; one for which there is no room stays where it is, in its sender's socket.
 * Pieces go on one by one, so that who calls can take turns.
 */

#include "core/account/ledger.h"
#include <sys/types.h>

struct sg_intake;

/* fd is where the user sends, and stays the caller's; *ret_bus is for sd-bus, and the caller's. */
int sg_intake_new(struct sg_intake **ret, struct sg_ledger *ledger, uid_t uid, int fd,
                  int *ret_bus);
struct sg_intake *sg_intake_free(struct sg_intake *i);

/* Passes the next piece on: 0, sd-bus has to read it before the next. SG_LEDGER_…: it has to wait
 * for room. -EAGAIN: there is none; anything else: the connection has ended, or is to end. */
int sg_intake_pass(struct sg_intake *i);

/* How many messages have gone on whole; and whether messages have begun, as the text of the
 * authentication is over. */
uint64_t sg_intake_n_whole(const struct sg_intake *i);
bool sg_intake_has_begun(const struct sg_intake *i);
/* Whether the authentication is over, and no message has begun that hasn't ended. */
bool sg_intake_is_between(const struct sg_intake *i);
/* Whether a message has begun for which room was taken. */
bool sg_intake_holds(const struct sg_intake *i);
/* The size of the message that went on last, or is going on. */
uint64_t sg_intake_size(const struct sg_intake *i);
/* How much of messages has gone on. */
uint64_t sg_intake_passed(const struct sg_intake *i);
/* When the message that hasn't ended began, monotonic. */
uint64_t sg_intake_since(const struct sg_intake *i);
