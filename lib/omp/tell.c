/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tells the governor that this process does as its allocation says, and up to how many threads: a
 * datagram at its first region, and again only if a later ceiling is higher. It is lost where
 * nobody takes it at once.
 */
#include "client/notify-address.h"
#include "omp/omp-internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address;
static socklen_t address_size; /* 0: there is nobody to tell */
static _Atomic unsigned told;

/* Kept, as programs unset it or write over their environment. */
void sgo_tell_begin(void)
{
        const char *s = getenv("NOTIFY_SOCKET");

        address_size = s ? sgc_notify_address(s, &address) : 0;
}

void sgo_tell_forked(void)
{
        atomic_store(&told, 0);
}

static void send_ceiling(unsigned ceiling)
{
        int saved = errno, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        char text[48];
        int n = snprintf(text, sizeof(text), "SCHEDGOV_FOLLOWS=%u", ceiling);

        if (fd >= 0) {
                (void)sendto(fd, text, (size_t)n, MSG_DONTWAIT | MSG_NOSIGNAL,
                             (const struct sockaddr *)&address, address_size);
                (void)close(fd);
        }
        errno = saved;
}

void sgo_tell(unsigned ceiling)
{
        unsigned before = atomic_load_explicit(&told, memory_order_relaxed);

        if (address_size == 0 || ceiling <= before)
                return;
        if (atomic_compare_exchange_strong(&told, &before, ceiling))
                send_ceiling(ceiling);
}
