/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The options: one table, each with its type, its place and its range, and whose it is. */
#include "core/ask/request.h"
#include "proto/array.h"
#include <limits.h>

#define AT(member) offsetof(struct sg_request, member)
#define CHARS(member) AT(member), sizeof(((struct sg_request *)NULL)->member)
#define PATH (PATH_MAX - 1)

#define BIT(verb) (1ULL << SG_REQUEST_##verb)
#define JOB (BIT(SUBMIT) | BIT(DRY_RUN) | BIT(RUN))
#define DRY BIT(DRY_RUN)
#define LIVE (JOB | BIT(SET)) /* may be changed while it runs */
#define FILTER (BIT(LIST_JOBS) | BIT(DESCRIBE_JOBS))

#define TEXT SG_VALUE_TEXT
#define U64 SG_VALUE_U64
#define U32 SG_VALUE_U32
#define I32 SG_VALUE_I32
#define FLAG SG_VALUE_FLAG

#define LIMIT(kind, field, tag, unit, option, request, ...)                                        \
        {                                                                                          \
                .name = (request), .type = U64, .offset = AT(job.limits.field),                    \
                .min = SG_LEAST_##unit, .max = SG_UNIT_MOST(SG_UNIT_##unit),                       \
                .ask = SG_ASK(SG_LIMIT_##kind), .verbs = LIVE,                                     \
        }

const struct sg_param sg_request_options[] = {
        {"name", TEXT, CHARS(job.name), 0, 0, 0, LIVE},
        {"class", TEXT, CHARS(job.class), 0, 0, 0, JOB},
        {"cpus", U32, AT(job.limits.cpus), 0, 1, SG_CPUS_MAX, SG_ASK_CPUS, LIVE},
        {"cpus_max", U32, AT(job.limits.cpus_max), 0, 1, SG_CPUS_MAX, SG_ASK_CPUS, LIVE},
        {"pin", FLAG, AT(job.limits.pin), 0, 0, 1, 0, JOB},
        {"threads", TEXT, CHARS(threads), 0, 0, SG_ASK_THREADS, LIVE},
        SG_LIMITS(LIMIT),
        {"gpus", TEXT, CHARS(gpu.gpus), 0, 0, SG_ASK_GPUS, LIVE},
        {"gpu_mem", U64, AT(gpu.memory_bytes), 0, 1 << 20, SG_UNLIMITED, SG_ASK_GPU_MEM, LIVE},
        {"gpu_type", TEXT, CHARS(gpu.type), 0, 0, SG_ASK_GPU_TYPE, LIVE},
        {"gpu_ids", TEXT, AT(gpu.ids), 0, 0, SG_GPU_IDS_TEXT_MAX, SG_ASK_GPU_IDS, LIVE},
        {"mig", TEXT, CHARS(gpu.mig), 0, 0, SG_ASK_GPU_MIG, LIVE},
        {"priority", I32, AT(job.priority), 0, -SG_PRIORITY_MAX, SG_PRIORITY_MAX, 0, LIVE},
        {"after", TEXT, AT(job.after), 0, 0, PATH, 0, JOB},
        {"begin", U64, AT(job.begin_usec), 0, 0, SG_UNLIMITED, 0, JOB},
        {"deadline", U64, AT(job.deadline_usec), 0, 1, SG_UNLIMITED, 0, LIVE},
        {"retry", U32, AT(job.retry), 0, 0, 1000, 0, JOB},
        {"array", TEXT, AT(array), 0, 0, SG_ARRAY_TEXT_MAX, 0, JOB},
        {"array_first", U32, AT(array_first), 0, 0, INT32_MAX, 0, JOB},
        {"array_last", U32, AT(array_last), 0, 0, INT32_MAX, 0, JOB},
        {"hold", FLAG, AT(job.hold), 0, 0, 1, 0, JOB},
        {"workdir", TEXT, AT(workdir), 0, 0, PATH, 0, JOB},
        {"output", TEXT, AT(job.output), 0, 0, PATH, 0, JOB},
        {"error", TEXT, AT(job.error), 0, 0, PATH, 0, JOB},
        {"on_end", TEXT, AT(on_end), 0, 0, PATH, 0, JOB},
        {"progress", TEXT, AT(job.progress), 0, 0, PATH, 0, JOB},
        {"eval_goal", TEXT, CHARS(eval_goal), 0, 0, 0, JOB},
        {"steps", U64, AT(job.steps), 0, 1, INT64_MAX, 0, JOB},
        {"umask", U32, AT(umask), 0, 0, 0777, 0, JOB},
        {"token", TEXT, CHARS(token), 0, 0, 0, JOB},
        {"no_wait", FLAG, AT(no_wait), 0, 0, 1, 0, JOB},
        {"foreground", FLAG, AT(job.foreground), 0, 0, 1, 0, DRY},

        {"finished", FLAG, AT(filter.finished), 0, 0, 1, 0, FILTER},
        {"only_finished", FLAG, AT(filter.only_finished), 0, 0, 1, 0, FILTER},
        {"own", FLAG, AT(filter.own), 0, 0, 1, 0, FILTER},
        {"newest", FLAG, AT(filter.newest), 0, 0, 1, 0, FILTER},
        {"user", TEXT, AT(filter.user), 0, 0, 0, 0, FILTER},
        {"state", TEXT, AT(filter.state), 0, 0, 0, 0, FILTER},
        {"name", TEXT, AT(filter.name), 0, 0, 0, 0, FILTER},
        {"class", TEXT, AT(filter.class), 0, 0, 0, 0, FILTER},
        {"array", U64, AT(filter.array), 0, 1, SG_UNLIMITED, 0, FILTER},
        {"since", U64, AT(filter.since), 0, 0, SG_UNLIMITED, 0, FILTER},
        {"until", U64, AT(filter.until), 0, 0, SG_UNLIMITED, 0, FILTER},
        {"limit", U64, AT(filter.limit), 0, 0, SG_UNLIMITED, 0, FILTER},
};

const size_t sg_n_request_options = SG_ELEMENTSOF(sg_request_options);

_Static_assert(SG_ELEMENTSOF(sg_request_options) <=
                       SG_ELEMENTSOF(((struct sg_request *)NULL)->given),
               "each option has its place in given[]");
