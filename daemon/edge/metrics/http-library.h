/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* The functions of libmicrohttpd that we call, each under its name without MHD_. */

#include <microhttpd.h>

#define SG_MICROHTTPD_FUNCTIONS(X)                                                                 \
        X(start_daemon)                                                                            \
        X(stop_daemon)                                                                             \
        X(run)                                                                                     \
        X(get_timeout)                                                                             \
        X(get_daemon_info)                                                                         \
        X(get_connection_info)                                                                     \
        X(lookup_connection_value)                                                                 \
        X(create_response_from_buffer_with_free_callback_cls)                                      \
        X(create_response_from_buffer)                                                             \
        X(add_response_header)                                                                     \
        X(queue_response)                                                                          \
        X(destroy_response)

struct sg_microhttpd {
#define SG_MICROHTTPD_MEMBER(name) __typeof__(&MHD_##name) name;
        SG_MICROHTTPD_FUNCTIONS(SG_MICROHTTPD_MEMBER)
#undef SG_MICROHTTPD_MEMBER
};

/* Loads it once and for all. -ENOENT: it isn't installed, or lacks something; *ret_why: heap. */
int sg_microhttpd_load(const struct sg_microhttpd **ret, char **ret_why);
