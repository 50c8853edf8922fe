/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Adopted jobs: groups that others made. Each is a live job in state running or suspended whose
 * scope can only be looked at; it has no attempt, no shim and no place in the queue. It ends when
 * its group is empty or gone.
 */

#include "core/settings/adopt.h"
#include "jobs/live.h"
#include <systemd/sd-bus.h>

struct sg_adopter;

/* Without a cgroup tree to be seen *ret is NULL, with which all calls here do nothing. */
int sg_adopter_new(struct sg_adopter **ret, struct sg_manager *m);
struct sg_adopter *sg_adopter_free(struct sg_adopter *a);
/* Finds the groups of adopted jobs that the store knows, ends the jobs whose groups have gone, and
 * takes in what is new. */
void sg_adopter_start(struct sg_adopter *a);
/* Other settings are in force. */
void sg_adopter_reload(struct sg_manager *m);
/* `adopt`: a group by its path, or the unit whose group that is; the reply to `call` is the job's
 * number. 0: it will be answered, or negative with *error. */
int sg_adopter_adopt(struct sg_adopter *a, sd_bus_message *call, const char *what,
                     const struct sg_class *class, sd_bus_error *error);

/* Whether the job's limits may be changed: those of its class have been asked for. */
bool sg_adopted_is_limited(const struct sg_live *l);
/* The job is freed. */
void sg_adopted_forget(struct sg_live *l);
/* Whether that may be done to it: always for a job of our own; else *error says who can. */
int sg_adopted_check(const struct sg_live *l, enum sg_adoption needed, const char *verb,
                     sd_bus_error *error);
/* For a governed one. 1: when systemd has frozen or thawed it, it is told what came of that, with
 * the asker of the event `e`; negative: it wasn't asked. */
int sg_adopted_freeze(struct sg_live *l, const struct sg_life_event *e, bool frozen);
/* Answers the call when systemd has done it. */
int sg_adopted_signal(struct sg_live *l, sd_bus_message *call, int sig, const uid_t *as,
                      sd_bus_error *error);
