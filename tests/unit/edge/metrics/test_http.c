/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pages by HTTP over a real socket: who shares them, and what slow readers can't do. What clients
 * may send, and when they are cut off, is in tests/integration/path-metrics. */

#include "base/time-util.h"
#include "edge/metrics/http.h"
#include "tests/unit/test.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#define PATIENCE_USEC (20 * SG_USEC_PER_SEC)
#define FRESH_USEC (1100 * SG_USEC_PER_MSEC) /* a page is kept for a second */
#define LARGE 150000U                        /* samples: more than all socket buffers take */
#define PAGES 4U                             /* that http-page.c keeps */

static const struct sg_family family = {"t_number", SG_FAMILY_GAUGE, "", "i", "How many pages."};

struct bench {
        sd_event *event;
        struct sg_http *http;
        struct sg_address where;
        unsigned rendered, samples;
        int error;
};

/* Every sample is the number of the page. */
static int render(struct sg_openmetrics *w, enum sg_openmetrics_format format, void *userdata)
{
        struct bench *b = userdata;
        const struct sg_label labels[] = {{"i", "some text to make it longer"}, {0}};

        if (b->error < 0)
                return b->error;
        b->rendered++;
        sg_openmetrics_begin(w, format);
        sg_openmetrics_family(w, &family);
        for (unsigned i = 0; i < b->samples; i++)
                sg_openmetrics_u64(w, labels, b->rendered);
        return sg_openmetrics_end(w);
}

static uint16_t free_port(void)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t size = sizeof(a);
        _cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        assert_int_equal(bind(fd, (struct sockaddr *)&a, size), 0);
        assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
        return ntohs(a.sin_port);
}

static int setup(void **state)
{
        struct bench *b = calloc(1, sizeof(*b));
        char text[SG_ADDRESS_MAX];
        char *why = NULL;

        b->samples = 10;
        assert_int_equal(sd_event_new(&b->event), 0);
        snprintf(text, sizeof(text), "%u", free_port());
        assert_int_equal(sg_parse_address(text, &b->where), 0);
        if (sg_http_new(&b->http, b->event, &b->where, render, b, &why) < 0)
                fail_msg("%s", why);
        *state = b;
        return 0;
}

static int teardown(void **state)
{
        struct bench *b = *state;

        sg_http_free(b->http);
        sd_event_unref(b->event);
        free(b);
        return 0;
}

/* The client */

static void send_request(int fd, const char *accept)
{
        char request[256];
        int n = snprintf(request, sizeof(request),
                         "GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: %s\r\n\r\n", accept);

        assert_int_equal(send(fd, request, (size_t)n, MSG_NOSIGNAL), n);
}

/* A request has been sent; little is taken of the answer before it is read. */
static int client(const struct bench *b, const char *accept)
{
        struct sockaddr_in a = {.sin_family = AF_INET,
                                .sin_port = htons(b->where.port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), size = 4096;

        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
        send_request(fd, accept);
        return fd;
}

static void run_for(struct bench *b, uint64_t usec)
{
        uint64_t end = sg_now_monotonic_usec() + usec, now;

        while ((now = sg_now_monotonic_usec()) < end)
                assert_true(sd_event_run(b->event, end - now) >= 0);
}

/* All of the answer on the heap, "" if the connection was broken; closes fd. */
static char *answer(struct bench *b, int fd)
{
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        size_t size = 0, room = 16 << 20;
        char *buf = malloc(room);
        int window = 1 << 20;
        ssize_t n = -1;

        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &window, sizeof(window)), 0);
        while (n != 0 && sg_now_monotonic_usec() < end) {
                n = recv(fd, buf + size, room - size - 1, MSG_DONTWAIT);
                if (n > 0)
                        size += (size_t)n;
                else if (n < 0 && errno != EAGAIN)
                        n = (ssize_t)(size = 0);
                assert_true(sd_event_run(b->event, n > 0 ? 0 : SG_USEC_PER_MSEC) >= 0);
        }
        close(fd);
        assert_int_equal(n, 0);
        buf[size] = '\0';
        return buf;
}

static unsigned length_of(const char *reply)
{
        const char *p = strstr(reply, "Content-Length: ");
        unsigned n;

        assert_non_null(p);
        assert_int_equal(sscanf(p, "Content-Length: %u", &n), 1);
        return n;
}

/* Until so many pages were made, and the last of them is too old for anybody else. */
static void run_past_page(struct bench *b, unsigned page)
{
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;

        while (b->rendered < page) {
                assert_true(sg_now_monotonic_usec() < end);
                assert_true(sd_event_run(b->event, SG_USEC_PER_MSEC) >= 0);
        }
        run_for(b, FRESH_USEC);
        assert_int_equal(b->rendered, page);
}

/* The reply is whole, and of one page alone. */
static void expect_page(const char *reply, unsigned page, unsigned samples)
{
        const char *p = strstr(reply, "\r\n\r\n");
        char end[16];
        unsigned n = 0;

        assert_non_null(p);
        assert_int_equal(strlen(p + 4), length_of(reply));
        snprintf(end, sizeof(end), " %u\n", page);
        for (const char *line = strstr(p, "\nt_number{"); line; n++) {
                line = strchr(line + 1, '}');
                assert_memory_equal(line + 1, end, strlen(end));
                line = strncmp(line + strlen(end), "\nt_number{", 10) == 0 ? line + strlen(end)
                                                                           : NULL;
        }
        assert_int_equal(n, samples);
}

static void expect_status(const char *reply, const char *status)
{
        assert_memory_equal(reply, "HTTP/1.1 ", 9);
        assert_memory_equal(reply + 9, status, strlen(status));
}

static void fetch(struct bench *b, const char *accept, unsigned page)
{
        _cleanup_free_ char *reply = answer(b, client(b, accept));

        expect_status(reply, "200");
        expect_page(reply, page, b->samples);
}

/* The number of the page that is served. */
static unsigned fetch_any(struct bench *b, const char *accept)
{
        _cleanup_free_ char *reply = answer(b, client(b, accept));
        const char *p = strstr(reply, "\nt_number{");
        unsigned page;

        expect_status(reply, "200");
        assert_non_null(p);
        assert_int_equal(sscanf(strchr(p, '}'), "} %u", &page), 1);
        expect_page(reply, page, b->samples);
        return page;
}

/* Within the second for which a page is kept: who takes longer for that tries again. */
static void test_pages_are_shared(void **state)
{
        struct bench *b = *state;
        unsigned plain, other, tries = 0, pages[3];
        uint64_t begin;

        do {
                assert_true(tries++ < 20);
                run_for(b, FRESH_USEC);
                begin = sg_now_monotonic_usec();
                plain = fetch_any(b, "text/plain");
                pages[0] = fetch_any(b, "text/plain");
                other = fetch_any(b, "application/openmetrics-text");
                pages[1] = fetch_any(b, "text/plain");
                pages[2] = fetch_any(b, "application/openmetrics-text");
        } while (sg_now_monotonic_usec() - begin >= SG_USEC_PER_SEC);
        assert_int_equal(pages[0], plain);
        assert_int_equal(other, plain + 1);
        assert_int_equal(pages[1], plain);
        assert_int_equal(pages[2], other);
        run_for(b, FRESH_USEC);
        fetch(b, "text/plain", other + 1);
        fetch(b, "application/openmetrics-text", other + 2);
}

static void test_no_page(void **state)
{
        struct bench *b = *state;

        for (unsigned i = 0; i < 2 * PAGES; i++) {
                _cleanup_free_ char *reply = NULL;

                b->error = -ENOMEM;
                reply = answer(b, client(b, "*/*"));
                expect_status(reply, "500");
        }
        b->error = 0;
        fetch(b, "*/*", 1);
}

static int on_busy(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)usec;
        (void)userdata;
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

/* … as a bus is that somebody keeps asking. */
static void test_loop_is_never_idle(void **state)
{
        struct bench *b = *state;
        sd_event_source *busy;

        assert_true(sd_event_add_time(b->event, &busy, CLOCK_MONOTONIC, 0, 0, on_busy, NULL) >= 0);
        fetch(b, "*/*", 1);
        sd_event_source_disable_unref(busy);
}

/* A page doesn't change under its reader, however slow that is. */
static void test_slow_reader(void **state)
{
        struct bench *b = *state;
        _cleanup_free_ char *reply = NULL;
        int slow;

        b->samples = LARGE;
        slow = client(b, "*/*");
        run_past_page(b, 1);
        for (unsigned page = 2; page < PAGES; page++) {
                fetch(b, "*/*", page);
                run_past_page(b, page);
        }
        reply = answer(b, slow);
        expect_page(reply, 1, LARGE);
}

/* One after the other, each holding on to a page of its own: the last ones get theirs. */
static void test_slow_readers(void **state)
{
        struct bench *b = *state;
        int slow[PAGES + 2];

        b->samples = LARGE;
        for (unsigned i = 0; i < SG_ELEMENTSOF(slow); i++) {
                slow[i] = client(b, "*/*");
                run_past_page(b, i + 1);
        }
        fetch(b, "*/*", PAGES + 3);
        for (unsigned i = 0; i < SG_ELEMENTSOF(slow); i++) {
                _cleanup_free_ char *reply = answer(b, slow[i]);
                size_t size = strlen(reply);

                /* Those of the oldest pages were cut off, and no reader is given two halves. */
                if (i < SG_ELEMENTSOF(slow) + 2 - PAGES)
                        assert_true(size == 0 || size < length_of(reply));
                else
                        expect_page(reply, i + 1, LARGE);
        }
}

/* What is under way ends with the listener. */
static void test_end(void **state)
{
        struct bench *b = *state;
        char byte;
        int fd;

        b->samples = LARGE;
        fd = client(b, "*/*");
        run_for(b, 100 * SG_USEC_PER_MSEC);
        b->http = sg_http_free(b->http);
        while (recv(fd, &byte, 1, 0) > 0)
                continue;
        close(fd);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        assert_int_equal(connect(fd,
                                 (struct sockaddr *)&(struct sockaddr_in){
                                         .sin_family = AF_INET,
                                         .sin_port = htons(b->where.port),
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)},
                                 sizeof(struct sockaddr_in)),
                         -1);
        assert_int_equal(errno, ECONNREFUSED);
        close(fd);
}

static void test_address_taken(void **state)
{
        struct bench *b = *state;
        _cleanup_free_ char *why = NULL;
        struct sg_http *second = NULL;
        char expected[128], text[SG_ADDRESS_MAX];

        assert_int_equal(sg_http_new(&second, b->event, &b->where, render, b, &why), -EADDRINUSE);
        assert_null(second);
        snprintf(expected, sizeof(expected), "cannot listen on %s: Address already in use",
                 sg_format_address(text, &b->where));
        assert_string_equal(why, expected);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        const struct CMUnitTest tests[] = {
                TEST(test_pages_are_shared), TEST(test_no_page),      TEST(test_loop_is_never_idle),
                TEST(test_slow_reader),      TEST(test_slow_readers), TEST(test_end),
                TEST(test_address_taken),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
