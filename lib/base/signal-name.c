/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of signals. 32 and 33 are glibc's own and have none. */
#include "cleanup.h"
#include "parse-internal.h"
#include "parse.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* From SIGRTMIN on: the caller gets a string that lives for ever. */
static const char *const realtime[] = {
        "RTMIN",    "RTMIN+1",  "RTMIN+2",  "RTMIN+3",  "RTMIN+4",  "RTMIN+5",  "RTMIN+6",
        "RTMIN+7",  "RTMIN+8",  "RTMIN+9",  "RTMIN+10", "RTMIN+11", "RTMIN+12", "RTMIN+13",
        "RTMIN+14", "RTMIN+15", "RTMAX-14", "RTMAX-13", "RTMAX-12", "RTMAX-11", "RTMAX-10",
        "RTMAX-9",  "RTMAX-8",  "RTMAX-7",  "RTMAX-6",  "RTMAX-5",  "RTMAX-4",  "RTMAX-3",
        "RTMAX-2",  "RTMAX-1",  "RTMAX",
};

const char *sg_signal_name(int sig)
{
        if (sig <= 0)
                return NULL;
        if (sig < SIGRTMIN)
                return sigabbrev_np(sig);
        if (sig <= SIGRTMAX && (size_t)(sig - SIGRTMIN) < SG_ELEMENTSOF(realtime))
                return realtime[sig - SIGRTMIN];
        return NULL;
}

const char *sg_signal_text(char buf[SG_SIGNAL_TEXT_MAX], int sig)
{
        const char *name = sg_signal_name(sig);

        if (name)
                (void)snprintf(buf, SG_SIGNAL_TEXT_MAX, "SIG%s", name);
        else
                (void)snprintf(buf, SG_SIGNAL_TEXT_MAX, "signal %d", sig);
        return buf;
}

/* What follows "RTMIN" or "RTMAX": "", "+3", "-3". */
static int parse_realtime(const char *s, int base, int *ret)
{
        uint64_t offset = 0;
        char sign = *s;

        if (*s) {
                if (sign != (base == SIGRTMIN ? '+' : '-') || sg_parse_u64(s + 1, &offset) < 0)
                        return -EINVAL;
                if (offset > (uint64_t)(SIGRTMAX - SIGRTMIN))
                        return -ERANGE;
        }
        *ret = sign == '-' ? base - (int)offset : base + (int)offset;
        return 0;
}

int sg_parse_signal(const char *s, int *ret)
{
        uint32_t number;

        if (sg_is_digit(*s)) {
                int r = sg_parse_u32(s, &number);

                if (r < 0)
                        return r;
                if (number > INT32_MAX || !sg_signal_name((int)number))
                        return -EINVAL;
                *ret = (int)number;
                return 0;
        }
        if (strncmp(s, "SIG", 3) == 0)
                s += 3;
        if (strncmp(s, "RTMIN", 5) == 0)
                return parse_realtime(s + 5, SIGRTMIN, ret);
        if (strncmp(s, "RTMAX", 5) == 0)
                return parse_realtime(s + 5, SIGRTMAX, ret);
        for (int sig = 1; sig < SIGRTMIN; sig++) {
                const char *name = sg_signal_name(sig);

                if (name && strcmp(name, s) == 0) {
                        *ret = sig;
                        return 0;
                }
        }
        return -EINVAL;
}
