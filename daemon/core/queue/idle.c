/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A mark is what the job had used at some time. The oldest mark is where the minute begins; the
 * younger ones are where later minutes will have begun, and so tell when the job will be idle.
 */
#include "core/queue/idle.h"
#include "base/parse.h"
#include <assert.h>
#include <string.h>

#define WINDOW SG_IDLE_WINDOW_USEC
/* One that uses a CPU's 20th part or more wants it. */
#define PARTS 20
/* Between marks, at least: so that all of them together are as old as the window. */
#define MARK_USEC (WINDOW / (SG_IDLE_MARKS - 1))
/* So long nothing must have been used for a job to be spoken of as quiet. */
#define QUIET_USEC (5ULL * 1000000)

/* Of the marks that are older than the window the youngest stays. */
static void forget(struct sg_idle *i, uint64_t now)
{
        while (i->n > 1 && now - i->marks[1].usec >= WINDOW)
                memmove(&i->marks[0], &i->marks[1], --i->n * sizeof(i->marks[0]));
}

static void set_mark(struct sg_idle *i, uint64_t now, uint64_t cpu)
{
        if (i->n > 0 && now - i->marks[i->n - 1].usec < MARK_USEC)
                return;
        assert(i->n < SG_IDLE_MARKS); /* else the second is older than the window */
        i->marks[i->n++] = (struct sg_idle_mark){now, cpu};
}

/* From when what was used since the mark is little for so long a time. */
static uint64_t idle_from(const struct sg_idle_mark *mark, uint64_t cpu)
{
        uint64_t used = (cpu - mark->cpu_usec) * PARTS;

        return mark->usec + (used < WINDOW ? WINDOW : used + 1);
}

static bool is_quiet(const struct sg_idle *i, uint64_t now, uint64_t cpu)
{
        for (unsigned k = i->n; k-- > 0;) {
                const struct sg_idle_mark *mark = &i->marks[k];

                if (now - mark->usec >= QUIET_USEC)
                        return (cpu - mark->cpu_usec) * PARTS < now - mark->usec;
        }
        return false;
}

void sg_idle_look(struct sg_idle *i, uint64_t now_usec, uint64_t cpu_usec, struct sg_idle_view *ret)
{
        struct sg_idle_view view = {.from_usec = SG_UNLIMITED};
        const struct sg_idle_mark *last = i->n > 0 ? &i->marks[i->n - 1] : NULL;

        *ret = view;
        if (cpu_usec == SG_UNLIMITED)
                return;
        if (last && (now_usec < last->usec || cpu_usec < last->cpu_usec))
                i->n = 0; /* what went back is no use */
        forget(i, now_usec);
        view.from_usec = now_usec + WINDOW;
        for (unsigned k = 0; k < i->n; k++) {
                uint64_t from = idle_from(&i->marks[k], cpu_usec);

                if (from < view.from_usec)
                        view.from_usec = from;
        }
        view.idle = view.from_usec <= now_usec;
        view.quiet = !view.idle && is_quiet(i, now_usec, cpu_usec);
        set_mark(i, now_usec, cpu_usec);
        *ret = view;
}
