/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/child.h"
#include "base/cleanup.h"
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static void reset_signals(void)
{
        static const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGTSTP};
        sigset_t none;

        for (int i = 1; i < NSIG; i++)
                (void)signal(i, SIG_DFL);
        for (size_t i = 0; i < SG_ELEMENTSOF(ignored); i++)
                (void)signal(ignored[i], SIG_IGN);
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* (musl has no function for it) */
static void close_from_to(unsigned first, unsigned last)
{
        if (first <= last)
                (void)syscall(SYS_close_range, first, last, 0);
}

void sg_child_set_up(const char *name, const int keep[2])
{
        int low = keep[0] < keep[1] ? keep[0] : keep[1];
        int high = keep[0] < keep[1] ? keep[1] : keep[0];
        unsigned next = 3;

        reset_signals();
        (void)umask(077);
        (void)prctl(PR_SET_NAME, name);
        if (low >= 3) {
                close_from_to(next, (unsigned)low - 1);
                next = (unsigned)low + 1;
        }
        if (high >= 3) {
                close_from_to(next, (unsigned)high - 1);
                next = (unsigned)high + 1;
        }
        close_from_to(next, UINT_MAX);
}
