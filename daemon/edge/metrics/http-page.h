/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The pages that are being read. One per format is current, for a second; the next request after
 * that has a new one made. An older page lives until the last of its readers is done.
 */

#include "edge/metrics/http-library.h"
#include "edge/metrics/http.h"

#define SG_HTTP_PAGES 4

struct sg_http_page {
        struct sg_openmetrics text;
        enum sg_openmetrics_format format;
        uint64_t made_usec;
        struct MHD_Response *response; /* our reference, while it is current */
        bool taken;                    /* it is current, or somebody reads it */
};

struct sg_http_pages {
        const struct sg_microhttpd *mhd;
        sg_http_render render;
        void *userdata;
        struct sg_http_page pages[SG_HTTP_PAGES];
};

/* The current page, valid until the next call. -EBUSY: all are being read. */
int sg_http_pages_get(struct sg_http_pages *p, enum sg_openmetrics_format format, uint64_t now_usec,
                      struct sg_http_page **ret);
/* If no page is left for the next reader: the page whose readers should give way. Else NULL. */
struct sg_http_page *sg_http_pages_victim(struct sg_http_pages *p);
/* When there are no connections any more. */
void sg_http_pages_deinit(struct sg_http_pages *p);
