/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Of NOTIFY_SOCKET: "/path", or "@name" in the abstract namespace. 0: it is neither, or too long.
 */
static inline socklen_t sgc_notify_address(const char *s, struct sockaddr_un *ret)
{
        size_t n = strlen(s);

        if ((s[0] != '/' && s[0] != '@') || n < 2 || n >= sizeof(ret->sun_path))
                return 0;
        ret->sun_family = AF_UNIX;
        memcpy(ret->sun_path, s, n);
        if (s[0] == '@')
                ret->sun_path[0] = '\0';
        return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + (s[0] == '/'));
}
