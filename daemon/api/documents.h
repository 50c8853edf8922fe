/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What is shown of jobs and of the node, as JSON. */

#include "manager.h"
#include <jansson.h>

/* A job's document (schedgov.job/1), a heap string; live: NULL for one that has ended. `full`: its
 * owner asks. */
int sg_job_document(struct sg_manager *m, const struct sg_job *j, struct sg_live *live, bool full,
                    char **ret);
/* Why it has what it has (schedgov.explanation/1). */
int sg_explain_document(struct sg_manager *m, const struct sg_job *j, struct sg_live *live,
                        char **ret);
/* The node, with the number of jobs that the caller may see. */
int sg_status_document(struct sg_manager *m, const struct sg_caller *c, char **ret);
/* What a job did over time (schedgov.series/1). */
int sg_series_document(struct sg_manager *m, const struct sg_job_key *key, char **ret);
/* Drops o. NULL, which is what jansson makes of too little memory: -ENOMEM. */
int sg_json_dump(json_t *o, char **ret);
/* Parts of these. A string that may be no UTF-8; what a user's jobs take in the store. */
json_t *sg_json_text(const char *s);
json_t *sg_json_stored(const struct sg_manager *m, uint32_t uid);
/* class-json.c: all that a class's policy says, section by section; its Command= alone; what jobs
 * get that don't ask for a limit, and what they may ask for: false if that isn't limited. */
json_t *sg_json_class_settings(const struct sg_class *c);
json_t *sg_json_class_commands(const struct sg_class *c);
bool sg_class_given(const struct sg_class *c, const struct sg_limit *k, char buf[SG_FORMAT_MAX]);
bool sg_class_allowed(const struct sg_class *c, const struct sg_limit *k, char buf[SG_FORMAT_MAX]);
bool sg_class_gives_gpus(const struct sg_class *c, char buf[SG_FORMAT_MAX]);
bool sg_class_gives_gpu_memory(const struct sg_class *c, char buf[SG_FORMAT_MAX]);
/* gpus-json.c: the UUIDs that a job was given; what it asks for and took, null if it asks for
 * none. now: what it does at the moment; SG_UNLIMITED is not known. */
struct sg_gpu_now {
        uint64_t memory_bytes, utilization;
};
json_t *sg_json_given_gpus(const struct sg_job *j);
json_t *sg_json_job_gpu(const struct sg_job *j, const struct sg_gpu_now *now);
/* gpus-verbs.c: of one that lives, or NULL. */
void sg_gpu_now(const struct sg_live *live, struct sg_gpu_now *ret);
/* What was measured. */
json_t *sg_json_number(uint64_t v); /* SG_UNLIMITED is null */
json_t *sg_json_usage(const struct sg_job *j, const struct sg_live *live);
json_t *sg_json_progress(const struct sg_job *j, const struct sg_live *live, bool full);
json_t *sg_json_threads(const struct sg_job *j, const struct sg_live *live);
json_t *sg_json_share(const struct sg_live *live);
json_t *sg_json_load(const struct sg_manager *m);
json_t *sg_json_links(const struct sg_manager *m);
/* The reason as it is shown: a waiting job's is found out now. */
const char *sg_job_reason_now(const struct sg_job *j, struct sg_live *live, char *buf, size_t size);
