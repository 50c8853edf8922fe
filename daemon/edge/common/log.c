/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include "edge/common/log.h"
#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>

#define LINE_SIZE 2048 /* longer ones are cut */
#define FIELDS_MAX 5

static int level = LOG_INFO;

struct fields {
        struct iovec iov[FIELDS_MAX];
        char *owned[FIELDS_MAX];
        int n;
};

static void fields_deinit(struct fields *f)
{
        for (int i = 0; i < f->n; i++)
                free(f->owned[i]);
}

/* Leaves out what has no value; without memory too, because a shorter entry is better than none. */
static void fields_add(struct fields *f, const char *name, const char *value)
{
        if (!value || asprintf(&f->owned[f->n], "%s=%s", name, value) < 0)
                return;
        f->iov[f->n] = (struct iovec){f->owned[f->n], strlen(f->owned[f->n])};
        f->n++;
}

void sg_log_set_level(int priority)
{
        level = priority;
}

/* systemd tells the device and inode of the journal's stream; a stderr that was redirected since
 * is another file. */
static bool stderr_is_journal(void)
{
        const char *stream = getenv("JOURNAL_STREAM");
        unsigned long long device, inode;
        struct stat st;

        return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
               fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

static bool send_to_journal(int priority, const char *message_id, const char *job_id,
                            const char *reason, const char *text)
{
        _cleanup_(fields_deinit) struct fields f = {0};
        char number[2] = {(char)('0' + LOG_PRI(priority)), 0};

        fields_add(&f, "MESSAGE", text);
        fields_add(&f, "PRIORITY", number);
        fields_add(&f, "MESSAGE_ID", message_id);
        fields_add(&f, "SCHEDGOV_JOB_ID", job_id);
        fields_add(&f, "SCHEDGOV_REASON", reason);
        return sd_journal_sendv(f.iov, f.n) >= 0;
}

/* In one write, so that lines of several processes don't mix; names in it come from users, so that
 * nothing of theirs may begin a line or move the cursor. */
static void send_to_stderr(const char *text)
{
        static const char prefix[] = "schedgovd: ";
        char line[sizeof(prefix) + LINE_SIZE];
        int n = snprintf(line, sizeof(line) - 1, "%s%s", prefix, text);
        size_t size = n < 0 ? 0 : (size_t)n;

        if (size > sizeof(line) - 2)
                size = sizeof(line) - 2;
        for (size_t i = 0; i < size; i++)
                if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
                        line[i] = '?';
        line[size++] = '\n';
        (void)sg_write_all(STDERR_FILENO, line, size);
}

__attribute__((format(printf, 5, 0))) static void log_event(int priority, const char *message_id,
                                                            const char *job_id, const char *reason,
                                                            const char *fmt, va_list ap)
{
        int saved = errno;
        char text[LINE_SIZE];
        int n = 0;

        if (LOG_PRI(priority) > level)
                return;
        if (job_id)
                n = snprintf(text, sizeof(text), "job %s: ", job_id);
        if (n < 0 || (size_t)n >= sizeof(text))
                n = 0;
        errno = saved; /* for %m */
        (void)vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);

        if (!stderr_is_journal() || !send_to_journal(priority, message_id, job_id, reason, text))
                send_to_stderr(text);
        errno = saved;
}

void sg_log(int priority, const char *fmt, ...)
{
        va_list ap;

        va_start(ap, fmt);
        log_event(priority, NULL, NULL, NULL, fmt, ap);
        va_end(ap);
}

void sg_log_job(int priority, const char *message_id, const char *job_id, const char *reason,
                const char *fmt, ...)
{
        va_list ap;

        va_start(ap, fmt);
        log_event(priority, message_id, job_id, reason, fmt, ap);
        va_end(ap);
}
