/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/address.h"
#include "base/parse.h"
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int parse_port(const char *s, uint16_t *ret)
{
        uint32_t port;

        if (sg_parse_u32(s, &port) < 0 || port == 0 || port > UINT16_MAX)
                return -EINVAL;
        *ret = (uint16_t)port;
        return 0;
}

/* The text from s to end, without brackets. */
static int parse_host(const char *s, const char *end, struct sg_address *a)
{
        char host[INET6_ADDRSTRLEN];
        size_t n = (size_t)(end - s);
        bool six = s[0] == '[';

        if (six) {
                if (n < 2 || end[-1] != ']')
                        return -EINVAL;
                s++;
                n -= 2;
        }
        if (n >= sizeof(host))
                return -EINVAL;
        memcpy(host, s, n);
        host[n] = '\0';
        a->version = six ? 6 : 4;
        return inet_pton(six ? AF_INET6 : AF_INET, host, a->bytes) == 1 ? 0 : -EINVAL;
}

int sg_parse_address(const char *s, struct sg_address *ret)
{
        const char *colon = strrchr(s, ':');
        struct sg_address a;
        int r;

        memset(&a, 0, sizeof(a)); /* equal addresses are equal bytes */
        if (!colon) {
                a.version = 4;
                memcpy(a.bytes, "\x7f\0\0\x01", 4);
                r = parse_port(s, &a.port);
        } else {
                r = parse_host(s, colon, &a);
                if (r >= 0)
                        r = parse_port(colon + 1, &a.port);
        }
        if (r >= 0)
                memcpy(ret, &a, sizeof(a));
        return r;
}

bool sg_address_is_loopback(const struct sg_address *a)
{
        static const uint8_t six[16] = {[15] = 1};

        return a->version == 4 ? a->bytes[0] == 127
                               : a->version == 6 && memcmp(a->bytes, six, sizeof(six)) == 0;
}

char *sg_format_address(char buf[SG_ADDRESS_MAX], const struct sg_address *a)
{
        char host[INET6_ADDRSTRLEN] = "";

        buf[0] = '\0';
        if (a->version == 0)
                return buf;
        (void)inet_ntop(a->version == 6 ? AF_INET6 : AF_INET, a->bytes, host, sizeof(host));
        (void)snprintf(buf, SG_ADDRESS_MAX, a->version == 6 ? "[%s]:%u" : "%s:%u", host, a->port);
        return buf;
}
