/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Fault points (fault.h). Empty in release builds. */

#include "base/fault.h"

#ifdef SG_FAULTS

#include "base/file.h"
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static void strike(const char *who, pid_t peer)
{
        int both = strcmp(who, "both") == 0;

        if ((both || strcmp(who, "peer") == 0) && peer > 1)
                (void)kill(peer, SIGKILL);
        if (both || strcmp(who, "self") == 0)
                (void)kill(getpid(), SIGKILL);
}

void sg_fault(const char *name, int dirfd, const char *file, pid_t peer)
{
        char line[64];
        char *who;

        if (sg_read_line_file(dirfd, file, line, sizeof(line)) < 0)
                return;
        who = strchr(line, ' ');
        if (!who)
                return;
        *who++ = '\0';
        if (strcmp(line, name) != 0)
                return;
        /* Two processes may reach the same point: the one that removes the file is struck. */
        if (unlinkat(dirfd, file, 0) == 0)
                strike(who, peer);
}

#endif
