/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See document.h. A key that is missing or null is not shown: later governors say more, and jobs of
 * other nodes may say less. */

#include "ctl/show/document.h"
#include "base/cleanup.h"
#include "base/format.h"
#include "base/time-util.h"
#include "base/utf8.h"
#include "ctl/show/chart.h"
#include "ctl/show/command.h"
#include "ctl/show/gpu-text.h"
#include "ctl/show/output.h"
#include "ctl/show/progress.h"
#include "ctl/show/table.h"
#include "proto/limits.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* Characters of a bar. */
#define BAR 20

/* "    Label: text"; what is printed last may come from anywhere. */
static void line(const char *label, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(const char *label, const char *format, ...)
{
        char text[4096], buf[8192];
        va_list ap;

        va_start(ap, format);
        (void)vsnprintf(text, sizeof(text), format, ap);
        va_end(ap);
        (void)printf("%12s: %s\n", label, sg_utf8_escape(text, buf, sizeof(buf)));
}

static void string_line(const char *label, const json_t *o, const char *key)
{
        const char *s = sg_document_string(o, key);

        if (s && *s)
                line(label, "%s", s);
}

/* How an attempt ended isn't said of a job that waits for the next one. */
static void state_line(const json_t *job)
{
        const char *state = sg_document_string(job, "state");
        bool ended = state && strcmp(state, "queued") != 0;
        const json_t *code = json_object_get(job, "exit_code");
        const char *signal = sg_document_string(job, "signal");
        char how[64] = "";

        if (!state)
                return;
        if (ended && json_is_integer(code))
                (void)snprintf(how, sizeof(how), " with status %lld",
                               (long long)json_integer_value(code));
        else if (ended && signal)
                (void)snprintf(how, sizeof(how), " by SIG%.32s", signal);
        (void)printf("%12s: %s%s%s%s\n", "State", sg_colour(sg_colour_of_state(state)), state,
                     sg_colour(SG_PLAIN), how);
}

static const char *how_deadline_goes(const json_t *job, uint64_t deadline, uint64_t ended,
                                     uint64_t now)
{
        struct sg_job_progress p;

        if (ended > 0)
                return ended > deadline ? " (missed)" : "";
        sg_job_progress_read(job, &p);
        return sg_eta_warning(&p, ((double)deadline - (double)now) / 1e6);
}

static void time_lines(const json_t *job)
{
        uint64_t submitted = sg_document_time(job, "submitted"),
                 started = sg_document_time(job, "started");
        uint64_t ended = sg_document_time(job, "ended"), now = sg_now_realtime_usec();
        uint64_t deadline = sg_document_time(job, "deadline");
        char at[SG_FORMAT_MAX], took[SG_FORMAT_MAX];

        if (submitted > 0)
                line("Submitted", "%s", sg_format_local(at, submitted));
        if (deadline > 0)
                line("Deadline", "%s%s", sg_format_local(at, deadline),
                     how_deadline_goes(job, deadline, ended, now));
        if (started > 0)
                line("Started", "%s (after %s)", sg_format_local(at, started),
                     sg_table_duration(took, sizeof(took),
                                       started > submitted ? started - submitted : 0));
        if (started > 0 && ended == 0 && now > started)
                line("Runs for", "%s", sg_table_duration(took, sizeof(took), now - started));
        if (ended > 0 && started > 0)
                line("Ended", "%s (after %s)", sg_format_local(at, ended),
                     sg_table_duration(took, sizeof(took), ended > started ? ended - started : 0));
        else if (ended > 0)
                line("Ended", "%s", sg_format_local(at, ended));
}

enum unit {
        UNIT_NUMBER,
        UNIT_BRIEF,
        UNIT_CPUS_NOW,
        UNIT_TROUBLE,
        UNIT_CPUS,
        UNIT_BYTES,
        UNIT_RATE,
        UNIT_SECONDS,
        UNIT_USEC
};

static char *with_unit(char buf[SG_FORMAT_MAX], const json_t *v, enum unit unit)
{
        double n = json_number_value(v);

        switch (unit) {
        case UNIT_CPUS:
                return sg_format_percent(buf, (uint64_t)(n * 10000 + 0.5));
        case UNIT_BYTES:
                return sg_format_bytes(buf, (uint64_t)json_integer_value(v));
        case UNIT_RATE:
                (void)sg_format_bytes(buf, (uint64_t)json_integer_value(v));
                (void)strncat(buf, "/s", SG_FORMAT_MAX - strlen(buf) - 1);
                return buf;
        case UNIT_SECONDS:
                return sg_format_usec(buf, (uint64_t)(n * 1e6 + 0.5));
        case UNIT_USEC:
                return sg_format_usec(buf, (uint64_t)json_integer_value(v));
        case UNIT_CPUS_NOW:
                (void)snprintf(buf, SG_FORMAT_MAX, "%.2f", n);
                return buf;
        case UNIT_BRIEF:
                (void)snprintf(buf, SG_FORMAT_MAX, "%.3g", n);
                return buf;
        case UNIT_TROUBLE:
        case UNIT_NUMBER:
                break;
        }
        (void)snprintf(buf, SG_FORMAT_MAX, "%.10g", n);
        return buf;
}

struct figure {
        const char *key, *label;
        enum unit unit;
};

static bool contains(const json_t *list, const char *s)
{
        size_t i;
        json_t *v;

        json_array_foreach (list, i, v)
                if (json_is_string(v) && strcmp(json_string_value(v), s) == 0)
                        return true;
        return false;
}

/* "Label: cpu weight 300, memory 4G (not enforced)" */
static void figures_line(const char *label, const json_t *o, const struct figure *figures, size_t n,
                         const json_t *not_enforced)
{
        char text[1024] = "", buf[SG_FORMAT_MAX];
        size_t used = 0;

        for (size_t i = 0; i < n && used < sizeof(text); i++) {
                const json_t *v = json_object_get(o, figures[i].key);

                if (!json_is_number(v) ||
                    (figures[i].unit == UNIT_TROUBLE && json_number_value(v) <= 0))
                        continue;
                used += (size_t)snprintf(
                        text + used, sizeof(text) - used, "%s%s %s%s", used > 0 ? ", " : "",
                        figures[i].label, with_unit(buf, v, figures[i].unit),
                        contains(not_enforced, figures[i].key) ? " (not enforced)" : "");
        }
        if (used > 0)
                line(label, "%s", text);
}

/* For how long some of its tasks waited, and (but for the CPU) all of them at once. */
static void pressure_line(const json_t *of)
{
        static const struct figure psi[] = {
                {"cpu_some_usec", "CPU: some", UNIT_USEC},
                {"memory_some_usec", "memory: some", UNIT_USEC},
                {"memory_full_usec", "full", UNIT_USEC},
                {"io_some_usec", "IO: some", UNIT_USEC},
                {"io_full_usec", "full", UNIT_USEC},
        };

        figures_line("Pressure", json_object_get(of, "psi"), psi, SG_ELEMENTSOF(psi), NULL);
}

static void heading(const json_t *job)
{
        const char *id = sg_document_string(job, "id"), *name = sg_document_string(job, "name");
        char buf[512];

        if (!id || strcmp(id, "0") == 0) /* a dry run has no number */
                id = "job";
        (void)printf("%s%s%s", sg_colour(SG_BOLD), sg_utf8_escape(id, buf, sizeof(buf)),
                     sg_colour(SG_PLAIN));
        if (name && *name)
                (void)printf(" %s", sg_utf8_escape(name, buf, sizeof(buf)));
        (void)putchar('\n');
}

/* "██████▌░░░ 65%, step 650 of 1000, loss 0.41 (best 0.4)" */
static const char *progress_text(const struct sg_job_progress *p, char *text, size_t size)
{
        char bar[3 * BAR + 1], fraction[32], step[64], eval[32], best[32];
        size_t used = 0;

        *text = '\0';
        if (*sg_fraction_text(p->fraction, fraction, sizeof(fraction)))
                used += (size_t)snprintf(text, size, "%s %s",
                                         sg_bar(p->fraction, BAR, sg_output_is_utf8(), bar),
                                         fraction);
        if (*sg_step_text(p, step, sizeof(step)))
                used += (size_t)snprintf(text + used, size - used, "%sstep %s",
                                         used > 0 ? ", " : "", step);
        if (*sg_last_eval_text(p, eval, sizeof(eval)))
                used += (size_t)snprintf(text + used, size - used, "%sloss %s",
                                         used > 0 ? ", " : "", eval);
        if (*sg_eval_text(p->best, best, sizeof(best)))
                (void)snprintf(text + used, size - used, " (best %s)", best);
        return text;
}

static void progress_lines(const json_t *job)
{
        const char *from = sg_document_string(job, "progress_from");
        char text[256], eta[96];
        struct sg_job_progress p;

        sg_job_progress_read(job, &p);
        if (*progress_text(&p, text, sizeof(text)))
                line("Progress", "%s", text);
        else if (from)
                line("Progress", "nothing so far from %s", from);
        (void)sg_eta_text_long(&p, eta, sizeof(eta));
        if (*eta && p.epoch > 0)
                line("ETA", "epoch %.0f ends in %s", p.epoch, eta);
        else if (*eta)
                line("ETA", "ready in %s", eta);
        string_line("It says", json_object_get(job, "progress"), "status");
        string_line("Known by", json_object_get(job, "progress"), "source");
}

/* "Share: 25% of the node: why", and what makes it so. */
static void share_lines(const json_t *job)
{
        static const struct figure figures[] = {
                {"weight", "weight", UNIT_NUMBER},
                {"limit", "CPU quota", UNIT_CPUS},
                {"growth_efficiency", "growth efficiency", UNIT_BRIEF},
        };
        const json_t *share = json_object_get(job, "share");
        const char *why = sg_document_string(share, "why");
        char part[32];

        if (*sg_share_text(sg_document_number(share, "share"), part, sizeof(part)))
                line("Share", "%s of the node%s%s", part, why && *why ? ": " : "", why ? why : "");
        else if (why && *why)
                line("Share", "%s", why);
        string_line("List", share, "list");
        string_line("Own CPUs", share, "own_cpus");
        figures_line("In force", share, figures, SG_ELEMENTSOF(figures), NULL);
}

/* What became of its threads, or what is to become of those of a job that waits. */
static void threads_line(const json_t *job)
{
        const char *mode = sg_document_string(json_object_get(job, "limits"), "threads");
        const json_t *threads = json_object_get(job, "threads");
        long long given = json_integer_value(json_object_get(threads, "given"));
        long long now = json_integer_value(json_object_get(threads, "now"));
        long long most = json_integer_value(json_object_get(threads, "follows"));

        if (mode && !json_is_object(threads))
                line("Threads", "%s", mode);
        else if (now > 0 && most > 0)
                line("Threads", "follows: %lld of %lld threads", now < most ? now : most, most);
        else if (most > 0)
                line("Threads", "followed, up to %lld threads", most);
        else if (mode && strcmp(mode, "start") == 0 && given > 0)
                line("Threads", "started with %lld", given);
        else if (mode)
                line("Threads", strcmp(mode, "leave") == 0 ? "left alone" : "doesn't follow");
}

#define SHOWN_WEIGHT UNIT_NUMBER
#define SHOWN_PERCENT UNIT_CPUS
#define SHOWN_BYTES UNIT_BYTES
#define SHOWN_SWAP UNIT_BYTES
#define SHOWN_RATE UNIT_RATE
#define SHOWN_COUNT UNIT_NUMBER
#define SHOWN_TIME UNIT_SECONDS
#define LIMIT(kind, field, tag, unit, option, request, document, class_key, label, ...)            \
        {                                                                                          \
                document, label, SHOWN_##unit                                                      \
        }

static void limit_line(const json_t *job)
{
        static const struct figure limits[] = {
                SG_CPU_LIMITS(LIMIT),
                {"cpus", "CPUs", UNIT_NUMBER},
                SG_MORE_LIMITS(LIMIT),
        };

        figures_line("Limits", json_object_get(job, "limits"), limits, SG_ELEMENTSOF(limits),
                     json_object_get(job, "not_enforced"));
}

static void usage_lines(const json_t *job)
{
        static const struct figure usage[] = {
                {"cpu_usec", "CPU", UNIT_USEC},
                {"cpu_rate", "CPUs now", UNIT_CPUS_NOW},
                {"throttled_usec", "throttled", UNIT_USEC},
                {"memory_bytes", "memory", UNIT_BYTES},
                {"working_set_bytes", "working set", UNIT_BYTES},
                {"memory_peak_bytes", "peak", UNIT_BYTES},
                {"pids", "processes", UNIT_NUMBER},
        };
        static const struct figure traffic[] = {
                {"io_read_bytes", "read", UNIT_BYTES},
                {"io_write_bytes", "written", UNIT_BYTES},
                {"net_rx_bytes", "received", UNIT_BYTES},
                {"net_tx_bytes", "sent", UNIT_BYTES},
        };
        static const struct figure delays[] = {
                {"cpu_usec", "for CPU", UNIT_USEC},
                {"io_usec", "IO", UNIT_USEC},
                {"swap_usec", "swap", UNIT_USEC},
        };
        const json_t *o = json_object_get(job, "usage");

        figures_line("Usage", o, usage, SG_ELEMENTSOF(usage), NULL);
        figures_line("Traffic", o, traffic, SG_ELEMENTSOF(traffic), NULL);
        pressure_line(o);
        figures_line("Waited", json_object_get(o, "delays"), delays, SG_ELEMENTSOF(delays), NULL);
}

static void gpu_lines(const json_t *job)
{
        char text[4096];

        if (*sg_gpu_asked_text(job, text, sizeof(text)))
                line("GPUs", "%s", text);
        if (*sg_gpu_given_text(job, text, sizeof(text)))
                line("Has", "%s%s", text,
                     contains(json_object_get(job, "not_enforced"), "gpus") ? " (not enforced)"
                                                                            : "");
        if (*sg_gpu_used_text(job, text, sizeof(text)))
                line("GPU usage", "%s", text);
}

static void array_line(const json_t *job)
{
        long long index = json_integer_value(json_object_get(job, "array_index")),
                  max = json_integer_value(json_object_get(job, "array_max"));
        const char *array = sg_document_word(job, "array");
        char bound[64] = "";

        if (!*array)
                return;
        if (max > 0)
                (void)snprintf(bound, sizeof(bound), ", of which at most %lld run at once", max);
        line("Array", "%s, task %lld%s", array, index, bound);
}

static void submitted_lines(const json_t *options)
{
        char text[4096];

        string_line("Directory", options, "workdir");
        if (*sg_options_text(options, text, sizeof(text)))
                line("Options", "%s", text);
}

void sg_document_print_job(const json_t *job)
{
        const json_t *pid = json_object_get(job, "pid"), *attempt = json_object_get(job, "attempt");

        heading(job);
        state_line(job);
        string_line("Reason", job, "reason");
        string_line("User", job, "user");
        string_line("Class", job, "class");
        string_line("Node", job, "node");
        string_line("Unit", job, "unit");
        string_line("Group", job, "cgroup");
        string_line("Command", job, "command");
        submitted_lines(json_object_get(json_object_get(job, "submitted"), "options"));
        string_line("Output", job, "output");
        string_line("Errors", job, "error");
        if (json_integer_value(pid) > 0)
                line("PID", "%lld", (long long)json_integer_value(pid));
        array_line(job);
        if (json_integer_value(attempt) > 1)
                line("Attempt", "%lld", (long long)json_integer_value(attempt));
        limit_line(job);
        threads_line(job);
        gpu_lines(job);
        usage_lines(job);
        share_lines(job);
        progress_lines(job);
        time_lines(job);
}

static void not_enforced_line(const json_t *status)
{
        const json_t *list = json_object_get(status, "not_enforced");
        char text[512] = "";
        size_t i, used = 0;
        json_t *v;

        json_array_foreach (list, i, v)
                if (json_is_string(v) && used < sizeof(text))
                        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
                                                 used > 0 ? ", " : "", json_string_value(v));
        if (used > 0)
                line("Not enforced", "%s", text);
}

static void load_lines(const json_t *status)
{
        static const struct figure memory[] = {
                {"memory_available_bytes", "available", UNIT_BYTES},
                {"swap_free_bytes", "swap free", UNIT_BYTES},
                {"swap_total_bytes", "of", UNIT_BYTES},
        };
        const json_t *load = json_object_get(status, "load");
        char busy[32];

        if (*sg_fraction_text(sg_document_number(load, "cpu_busy"), busy, sizeof(busy)))
                line("Load", "%s busy, %.0f running, %.0f blocked, load %.2f", busy,
                     sg_document_number(load, "running"), sg_document_number(load, "blocked"),
                     sg_document_number(load, "load1"));
        figures_line("Memory", load, memory, SG_ELEMENTSOF(memory), NULL);
        pressure_line(load);
}

static void link_lines(const json_t *status)
{
        static const struct figure figures[] = {
                {"rx_bytes", "received", UNIT_BYTES},
                {"tx_bytes", "sent", UNIT_BYTES},
                {"rx_errors", "receive errors", UNIT_TROUBLE},
                {"tx_errors", "send errors", UNIT_TROUBLE},
                {"rx_dropped", "received and dropped", UNIT_TROUBLE},
                {"tx_dropped", "not sent", UNIT_TROUBLE},
                {"speed_mbit", "Mbit/s", UNIT_NUMBER},
        };
        json_t *l;
        size_t i;

        json_array_foreach (json_object_get(status, "links"), i, l) {
                const char *name = sg_document_string(l, "name");
                bool up = json_is_true(json_object_get(l, "up")) &&
                          !json_is_false(json_object_get(l, "carrier"));

                if (name && up)
                        figures_line(name, l, figures, SG_ELEMENTSOF(figures), NULL);
                else if (name)
                        line(name, "%s",
                             json_is_true(json_object_get(l, "up")) ? "no carrier" : "down");
        }
}

static void stored_line(const json_t *stored)
{
        const json_t *max = json_object_get(stored, "max_bytes");
        const json_t *live = json_object_get(stored, "bytes");
        const json_t *ended = json_object_get(stored, "ended_bytes");
        char bytes[SG_FORMAT_MAX], of[SG_FORMAT_MAX], part[SG_FORMAT_MAX], of_ended[128] = "";

        if (!json_is_object(stored))
                return;
        if (json_integer_value(ended) > 0)
                (void)snprintf(of_ended, sizeof(of_ended), ", %s of it by those that have ended",
                               with_unit(part, ended, UNIT_BYTES));
        line("Stored", "%s%s%s by your jobs%s",
             sg_format_bytes(bytes,
                             (uint64_t)(json_integer_value(live) + json_integer_value(ended))),
             json_is_integer(max) ? " of at most " : "",
             json_is_integer(max) ? with_unit(of, max, UNIT_BYTES) : "", of_ended);
}

void sg_document_print_node(const json_t *status)
{
        const char *node = sg_document_string(status, "node");
        const char *version = sg_document_string(status, "version");
        const char *detail = sg_document_string(status, "backend_detail");
        const json_t *jobs = json_object_get(status, "jobs");
        long long cpus = json_integer_value(json_object_get(status, "cpus"));
        char bytes[SG_FORMAT_MAX], buf[512];

        (void)printf("%s%s%s schedgovd %s, process %lld\n", sg_colour(SG_BOLD),
                     node ? sg_utf8_escape(node, buf, sizeof(buf)) : "this node",
                     sg_colour(SG_PLAIN), version ? version : "",
                     (long long)json_integer_value(json_object_get(status, "pid")));
        line("Backend", "%s", detail && *detail ? detail : sg_document_string(status, "backend"));
        not_enforced_line(status);
        line("Resources", "%lld CPU%s, %s of memory, %lld slots", cpus, cpus == 1 ? "" : "s",
             with_unit(bytes, json_object_get(status, "memory_bytes"), UNIT_BYTES),
             (long long)json_integer_value(json_object_get(status, "max_jobs")));
        line("Jobs", "%lld running, %lld starting, %lld suspended, %lld queued",
             (long long)json_integer_value(json_object_get(jobs, "running")),
             (long long)json_integer_value(json_object_get(jobs, "starting")),
             (long long)json_integer_value(json_object_get(jobs, "suspended")),
             (long long)json_integer_value(json_object_get(jobs, "queued")));
        if (json_is_false(json_object_get(json_object_get(status, "gpus"), "managed")))
                line("GPUs", "aren't managed ([Gpu] Manage=no): each job can open all of them");
        load_lines(status);
        link_lines(status);
        stored_line(json_object_get(status, "stored"));
        string_line("Store", status, "store");
}
