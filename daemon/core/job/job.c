/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The job record: one table says how each field travels (record tag) and where it is kept (SQL
 * column). Tags are the field's place in the table, counted from 1, so that decoding is an index
 * and not a search: new fields take the next number, and none is ever taken out.
 */

#include "core/job/job.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Numbers, indexes, the events of its life. */
#define ROW_BYTES 768

#define ROW(nr, name, kind, member)                                                                \
        {                                                                                          \
                .tag = (nr), .column = (name), .type = SG_TYPE_##kind,                             \
                .offset = offsetof(struct sg_job, member),                                         \
                .size = sizeof(((struct sg_job *)0)->member)                                       \
        }
#define FIELD(nr, ...) [(nr)-1] = ROW(nr, __VA_ARGS__)
#define GPU(nr, name, kind, member)                                                                \
        [(nr)-1] = {.tag = (nr),                                                                   \
                    .column = (name),                                                              \
                    .type = SG_TYPE_##kind,                                                        \
                    .gpu = true,                                                                   \
                    .offset = offsetof(struct sg_gpu_request, member),                             \
                    .size = sizeof(((struct sg_gpu_request *)0)->member)}
#define LIMIT(kind, field, tag, ...) FIELD(tag, #field, U64, limits.field)

const struct sg_job_field sg_job_fields[] = {
        FIELD(1, "origin", CHARS, key.origin),
        FIELD(2, "n", U64, key.n),
        FIELD(3, "attempt", U64, key.attempt),
        FIELD(4, "uid", U64, uid),
        FIELD(5, "gid", U64, gid),
        FIELD(6, "user", CHARS, user),
        FIELD(7, "name", CHARS, name),
        FIELD(8, "class", CHARS, class),
        FIELD(9, "state", U64, state),
        FIELD(10, "intent", U64, intent),
        FIELD(11, "foreground", U64, foreground),
        FIELD(12, "hold", U64, hold),
        FIELD(13, "priority", I64, priority),
        FIELD(14, "retry", U64, retry),
        FIELD(15, "array_first", U64, array_first),
        FIELD(16, "array_index", I64, array_index),
        FIELD(17, "after_jobs", STR, after),
        FIELD(18, "reason", STR, reason),
        FIELD(19, "output_path", STR, output),
        FIELD(20, "error_path", STR, error),
        FIELD(21, "begin_usec", U64, begin_usec),
        FIELD(22, "submitted_usec", U64, submitted_usec),
        FIELD(23, "started_usec", U64, started_usec),
        FIELD(24, "ended_usec", U64, ended_usec),
        FIELD(25, "boot_id", CHARS, boot_id),
        FIELD(26, "pid", I64, pid),
        FIELD(27, "exit_code", I64, exit_code),
        FIELD(28, "signal", I64, signal),
        FIELD(31, "cpus", U64, limits.cpus),
        FIELD(32, "cpus_max", U64, limits.cpus_max),
        FIELD(33, "pin", U64, limits.pin),
        FIELD(39, "cpu_usec", U64, cpu_usec),
        FIELD(40, "memory_peak_bytes", U64, memory_peak_bytes),
        FIELD(41, "oom_kills", U64, oom_kills),
        FIELD(42, "io_read_bytes", U64, io_read_bytes),
        FIELD(43, "io_write_bytes", U64, io_write_bytes),
        FIELD(44, "command", STR, command),
        FIELD(45, "adopted", U64, adopted),
        FIELD(46, "unit", STR, unit),
        FIELD(47, "cgroup", STR, group),
        FIELD(48, "invocation", CHARS, invocation),
        FIELD(52, "net_rx_bytes", U64, net_rx_bytes),
        FIELD(53, "net_tx_bytes", U64, net_tx_bytes),
        FIELD(54, "progress", STR, progress),
        FIELD(55, "eval_goal", U64, eval_goal),
        FIELD(56, "steps", U64, steps),
        FIELD(57, "eval", CHARS, eval),
        FIELD(58, "step", U64, step),
        FIELD(59, "total", U64, total),
        FIELD(60, "deadline_usec", U64, deadline_usec),
        FIELD(61, "frozen", U64, frozen),
        FIELD(62, "threads", U64, limits.threads),
        FIELD(63, "threads_given", U64, threads_given),
        FIELD(64, "follows", U64, follows),
        FIELD(67, "array_max", U64, array_max),
        FIELD(68, "gpus", STR, gpus),
        GPU(69, "gpu_min", U64, min),
        GPU(70, "gpu_max", U64, max),
        GPU(71, "gpu_share", U64, share),
        GPU(72, "gpu_memory_bytes", U64, memory_bytes),
        GPU(73, "gpu_type", STR, type),
        GPU(74, "gpu_mig", STR, mig),
        GPU(75, "gpu_ids", STR, ids),
        GPU(76, "gpu_memory_peak_bytes", U64, used.memory_peak_bytes),
        GPU(77, "gpu_usec", U64, used.usec),
        GPU(78, "gpu_energy_mj", U64, used.energy_mj),
        SG_LIMITS(LIMIT),
};

const size_t sg_job_n_fields = SG_ELEMENTSOF(sg_job_fields);

static const char *const state_names[_SG_JOB_STATE_MAX] = {
        [SG_JOB_QUEUED] = "queued",   [SG_JOB_STARTING] = "starting",
        [SG_JOB_RUNNING] = "running", [SG_JOB_SUSPENDED] = "suspended",
        [SG_JOB_EXITED] = "exited",   [SG_JOB_KILLED] = "killed",
        [SG_JOB_OOM] = "oom",         [SG_JOB_TIMEOUT] = "timeout",
        [SG_JOB_FAILED] = "failed",   [SG_JOB_LOST] = "lost",
};

void sg_job_init(struct sg_job *j)
{
        *j = (struct sg_job){
                .exit_code = -1,
                .cpu_usec = SG_UNLIMITED,
                .memory_peak_bytes = SG_UNLIMITED,
                .oom_kills = SG_UNLIMITED,
                .io_read_bytes = SG_UNLIMITED,
                .io_write_bytes = SG_UNLIMITED,
                .net_rx_bytes = SG_UNLIMITED,
                .net_tx_bytes = SG_UNLIMITED,
                .step = SG_UNLIMITED,
                .total = SG_UNLIMITED,
        };
        sg_limits_default(&j->limits);
}

/* NULL: it has no such field. */
static char **string_at(const struct sg_job *j, const struct sg_job_field *f)
{
        return f->type == SG_TYPE_STR ? sg_job_field_at(j, f) : NULL;
}

void sg_job_deinit(struct sg_job *j)
{
        for (size_t i = 0; i < sg_job_n_fields; i++) {
                char **s = string_at(j, &sg_job_fields[i]);

                if (s && !sg_job_fields[i].gpu)
                        free(*s);
        }
        sg_gpu_request_free(j->gpu);
        sg_job_init(j);
}

int sg_job_copy(struct sg_job *dst, const struct sg_job *src)
{
        struct sg_job copy = *src;
        bool failed;

        copy.gpu = NULL;
        failed = sg_gpu_request_dup(src->gpu, &copy.gpu) < 0;
        for (size_t i = 0; i < sg_job_n_fields; i++) {
                const struct sg_job_field *f = &sg_job_fields[i];
                char **s = f->gpu ? NULL : string_at(src, f);

                if (!s)
                        continue;
                *string_at(&copy, f) = *s ? strdup(*s) : NULL;
                failed = failed || (*s && !*string_at(&copy, f));
        }
        if (failed) {
                sg_job_deinit(&copy);
                return -ENOMEM;
        }
        sg_job_deinit(dst);
        *dst = copy;
        return 0;
}

int sg_job_set_reason(struct sg_job *j, const char *format, ...)
{
        va_list ap;
        char *s;
        int n;

        va_start(ap, format);
        n = vasprintf(&s, format, ap);
        va_end(ap);
        if (n < 0)
                return -ENOMEM;
        for (char *p = s; *p; p++)
                if ((unsigned char)*p < ' ' || *p == 0x7f)
                        *p = ' ';
        free(j->reason);
        j->reason = s;
        return 0;
}

void sg_job_clear_reason(struct sg_job *j)
{
        free(j->reason);
        j->reason = NULL;
}

const char *sg_job_who(const struct sg_job *j, const struct sg_who *who, char buf[SG_USER_NAME_MAX])
{
        if (!who->is)
                return NULL;
        if (who->uid == j->uid)
                return j->user;
        if (who->uid == 0)
                return "root";
        (void)snprintf(buf, SG_USER_NAME_MAX, "uid %" PRIu32, (uint32_t)who->uid);
        return buf;
}

/* What the code `c` stands for; NULL if it is no code. */
static const char *path_code(const struct sg_job *j, char c, char buf[24])
{
        switch (c) {
        case 'j':
                (void)snprintf(buf, 24, "%" PRIu64, j->key.n);
                return buf;
        case 'a':
                (void)snprintf(buf, 24, "%" PRIi64, j->array_index);
                return buf;
        case 'n':
                return j->name;
        case '%':
                return "%";
        default:
                return NULL;
        }
}

/* Writes the expansion to `out` unless that is NULL; returns its length. */
static size_t expand_into(const struct sg_job *j, const char *pattern, char *out)
{
        size_t size = 0;

        for (const char *p = pattern; *p; p++) {
                char buf[24];
                const char *value = *p == '%' ? path_code(j, p[1], buf) : NULL;
                size_t n = value ? strlen(value) : 1;

                if (out)
                        memcpy(out + size, value ? value : p, n);
                size += n;
                p += value ? 1 : 0;
        }
        return size;
}

int sg_job_expand_path(const struct sg_job *j, const char *pattern, char **ret)
{
        size_t size;
        char *s = NULL;

        if (pattern) {
                size = expand_into(j, pattern, NULL);
                s = malloc(size + 1);
                if (!s)
                        return -ENOMEM;
                (void)expand_into(j, pattern, s);
                s[size] = 0;
        }
        *ret = s;
        return 0;
}

static int expand(const struct sg_job *j, char **path)
{
        char *expanded;
        int r = sg_job_expand_path(j, *path, &expanded);

        if (r < 0)
                return r;
        free(*path);
        *path = expanded;
        return 0;
}

int sg_job_name_task(char ret[SG_JOB_NAME_MAX], const char *pattern, uint64_t index)
{
        char name[SG_JOB_NAME_MAX], digits[24];
        size_t size = 0, n;

        (void)snprintf(digits, sizeof(digits), "%" PRIu64, index);
        for (const char *p = pattern; *p; p++) {
                bool code = p[0] == '%' && p[1] == 'a';

                n = code ? strlen(digits) : 1;
                if (size + n >= sizeof(name))
                        return -ENAMETOOLONG;
                memcpy(name + size, code ? digits : p, n);
                size += n;
                p += code;
        }
        name[size] = 0;
        strcpy(ret, name);
        return 0;
}

int sg_job_become_task(struct sg_job *j, uint64_t i, uint64_t index)
{
        int r;

        j->key.n += i;
        j->array_index = (int64_t)index;
        if (j->array_first > 0) /* as it is where that is too long, which no --name is */
                (void)sg_job_name_task(j->name, j->name, index);
        r = expand(j, &j->output);
        return r < 0 ? r : expand(j, &j->error);
}

bool sg_job_state_is_known(uint64_t state)
{
        return state < _SG_JOB_STATE_MAX && state_names[state];
}

const char *sg_job_state_to_string(uint64_t state)
{
        return sg_job_state_is_known(state) ? state_names[state] : "unknown";
}

int sg_job_state_from_string(const char *s)
{
        for (int i = 0; i < _SG_JOB_STATE_MAX; i++)
                if (sg_job_state_is_known((uint64_t)i) && strcmp(s, state_names[i]) == 0)
                        return i;
        return -EINVAL;
}

int sg_job_exit_status(const struct sg_job *j)
{
        switch (j->state) {
        case SG_JOB_EXITED: /* nobody tells how a job of others exited, unless it failed */
                return j->exit_code < 0 ? 0 : (int)(j->exit_code & 0xff);
        case SG_JOB_KILLED: /* without a signal it was cancelled before it ran: as if by SIGTERM */
                return 128 + (j->signal > 0 ? (int)j->signal : 15);
        case SG_JOB_OOM:
                return 128 + 9;
        case SG_JOB_TIMEOUT:
                return SG_EXIT_TIME_LIMIT;
        case SG_JOB_FAILED: /* 126 and 127 are told by exit_code */
                return j->exit_code > 0 ? (int)(j->exit_code & 0xff) : SG_EXIT_OWN_FAILURE;
        default:
                return SG_EXIT_OWN_FAILURE;
        }
}

/* --- codec --------------------------------------------------------------------------------- */

static void encode_field(const struct sg_job *j, const struct sg_job_field *f, struct sg_record *r)
{
        const char *p = sg_job_field_at(j, f);

        if (!p)
                return;
        switch (f->type) {
        case SG_TYPE_U64:
                sg_record_put_u64(r, f->tag, *(const uint64_t *)p);
                break;
        case SG_TYPE_I64:
                sg_record_put_i64(r, f->tag, *(const int64_t *)p);
                break;
        case SG_TYPE_CHARS:
                sg_record_put_str(r, f->tag, p);
                break;
        case SG_TYPE_STR:
                sg_record_put_str(r, f->tag, *string_at(j, f));
                break;
        }
}

void sg_job_encode(const struct sg_job *j, struct sg_record *r)
{
        for (size_t i = 0; i < sg_job_n_fields; i++)
                encode_field(j, &sg_job_fields[i], r);
}

static int decode_field(struct sg_job *j, const struct sg_job_field *f, const struct sg_field *in)
{
        char *p;

        if (f->gpu && !j->gpu)
                j->gpu = sg_gpu_request_new();
        p = sg_job_field_at(j, f);
        if (!p)
                return -ENOMEM;
        switch (f->type) {
        case SG_TYPE_U64:
                return sg_field_u64(in, (uint64_t *)p);
        case SG_TYPE_I64:
                return sg_field_i64(in, (int64_t *)p);
        case SG_TYPE_CHARS:
                return sg_field_strcpy(in, p, f->size);
        case SG_TYPE_STR:
                return sg_field_strdup(in, string_at(j, f));
        }
        return -EBADMSG;
}

static bool makes_sense(const struct sg_job *j)
{
        const struct sg_gpu_request *q = j->gpu;

        return sg_job_state_is_known(j->state) && j->intent <= SG_INTENT_MEMORY &&
               j->adopted <= SG_ADOPTED_GOVERNED && j->limits.threads < _SG_THREADS_MAX &&
               (!q || (q->min > 0 && q->min <= q->max && q->share > 0 && q->share <= SG_GPU_WHOLE));
}

int sg_job_decode(struct sg_job *ret, const void *data, size_t size)
{
        struct sg_reader reader = sg_reader_init(data, size);
        struct sg_field in;
        int r;

        while ((r = sg_reader_next(&reader, &in)) > 0) {
                if (in.tag == 0 || in.tag > sg_job_n_fields)
                        continue;
                r = decode_field(ret, &sg_job_fields[in.tag - 1], &in);
                if (r < 0)
                        return r;
        }
        if (r < 0)
                return r;
        return makes_sense(ret) ? 0 : -EBADMSG;
}

uint64_t sg_job_stored_bytes(const struct sg_job *j)
{
        uint64_t bytes = ROW_BYTES;

        for (size_t i = 0; i < sg_job_n_fields; i++) {
                const struct sg_job_field *f = &sg_job_fields[i];
                char **string = string_at(j, f);
                const char *text = f->type == SG_TYPE_CHARS ? sg_job_field_at(j, f) : NULL;

                if (string)
                        text = *string;
                if (text)
                        bytes += strlen(text);
        }
        return bytes;
}
