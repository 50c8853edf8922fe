/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/metrics/http-page.h"
#include "base/time-util.h"
#include <errno.h>

#define FRESH_USEC SG_USEC_PER_SEC

static struct sg_http_page *current(struct sg_http_pages *p, enum sg_openmetrics_format format)
{
        for (size_t i = 0; i < SG_HTTP_PAGES; i++)
                if (p->pages[i].response && p->pages[i].format == format)
                        return &p->pages[i];
        return NULL;
}

/* Readers who come from now on don't get this page. If nobody reads it, it is released at once. */
static void retire(struct sg_http_pages *p, struct sg_http_page *page)
{
        if (page && page->response)
                p->mhd->destroy_response(TAKE_PTR(page->response));
}

static void on_released(void *userdata)
{
        struct sg_http_page *page = userdata;

        page->taken = false;
}

/* A page that nobody uses, rather with a buffer than without one; the buffers of others are given
 * back. */
static struct sg_http_page *find_free(struct sg_http_pages *p)
{
        struct sg_http_page *found = NULL;

        for (size_t i = 0; i < SG_HTTP_PAGES; i++) {
                struct sg_http_page *page = &p->pages[i];

                if (page->taken)
                        continue;
                if (!found || !found->text.allocated)
                        found = page;
                else
                        sg_openmetrics_deinit(&page->text);
        }
        return found;
}

static int make_response(struct sg_http_pages *p, struct sg_http_page *page)
{
        static const char *const types[] = {
                [SG_METRICS_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
                [SG_METRICS_OPENMETRICS] =
                        "application/openmetrics-text; version=1.0.0; charset=utf-8",
        };
        struct MHD_Response *response = p->mhd->create_response_from_buffer_with_free_callback_cls(
                page->text.size, page->text.data, on_released, page);

        if (!response)
                return -ENOMEM;
        page->taken = true;
        page->response = response;
        if (p->mhd->add_response_header(response, "Content-Type", types[page->format]) != MHD_YES ||
            p->mhd->add_response_header(response, "Connection", "close") != MHD_YES) {
                retire(p, page);
                return -ENOMEM;
        }
        return 0;
}

int sg_http_pages_get(struct sg_http_pages *p, enum sg_openmetrics_format format, uint64_t now_usec,
                      struct sg_http_page **ret)
{
        struct sg_http_page *page = current(p, format);
        int r;

        if (page && now_usec - page->made_usec < FRESH_USEC) {
                *ret = page;
                return 0;
        }
        retire(p, page);
        page = find_free(p);
        if (!page)
                return -EBUSY;
        page->format = format;
        page->made_usec = now_usec;
        r = p->render(&page->text, format, p->userdata);
        if (r >= 0)
                r = make_response(p, page);
        if (r < 0)
                return r;
        *ret = page;
        return 0;
}

struct sg_http_page *sg_http_pages_victim(struct sg_http_pages *p)
{
        struct sg_http_page *oldest = NULL;

        for (size_t i = 0; i < SG_HTTP_PAGES; i++) {
                struct sg_http_page *page = &p->pages[i];

                if (!page->taken)
                        return NULL;
                if (!page->response && (!oldest || page->made_usec < oldest->made_usec))
                        oldest = page;
        }
        return oldest;
}

void sg_http_pages_deinit(struct sg_http_pages *p)
{
        for (size_t i = 0; i < SG_HTTP_PAGES; i++) {
                retire(p, &p->pages[i]);
                sg_openmetrics_deinit(&p->pages[i].text);
        }
}
