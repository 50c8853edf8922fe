/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The page with our metrics, by HTTP: libmicrohttpd without threads, run from the event loop behind
 * all other work. It answers GET and HEAD of /metrics and nothing else, one request per connection.
 *
 * Who connects isn't trusted. There are 64 connections of 8 KiB each, for 10 seconds each, however
 * busy they are; when all are taken and somebody waits for one, the oldest that isn't done goes
 * after 50 ms already. The page is made at most once a second in each format and shared by its
 * readers; four pages exist at most, and the readers of the oldest are cut off when the last is
 * taken. What a reader doesn't take is therefore our memory for seconds, and never more of it.
 *
 * libmicrohttpd brings GnuTLS and a dozen libraries along (400 KiB of private memory), so it is
 * loaded when the first listener is made.
 */

#include "base/address.h"
#include "base/cleanup.h"
#include "core/measure/openmetrics.h"
#include <systemd/sd-event.h>

struct sg_http;

/* Writes a whole exposition; < 0: there is none, and the answer is 500. */
typedef int (*sg_http_render)(struct sg_openmetrics *w, enum sg_openmetrics_format format,
                              void *userdata);

/* Listens from now on. *ret_why: heap, says what failed. */
int sg_http_new(struct sg_http **ret, sd_event *event, const struct sg_address *where,
                sg_http_render render, void *userdata, char **ret_why);
struct sg_http *sg_http_free(struct sg_http *h);
SG_DEFINE_CLEANUP(struct sg_http *, sg_http_free)
