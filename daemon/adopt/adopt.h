/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Adopted jobs: groups that others made. Each is a live job in state running or suspended whose
 * scope can only be looked at; it has no attempt, no shim and no place in the queue. It ends when
 * its group is empty or gone.
 */

#include "core/ask/answer.h"
#include "core/settings/adopt.h"
#include "jobs/live.h"

struct sg_adopter;

/* Who adopts by hand hears once what came of it: why not (whose answer is of kind NONE if nobody
 * can say more), or the number of the job. With neither nobody will ever say, as the daemon ends.
 */
struct sg_adopt_asker {
        void (*told)(const struct sg_answer *refusal, uint64_t n, void *userdata);
        void *userdata;
        struct sg_who who;
};

/* Without a cgroup tree to be seen *ret is NULL, with which all calls here do nothing. */
int sg_adopter_new(struct sg_adopter **ret, struct sg_manager *m);
struct sg_adopter *sg_adopter_free(struct sg_adopter *a);
/* Finds the groups of adopted jobs that the store knows, ends the jobs whose groups have gone, and
 * takes in what is new. */
void sg_adopter_start(struct sg_adopter *a);
/* Other settings are in force. */
void sg_adopter_reload(struct sg_manager *m);
/* `adopt`: a group by its path, or the unit whose group that is. 0: the asker will be told; or
 * negative, with a refusal or not, and it won't. */
int sg_adopter_adopt(struct sg_adopter *a, const struct sg_adopt_asker *asker, const char *what,
                     const struct sg_class *class, struct sg_answer *refusal);

/* Whether the job's limits may be changed: those of its class have been asked for. */
bool sg_adopted_is_limited(const struct sg_live *l);
/* The job is freed. */
void sg_adopted_forget(struct sg_live *l);
/* Whether that may be done to it: always for a job of our own; else the refusal says who can. */
int sg_adopted_check(const struct sg_live *l, enum sg_adoption needed, const char *verb,
                     struct sg_answer *refusal);
/* For a governed one. 1: when systemd has frozen or thawed it, it is told what came of that, with
 * the asker of the event `e`; negative: it wasn't asked. */
int sg_adopted_freeze(struct sg_live *l, const struct sg_life_event *e, bool frozen);
/* A signal to all of its processes, if `as` (NULL: anybody) may. 1: when systemd has sent it,
 * done() is told, NULL or why it couldn't; or negative, with a refusal or not. */
typedef void (*sg_adopted_signalled_cb)(const char *why, void *userdata);
int sg_adopted_signal(struct sg_live *l, int sig, const uid_t *as, struct sg_answer *refusal,
                      sg_adopted_signalled_cb done, void *userdata);
