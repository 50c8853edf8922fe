/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/gpu/worker/serve.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/common/frames.h"
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#define ORDER_MAX 4096U
/* A driver's event can't be waited for together with our socket: so long an order, or SIGTERM, may
 * have to wait. */
#define SLICE_MSEC 250U
/* After an event the next look comes at once, but no sooner than so long after the last; and a
 * driver so slow that looks would follow each other isn't asked without a rest. */
#define GAP_USEC (250 * SG_USEC_PER_MSEC)
#define REST_USEC (50 * SG_USEC_PER_MSEC)

_Static_assert(2 * SG_GPU_PATH_MAX + 64 <= ORDER_MAX, "an order fits");

struct server {
        int fd, signals;
        const struct sg_gpu_driver_kind *kind;
        struct sg_gpu_driver *driver; /* NULL: there was no order yet */
        struct sg_gpu_inventory *inventory;
        struct sg_inbox in;
        struct sg_record out;
        size_t sent;         /* of out */
        uint64_t every_usec; /* 0: no order yet */
        uint64_t looked_usec, next_usec;
        bool ending;
};

static bool has_unsent(const struct server *s)
{
        return s->sent < s->out.size;
}

static int send_some(struct server *s)
{
        ssize_t n;

        if (!has_unsent(s))
                return 0;
        n = send(s->fd, s->out.data + s->sent, s->out.size - s->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
                s->ending = true; /* the daemon has gone */
                return 0;
        }
        s->sent += n > 0 ? (size_t)n : 0;
        if (!has_unsent(s))
                s->out.size = s->sent = 0;
        return 0;
}

static int post(struct server *s)
{
        size_t mark = sg_frame_open(&s->out);
        int r;

        sg_gpu_put_inventory(&s->out, s->inventory);
        r = sg_frame_close(&s->out, mark, SG_GPU_FRAME_MAX);
        return r < 0 ? r : send_some(s);
}

/* Whatever is wrong with the driver as a whole: there is nothing more to do here but to say so. */
static bool is_over(const struct server *s)
{
        return s->inventory->state != SG_GPU_DRIVER_OK;
}

static int look(struct server *s)
{
        uint64_t now = sg_now_monotonic_usec();
        int r;

        sg_gpu_begin(s->inventory);
        r = s->kind->look(s->driver, s->inventory);
        if (r < 0)
                return r;
        s->inventory->looked_usec = now;
        sg_gpu_tidy(s->inventory);
        s->ending = s->ending || is_over(s);
        s->looked_usec = now;
        s->next_usec = now + s->every_usec;
        now = sg_now_monotonic_usec() + REST_USEC;
        if (s->next_usec < now)
                s->next_usec = now;
        return post(s);
}

static int open_driver(struct server *s, const struct sg_gpu_order *order)
{
        int r;

        sg_gpu_begin(s->inventory);
        r = s->kind->open(&s->driver, order, s->inventory);
        if (r < 0 || s->driver)
                return r;
        s->inventory->looked_usec = sg_now_monotonic_usec();
        sg_gpu_tidy(s->inventory);
        s->ending = true;
        return post(s);
}

static int obey(struct server *s, const uint8_t *data, size_t size)
{
        struct sg_gpu_order order;
        int r = sg_gpu_take_order(data, size, &order);

        if (r < 0)
                return r;
        s->every_usec = order.every_usec;
        s->next_usec = 0;
        return s->driver || s->ending ? 0 : open_driver(s, &order);
}

static int receive(struct server *s)
{
        const uint8_t *data;
        ssize_t n = sg_inbox_receive(&s->in, s->fd, MSG_DONTWAIT);
        size_t size;
        int r;

        if (n == -EAGAIN)
                return 0;
        if (n <= 0) {
                s->ending = true;
                return n == -ENOMEM ? -ENOMEM : 0;
        }
        while ((r = sg_inbox_take(&s->in, &data, &size)) > 0) {
                r = obey(s, data, size);
                if (r < 0)
                        break;
        }
        return r;
}

/* Waits for orders, for room in the socket, or for the end. */
static int wait_for_daemon(struct server *s, int msec)
{
        struct pollfd fds[] = {
                {.fd = s->fd, .events = (short)(has_unsent(s) ? POLLIN | POLLOUT : POLLIN)},
                {.fd = s->signals, .events = POLLIN},
        };
        int r;

        if (poll(fds, SG_ELEMENTSOF(fds), msec) < 0)
                return errno == EINTR ? 0 : -errno;
        if (fds[1].revents)
                s->ending = true;
        if (fds[0].revents & POLLOUT) {
                r = send_some(s);
                if (r < 0)
                        return r;
        }
        return fds[0].revents & ~POLLOUT ? receive(s) : 0;
}

/* An event of the driver's brings the next look forward. */
static int wait_for_driver(struct server *s, uint64_t msec)
{
        int r = s->kind->wait(s->driver, (unsigned)(msec < SLICE_MSEC ? msec : SLICE_MSEC));

        if (r > 0 && s->next_usec > s->looked_usec + GAP_USEC)
                s->next_usec = s->looked_usec + GAP_USEC;
        return r < 0 ? wait_for_daemon(s, (int)msec) : wait_for_daemon(s, 0);
}

static int step(struct server *s)
{
        uint64_t now = sg_now_monotonic_usec(), msec;

        if (!s->driver || has_unsent(s))
                return wait_for_daemon(s, -1);
        if (now >= s->next_usec)
                return look(s);
        msec = (s->next_usec - now + SG_USEC_PER_MSEC - 1) / SG_USEC_PER_MSEC;
        return wait_for_driver(s, msec);
}

/* The last words, if the daemon takes them soon. */
static void finish(struct server *s)
{
        struct pollfd p = {.fd = s->fd, .events = POLLOUT};

        while (has_unsent(s) && poll(&p, 1, 1000) > 0 && !(p.revents & (POLLHUP | POLLERR)))
                (void)send_some(s);
}

int sg_gpu_serve(int fd, int signals, const struct sg_gpu_driver_kind *kind)
{
        _cleanup_free_ struct sg_gpu *gpus = calloc(SG_GPUS_MAX, sizeof(*gpus));
        struct sg_gpu_inventory inventory = {.gpus = gpus};
        struct server s = {
                .fd = fd,
                .signals = signals,
                .kind = kind,
                .inventory = &inventory,
                .in = {.max = ORDER_MAX},
        };
        int r = gpus ? 0 : -ENOMEM;

        while (r >= 0 && !s.ending)
                r = step(&s);
        if (r >= 0)
                finish(&s);
        kind->close(s.driver);
        sg_inbox_deinit(&s.in);
        sg_record_deinit(&s.out);
        return r < 0 ? r : 0;
}
