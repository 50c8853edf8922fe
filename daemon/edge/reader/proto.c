/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/reader/proto.h"
#include <errno.h>
#include <string.h>

enum tag {
        TAG_ID = 1,
        TAG_UID,
        TAG_GOAL,
        TAG_SINCE,
        TAG_LOG,
        TAG_OUTPUT,
        TAG_PRESET,
        TAG_PATTERN,
        TAG_FILE,
        TAG_EVENTS,
        TAG_TAG,
        TAG_UNIT,
        TAG_INVOCATION,
        TAG_USEC,
        TAG_HAS,
        TAG_EVAL,
        TAG_STEP,
        TAG_TOTAL,
        TAG_EPOCH,
        TAG_EPOCHS,
        TAG_COUNT,
        TAG_SOURCE,
        TAG_TROUBLE,
        TAG_TEXT,
        TAG_LOG_BEFORE,
        _TAG_MAX,
};

#define HAS_ALL                                                                                    \
        (SG_REPORT_EVAL | SG_REPORT_STEP | SG_REPORT_TOTAL | SG_REPORT_EPOCH | SG_REPORT_EPOCHS |  \
         SG_REPORT_RANGE)

static const struct {
        enum tag tag;
        size_t offset;
} strings[] = {
        {TAG_LOG, offsetof(struct sg_follow, log)},
        {TAG_OUTPUT, offsetof(struct sg_follow, output)},
        {TAG_PRESET, offsetof(struct sg_follow, preset)},
        {TAG_PATTERN, offsetof(struct sg_follow, pattern)},
        {TAG_FILE, offsetof(struct sg_follow, file)},
        {TAG_EVENTS, offsetof(struct sg_follow, events)},
        {TAG_TAG, offsetof(struct sg_follow, tag)},
        {TAG_UNIT, offsetof(struct sg_follow, unit)},
        {TAG_INVOCATION, offsetof(struct sg_follow, invocation)},
};

static const struct {
        enum tag tag;
        size_t offset;
} counts[] = {
        {TAG_STEP, offsetof(struct sg_report, step)},
        {TAG_TOTAL, offsetof(struct sg_report, total)},
        {TAG_EPOCH, offsetof(struct sg_report, epoch)},
        {TAG_EPOCHS, offsetof(struct sg_report, epochs)},
};

#define AT(object, offset, type) ((type)(void *)((char *)(object) + (offset)))
#define FROM(object, offset, type) ((type)(const void *)((const char *)(object) + (offset)))

/* --- out */

void sg_reader_put_follow(struct sg_record *out, uint64_t id, const struct sg_follow *f)
{
        size_t mark = sg_record_open(out, SG_READER_FOLLOW);

        sg_record_put_u64(out, TAG_ID, id);
        sg_record_put_u64(out, TAG_UID, f->uid);
        sg_record_put_u64(out, TAG_GOAL, (uint64_t)f->goal);
        sg_record_put_u64(out, TAG_SINCE, f->since_usec);
        sg_record_put_u64(out, TAG_LOG_BEFORE, f->log_before);
        for (size_t i = 0; i < SG_ELEMENTSOF(strings); i++)
                sg_record_put_str(out, (uint16_t)strings[i].tag,
                                  *FROM(f, strings[i].offset, const char *const *));
        sg_record_close(out, mark);
}

void sg_reader_put_id(struct sg_record *out, enum sg_reader_kind kind, uint64_t id)
{
        size_t mark = sg_record_open(out, (uint16_t)kind);

        sg_record_put_u64(out, TAG_ID, id);
        sg_record_close(out, mark);
}

void sg_reader_put_interval(struct sg_record *out, uint64_t usec)
{
        size_t mark = sg_record_open(out, SG_READER_INTERVAL);

        sg_record_put_u64(out, TAG_USEC, usec);
        sg_record_close(out, mark);
}

void sg_reader_put_report(struct sg_record *out, uint64_t id, const struct sg_report *report,
                          uint64_t n_reports, const char *source)
{
        const double evals[] = {report->eval, report->least, report->most};
        size_t mark = sg_record_open(out, SG_READER_REPORT);

        sg_record_put_u64(out, TAG_ID, id);
        sg_record_put_u64(out, TAG_HAS, report->has);
        sg_record_put(out, TAG_EVAL, evals, sizeof(evals));
        for (size_t i = 0; i < SG_ELEMENTSOF(counts); i++)
                sg_record_put_u64(out, (uint16_t)counts[i].tag,
                                  *FROM(report, counts[i].offset, const uint64_t *));
        sg_record_put_u64(out, TAG_COUNT, n_reports);
        sg_record_put_str(out, TAG_SOURCE, source);
        sg_record_close(out, mark);
}

void sg_reader_put_trouble(struct sg_record *out, uint64_t id, enum sg_reader_trouble kind,
                           const char *text)
{
        size_t mark = sg_record_open(out, SG_READER_TROUBLE);
        size_t n = strlen(text);

        sg_record_put_u64(out, TAG_ID, id);
        sg_record_put_u64(out, TAG_TROUBLE, (uint64_t)kind);
        sg_record_put(out, TAG_TEXT, text, n < SG_READER_TEXT_MAX ? n : SG_READER_TEXT_MAX - 1);
        sg_record_close(out, mark);
}

/* --- in */

/* An absent field is 0. */
static int read_u64(const struct sg_field fields[_TAG_MAX], enum tag tag, uint64_t max,
                    uint64_t *ret)
{
        uint64_t v = 0;

        if (fields[tag].data && sg_field_u64(&fields[tag], &v) < 0)
                return -EBADMSG;
        if (v > max)
                return -EBADMSG;
        *ret = v;
        return 0;
}

static int read_follow(const struct sg_field fields[_TAG_MAX], struct sg_reader_message *m)
{
        uint64_t uid, goal;
        int r;

        r = read_u64(fields, TAG_UID, UINT32_MAX, &uid);
        if (r >= 0)
                r = read_u64(fields, TAG_GOAL, SG_GOAL_MAX, &goal);
        if (r >= 0)
                r = read_u64(fields, TAG_SINCE, UINT64_MAX, &m->follow.since_usec);
        if (r >= 0)
                r = read_u64(fields, TAG_LOG_BEFORE, UINT64_MAX, &m->follow.log_before);
        if (r < 0)
                return r;
        m->follow.uid = (uid_t)uid;
        m->follow.goal = (enum sg_goal)goal;
        for (size_t i = 0; i < SG_ELEMENTSOF(strings) && r >= 0; i++) {
                const struct sg_field *f = &fields[strings[i].tag];

                if (f->data && f->size >= SG_READER_STRING_MAX)
                        return -EBADMSG;
                if (f->data)
                        r = sg_field_strdup(f, AT(&m->follow, strings[i].offset, char **));
        }
        return r;
}

static int read_report(const struct sg_field fields[_TAG_MAX], struct sg_reader_message *m)
{
        const struct sg_field *field = &fields[TAG_EVAL];
        double evals[3];
        uint64_t has;
        int r;

        r = read_u64(fields, TAG_HAS, HAS_ALL, &has);
        if (r >= 0)
                r = read_u64(fields, TAG_COUNT, UINT64_MAX, &m->n_reports);
        for (size_t i = 0; i < SG_ELEMENTSOF(counts) && r >= 0; i++)
                r = read_u64(fields, counts[i].tag, UINT64_MAX,
                             AT(&m->report, counts[i].offset, uint64_t *));
        if (r < 0)
                return r;
        m->report.has = (uint32_t)has;
        if (field->size != sizeof(evals) || !fields[TAG_SOURCE].data)
                return -EBADMSG;
        memcpy(evals, field->data, sizeof(evals));
        m->report.eval = evals[0];
        m->report.least = evals[1];
        m->report.most = evals[2];
        return sg_field_strcpy(&fields[TAG_SOURCE], m->source, sizeof(m->source));
}

static int read_trouble(const struct sg_field fields[_TAG_MAX], struct sg_reader_message *m)
{
        uint64_t kind;
        int r = read_u64(fields, TAG_TROUBLE, _SG_TROUBLE_MAX - 1, &kind);

        if (r >= 0)
                r = sg_field_strcpy(&fields[TAG_TEXT], m->text, sizeof(m->text));
        if (r < 0)
                return r;
        m->trouble = (enum sg_reader_trouble)kind;
        for (char *c = m->text; *c; c++)
                if ((unsigned char)*c < ' ' || *c == 0x7f)
                        *c = '?';
        return 0;
}

static int read_fields(const struct sg_field *message, struct sg_field ret[_TAG_MAX])
{
        struct sg_reader in = sg_reader_init(message->data, message->size);
        struct sg_field f;
        int r;

        while ((r = sg_reader_next(&in, &f)) > 0)
                if (f.tag < _TAG_MAX)
                        ret[f.tag] = f;
        return r;
}

static int read_message(const struct sg_field *message, struct sg_reader_message *m)
{
        struct sg_field fields[_TAG_MAX] = {{0}};
        int r;

        if (message->tag == 0 || message->tag >= _SG_READER_KIND_MAX)
                return -EBADMSG;
        m->kind = (enum sg_reader_kind)message->tag;
        r = read_fields(message, fields);
        if (r >= 0)
                r = read_u64(fields, TAG_ID, UINT64_MAX, &m->id);
        if (r < 0)
                return r;
        switch (m->kind) {
        case SG_READER_FOLLOW:
                return read_follow(fields, m);
        case SG_READER_REPORT:
                return read_report(fields, m);
        case SG_READER_TROUBLE:
                return read_trouble(fields, m);
        case SG_READER_INTERVAL:
                return read_u64(fields, TAG_USEC, UINT64_MAX, &m->usec);
        default:
                return 0;
        }
}

int sg_reader_take(struct sg_reader *in, struct sg_reader_message *ret)
{
        struct sg_reader_message m = {.id = 0};
        struct sg_field f;
        int r = sg_reader_next(in, &f);

        if (r <= 0)
                return r;
        r = read_message(&f, &m);
        if (r < 0) {
                sg_reader_message_deinit(&m);
                return r;
        }
        *ret = m;
        return 1;
}

void sg_reader_message_deinit(struct sg_reader_message *m)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(strings); i++)
                free(TAKE_PTR(*AT(&m->follow, strings[i].offset, char **)));
}

bool sg_follow_valid(const struct sg_follow *f)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(strings); i++) {
                const char *s = *FROM(f, strings[i].offset, const char *const *);

                if (s && strlen(s) >= SG_READER_STRING_MAX)
                        return false;
        }
        return f->goal == SG_GOAL_MIN || f->goal == SG_GOAL_MAX;
}
