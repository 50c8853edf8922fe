/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What the files of the monitor share: monitor.c (rounds), monitor-report.c (what jobs
 * report). */

#include "core/measure/cadence.h"
#include "edge/channel/allocation.h"
#include "edge/channel/notify-socket.h"
#include "edge/reader/readers.h"
#include "manager.h"
#include "monitor/monitor.h"

struct sg_monitor {
        struct sg_manager *manager;
        char *state_dir;        /* a copy: the store is closed before the last job is forgotten */
        struct sg_list running; /* struct sg_measured */
        sd_event_source *timer;
        struct sg_cadence cadence;
        uint64_t round, round_usec; /* how many there were, and when the last was */
        unsigned n_running, next_place;
        unsigned places_before;  /* next_place, in the last round */
        unsigned places_trimmed; /* … when memory was last given back after a burst */
        unsigned trims_due;
        bool reported;          /* by any job since the last round */
        bool told, told_before; /* the reader said something in this interval, in the last */
        struct sg_node_sampler *node_sampler;
        struct sg_node_sample node, cpus; /* cpus: of these the last look, in node or alone */
        double busy;
        struct sg_links *links;
        struct sg_taskstats *taskstats; /* NULL: the kernel doesn't tell us */
        char *notify_path;
        struct sg_notify_socket *notify;
        struct sg_allocations *allocations;
};

/* node.c: once per round */
void sg_monitor_look_at_node(struct sg_monitor *mon);

/* monitor-report.c */

/* To be called when a job reports: the CPU time that it has used by now, or SG_UNLIMITED. */
uint64_t sg_monitor_cpu_now(struct sg_measured *d);
/* The reader has ended a round of its own, and all that it found has been told. */
void sg_monitor_told(struct sg_monitor *mon);
/* Has the reader follow a job that has lived for a round. */
void sg_monitor_follow(struct sg_measured *d);
/* progress.c: what the reader is told of a job; false: it isn't followed. Strings are the job's or
 * in `space`. */
struct sg_follow_space {
        char log[PATH_MAX];
        char *expanded; /* for free() */
};
bool sg_progress_follow(const struct sg_live *l, struct sg_follow *ret,
                        struct sg_follow_space *space);
enum sg_goal sg_progress_goal(const struct sg_live *l);
void sg_monitor_replay(struct sg_measured *d);
int sg_monitor_open_reports(struct sg_monitor *mon, const char *runtime_dir);
void sg_monitor_close_reports(struct sg_monitor *mon);
/* idle.c: it has used cpu_usec by now, or is suspended. */
void sg_monitor_tell_queue(struct sg_measured *d, uint64_t now_usec, uint64_t cpu_usec);
/* Adds a point to the job's series, with the progress that it has told. */
void sg_monitor_record(struct sg_measured *d, float cpu, float share);
