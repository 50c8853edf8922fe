/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Where to listen, as people write it. Nothing is looked up, so names of hosts are no addresses. */

#include <stdbool.h>
#include <stdint.h>

struct sg_address {
        uint8_t version;   /* of IP: 4 or 6; 0 = none */
        uint8_t bytes[16]; /* the first 4 of them, or all; unused ones are zero */
        uint16_t port;     /* ≥ 1 */
};

#define SG_ADDRESS_MAX 56 /* "[IPv6]:PORT" and a NUL */

/* "127.0.0.1:9750", "[::1]:9750", or a port alone, which is one of 127.0.0.1. -EINVAL */
int sg_parse_address(const char *s, struct sg_address *ret);
/* Whether only this host gets there. */
bool sg_address_is_loopback(const struct sg_address *a);
/* Returns buf; "" of none. */
char *sg_format_address(char buf[SG_ADDRESS_MAX], const struct sg_address *a);
