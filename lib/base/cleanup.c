/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cleanup.h"

#include <errno.h>

int sg_close(int fd)
{
        int saved = errno;

        /* EINTR included: Linux has released the number by then, so a second try could close
         * somebody else's file. */
        if (fd >= 0)
                (void)close(fd);
        errno = saved;
        return -1;
}

void sg_strv_free(char **strings)
{
        for (char **p = strings; p && *p; p++)
                free(*p);
        free(strings);
}
