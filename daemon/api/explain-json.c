/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The document that explains a job (schedgov.explanation/1): why it waits, why it has the share
 * that it has, or how it ended, in plain words, line by line; and the numbers of what was decided
 * last.
 */
#include "api/internal.h"
#include "edge/history/decision-json.h"
#include "govern/loop.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void say(json_t *lines, const char *format, ...)
{
        va_list ap;

        va_start(ap, format);
        (void)json_array_append_new(lines, json_vsprintf(format, ap));
        va_end(ap);
}

static void say_ended(json_t *lines, const struct sg_job *j)
{
        char signal[SG_SIGNAL_TEXT_MAX];

        if (j->signal)
                say(lines, "It has ended: %s, by %s", sg_job_state_to_string(j->state),
                    sg_signal_text(signal, (int)j->signal));
        else if (j->exit_code >= 0)
                say(lines, "It has ended: %s, with status %d", sg_job_state_to_string(j->state),
                    (int)j->exit_code);
        else
                say(lines, "It has ended: %s", sg_job_state_to_string(j->state));
        if (j->reason)
                say(lines, "Reason: %s", j->reason);
}

/* Each line of a text. */
static void say_text(json_t *lines, char *text)
{
        char *save = NULL;

        for (char *s = strtok_r(text, "\n", &save); s; s = strtok_r(NULL, "\n", &save))
                say(lines, "%s", s);
}

static void say_live(json_t *lines, struct sg_live *live)
{
        _cleanup_free_ char *text = NULL;
        char why[256];

        switch (live->job.state) {
        case SG_JOB_QUEUED:
                why[0] = '\0';
                say(lines, "Queued: %s", sg_job_reason_now(&live->job, live, why, sizeof(why)));
                break;
        case SG_JOB_RUNNING:
        case SG_JOB_SUSPENDED:
                if (live->job.adopted == SG_ADOPTED_OBSERVED)
                        say(lines, "Share: only observed; nothing is set for it");
                else if (sg_loop_explain(live, &text) >= 0)
                        say_text(lines, text);
                else
                        say(lines, "Share: nothing has been decided yet");
                if (text && !sg_loop_holds_shares(live->manager))
                        say(lines, "Not enforced: shares can't be set here (see schedctl status); "
                                   "the kernel shares the CPU, and no promise is kept");
                break;
        default:
                say(lines, "It is %s", sg_job_state_to_string(live->job.state));
        }
}

static json_t *decision(const struct sg_live *live)
{
        const struct sg_decision *d = live ? sg_loop_decision(live) : NULL;
        char other[32];

        if (!d)
                return json_null();
        (void)snprintf(other, sizeof(other), "%" PRIu64, d->out.why.other);
        return sg_decision_json(d, live->class->name, d->out.why.other ? other : NULL);
}

int sg_explain_document(struct sg_manager *m, const struct sg_job *j, struct sg_live *live,
                        char **ret)
{
        json_t *lines = json_array();
        char id[SG_JOB_ID_MAX];

        sg_loop_refresh(m->loop);
        sg_job_id_format(id, &j->key, m->node.name);
        if (live && !sg_job_state_is_final(j->state))
                say_live(lines, live);
        else
                say_ended(lines, j);
        return sg_json_dump(json_pack("{s:s,s:s,s:s,s:s,s:s,s:o,s:o}", "schema",
                                      "schedgov.explanation/1", "id", id, "name", j->name, "class",
                                      j->class, "state", sg_job_state_to_string(j->state), "lines",
                                      lines, "decision", decision(live)),
                            ret);
}
