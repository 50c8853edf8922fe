/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The one table of all that we export, in the order in which it is written. docs/metrics.md shows
 * the same rows, which a test compares.
 *
 * What cAdvisor and node_exporter count under some name is called the same here, with schedgov_job_
 * for container_ and schedgov_node_ for node_. Own names: nothing here may be called as something
 * of node_exporter's, which passes our textfile on and fails as a whole if two things are called
 * the same. What a job is, users' text above all, is said once per job, in schedgov_job_info; its
 * other series have its id and class.
 */

#include "core/measure/openmetrics.h"

enum sg_metric_id {
        SG_METRIC_BUILD,
        SG_METRIC_PROCESS_CPU,
        SG_METRIC_PROCESS_MEMORY,
        SG_METRIC_PROCESS_START,
        SG_METRIC_LOOP_DELAY,
        SG_METRIC_READER_RESTARTS,
        SG_METRIC_STORE_HEALTHY,
        SG_METRIC_STORE_BACKLOG,

        SG_METRIC_JOBS,
        SG_METRIC_JOBS_MAX,
        SG_METRIC_JOBS_OLDEST,
        SG_METRIC_JOBS_STARTED,
        SG_METRIC_JOBS_ENDED,
        SG_METRIC_JOBS_OMITTED,
        SG_METRIC_CLASS_WEIGHT,

        SG_METRIC_NODE_CPUS,
        SG_METRIC_NODE_CPU,
        SG_METRIC_NODE_LOAD,
        SG_METRIC_NODE_RUNNING,
        SG_METRIC_NODE_BLOCKED,
        SG_METRIC_NODE_MEMORY_TOTAL,
        SG_METRIC_NODE_MEMORY_AVAILABLE,
        SG_METRIC_NODE_SWAP_TOTAL,
        SG_METRIC_NODE_SWAP_FREE,
        SG_METRIC_NODE_SWAP_IN,
        SG_METRIC_NODE_SWAP_OUT,
        SG_METRIC_NODE_PSI_CPU,
        SG_METRIC_NODE_PSI_MEMORY,
        SG_METRIC_NODE_PSI_MEMORY_FULL,
        SG_METRIC_NODE_PSI_IO,
        SG_METRIC_NODE_PSI_IO_FULL,
        SG_METRIC_NET_UP,
        SG_METRIC_NET_SPEED,
        SG_METRIC_NET_RX,
        SG_METRIC_NET_TX,
        SG_METRIC_NET_RX_ERRORS,
        SG_METRIC_NET_TX_ERRORS,
        SG_METRIC_NET_RX_DROPPED,
        SG_METRIC_NET_TX_DROPPED,

        SG_METRIC_JOB,
        SG_METRIC_JOB_START,
        SG_METRIC_JOB_SUSPENDED,
        SG_METRIC_JOB_SHARE,
        SG_METRIC_JOB_CPU_WEIGHT,
        SG_METRIC_JOB_MEMORY_LIMIT,
        SG_METRIC_JOB_CPU,
        SG_METRIC_JOB_CPU_USER,
        SG_METRIC_JOB_CPU_SYSTEM,
        SG_METRIC_JOB_PERIODS,
        SG_METRIC_JOB_THROTTLED_PERIODS,
        SG_METRIC_JOB_THROTTLED,
        SG_METRIC_JOB_MEMORY,
        SG_METRIC_JOB_MEMORY_PEAK,
        SG_METRIC_JOB_WORKING_SET,
        SG_METRIC_JOB_MEMORY_HIGH,
        SG_METRIC_JOB_MEMORY_MAX,
        SG_METRIC_JOB_OOM,
        SG_METRIC_JOB_IO_READ,
        SG_METRIC_JOB_IO_WRITE,
        SG_METRIC_JOB_IO_READS,
        SG_METRIC_JOB_IO_WRITES,
        SG_METRIC_JOB_NET_RX,
        SG_METRIC_JOB_NET_TX,
        SG_METRIC_JOB_THREADS,
        SG_METRIC_JOB_PSI_CPU,
        SG_METRIC_JOB_PSI_MEMORY,
        SG_METRIC_JOB_PSI_MEMORY_FULL,
        SG_METRIC_JOB_PSI_IO,
        SG_METRIC_JOB_PSI_IO_FULL,
        SG_METRIC_JOB_DELAY,
        SG_METRIC_JOB_EVAL,
        SG_METRIC_JOB_BEST,
        SG_METRIC_JOB_STEP,
        SG_METRIC_JOB_STEPS,
        SG_METRIC_JOB_PROGRESS,
        SG_METRIC_JOB_ETA,
        SG_METRIC_JOB_ETA_LOW,
        SG_METRIC_JOB_ETA_HIGH,
        _SG_METRIC_MAX,
};

extern const struct sg_family sg_metrics[_SG_METRIC_MAX];
