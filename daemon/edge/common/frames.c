/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/common/frames.h"
#include "base/file.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define LENGTH_SIZE sizeof(uint32_t)
/* Bytes asked for at once: more when there were as many. */
#define RECEIVE_MIN (4U * 1024)
#define RECEIVE_MAX (64U * 1024)

size_t sg_frame_open(struct sg_record *out)
{
        size_t mark = out->size;

        sg_record_append(out, &(uint32_t){0}, LENGTH_SIZE);
        return mark;
}

int sg_frame_close(struct sg_record *out, size_t mark, size_t max)
{
        size_t size = out->size - mark;
        uint32_t length;
        int r = out->error;

        if (r >= 0 && size - LENGTH_SIZE > max)
                r = -E2BIG;
        if (r < 0) {
                out->size = mark;
                out->error = 0;
                return r;
        }
        length = (uint32_t)(size - LENGTH_SIZE);
        memcpy(out->data + mark, &length, LENGTH_SIZE);
        return 0;
}

int sg_frame_send(int fd, const void *data, size_t size, size_t max)
{
        uint32_t length = (uint32_t)size;
        struct iovec iov[] = {{&length, LENGTH_SIZE}, {(void *)data, size}};
        ssize_t n;

        if (size > max)
                return -E2BIG;
        do
                n = writev(fd, iov, 2);
        while (n < 0 && errno == EINTR);
        if (n < (ssize_t)LENGTH_SIZE) /* which the kernel never parts */
                return n < 0 ? -errno : -EIO;
        n -= (ssize_t)LENGTH_SIZE;
        return sg_write_all(fd, (const uint8_t *)data + n, size - (size_t)n);
}

/* The first frame in data: 1 = *ret_size bytes with their length, 0 = more is needed, -EBADMSG. */
static int next_frame(const struct sg_inbox *in, size_t *ret_size)
{
        size_t left = in->bytes.size - in->taken;
        uint32_t length;

        if (left < LENGTH_SIZE)
                return 0;
        memcpy(&length, in->bytes.data + in->taken, LENGTH_SIZE);
        if (length == 0 || length > in->max)
                return -EBADMSG;
        *ret_size = LENGTH_SIZE + length;
        return left >= *ret_size ? 1 : 0;
}

void sg_inbox_deinit(struct sg_inbox *in)
{
        sg_record_deinit(&in->bytes);
        in->taken = 0;
}

/* Moves what hasn't been taken to the front, and lets go of a buffer that one large frame has
 * grown. */
static void compact(struct sg_inbox *in)
{
        size_t left = in->bytes.size - in->taken;

        if (left == 0 && in->bytes.allocated > 4 * RECEIVE_MAX)
                sg_record_deinit(&in->bytes);
        else if (in->taken > 0 && left > 0)
                memmove(in->bytes.data, in->bytes.data + in->taken, left);
        in->bytes.size = left;
        in->taken = 0;
}

/* How much to ask for: the rest of a frame whose length is known, so that it needn't be copied
 * about. */
static size_t want(const struct sg_inbox *in)
{
        size_t frame = 0, usual = in->usual > 0 ? in->usual : RECEIVE_MIN;

        if (next_frame(in, &frame) == 0 && frame > in->bytes.size + usual)
                return frame - in->bytes.size;
        return usual;
}

static int reserve(struct sg_inbox *in, size_t more)
{
        uint8_t *p;

        if (in->bytes.allocated - in->bytes.size >= more)
                return 0;
        p = realloc(in->bytes.data, in->bytes.size + more);
        if (!p)
                return -ENOMEM;
        in->bytes.data = p;
        in->bytes.allocated = in->bytes.size + more;
        return 0;
}

ssize_t sg_inbox_receive(struct sg_inbox *in, int fd, int flags)
{
        size_t size;
        ssize_t n;
        int r;

        compact(in);
        size = want(in);
        r = reserve(in, size);
        if (r < 0)
                return r;
        do
                n = recv(fd, in->bytes.data + in->bytes.size, size, flags);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        in->bytes.size += (size_t)n;
        if ((size_t)n >= size && size < RECEIVE_MAX)
                in->usual = 2 * size < RECEIVE_MAX ? 2 * size : RECEIVE_MAX;
        return n;
}

int sg_inbox_take(struct sg_inbox *in, const uint8_t **ret, size_t *ret_size)
{
        size_t size = 0;
        int r;

        r = next_frame(in, &size);
        if (r <= 0)
                return r;
        *ret = in->bytes.data + in->taken + LENGTH_SIZE;
        *ret_size = size - LENGTH_SIZE;
        in->taken += size;
        return 1;
}
