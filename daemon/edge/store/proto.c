/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/store/proto.h"
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#define LENGTH_SIZE sizeof(uint32_t)
#define RECEIVE_SIZE (64U * 1024)

size_t sg_store_frame_open(struct sg_record *out, enum sg_store_kind kind)
{
        size_t mark = out->size;

        sg_record_append(out, &(uint32_t){0}, LENGTH_SIZE);
        sg_record_put_u64(out, SG_STORE_TAG_KIND, kind);
        return mark;
}

int sg_store_frame_close(struct sg_record *out, size_t mark)
{
        size_t size = out->size - mark;
        uint32_t length;
        int r = out->error;

        if (r >= 0 && size - LENGTH_SIZE > SG_STORE_FRAME_MAX)
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

/* The first frame in data: 1 = *ret_size bytes with their length, 0 = more is needed, -EBADMSG. */
static int next_frame(const void *data, size_t size, size_t *ret_size)
{
        uint32_t length;

        if (size < LENGTH_SIZE)
                return 0;
        memcpy(&length, data, LENGTH_SIZE);
        if (length == 0 || length > SG_STORE_FRAME_MAX)
                return -EBADMSG;
        *ret_size = LENGTH_SIZE + length;
        return size >= *ret_size ? 1 : 0;
}

int sg_store_message_parse(struct sg_store_message *ret, const void *frame, size_t size)
{
        struct sg_reader reader =
                sg_reader_init((const uint8_t *)frame + LENGTH_SIZE, size - LENGTH_SIZE);
        struct sg_field f;
        int r;

        *ret = (struct sg_store_message){0};
        while ((r = sg_reader_next(&reader, &f)) > 0)
                if (f.tag < _SG_STORE_TAG_MAX)
                        ret->fields[f.tag] = f;
        if (r < 0)
                return r;
        return sg_field_u64(&ret->fields[SG_STORE_TAG_KIND], &ret->kind);
}

uint64_t sg_store_message_u64(const struct sg_store_message *m, enum sg_store_tag tag)
{
        uint64_t v = 0;

        (void)sg_field_u64(&m->fields[tag], &v);
        return v;
}

int64_t sg_store_message_i64(const struct sg_store_message *m, enum sg_store_tag tag)
{
        return (int64_t)sg_store_message_u64(m, tag);
}

int sg_store_message_str(const struct sg_store_message *m, enum sg_store_tag tag, char **ret)
{
        char *s = NULL;
        int r;

        if (m->fields[tag].data) {
                r = sg_field_strdup(&m->fields[tag], &s);
                if (r < 0)
                        return r;
        }
        *ret = s;
        return 0;
}

void sg_store_inbox_deinit(struct sg_store_inbox *in)
{
        sg_record_deinit(&in->bytes);
        in->taken = 0;
}

/* Moves what hasn't been taken to the front, and lets go of a buffer that one large frame has
 * grown. */
static void inbox_compact(struct sg_store_inbox *in)
{
        size_t left = in->bytes.size - in->taken;

        if (left == 0 && in->bytes.allocated > 4 * RECEIVE_SIZE)
                sg_record_deinit(&in->bytes);
        else if (in->taken > 0 && left > 0)
                memmove(in->bytes.data, in->bytes.data + in->taken, left);
        in->bytes.size = left;
        in->taken = 0;
}

/* What to ask for: the rest of a frame whose length is known,
 * so that it needn't be copied about. */
static size_t inbox_want(const struct sg_store_inbox *in)
{
        size_t frame = 0;

        if (in->bytes.size > 0 && next_frame(in->bytes.data, in->bytes.size, &frame) == 0 &&
            frame > in->bytes.size + RECEIVE_SIZE)
                return frame - in->bytes.size;
        return RECEIVE_SIZE;
}

static int inbox_reserve(struct sg_store_inbox *in, size_t more)
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

ssize_t sg_store_inbox_receive(struct sg_store_inbox *in, int fd, int flags)
{
        size_t want;
        ssize_t n;
        int r;

        inbox_compact(in);
        want = inbox_want(in);
        r = inbox_reserve(in, want);
        if (r < 0)
                return r;
        do
                n = recv(fd, in->bytes.data + in->bytes.size, want, flags);
        while (n < 0 && errno == EINTR);
        if (n < 0)
                return -errno;
        in->bytes.size += (size_t)n;
        return n;
}

int sg_store_inbox_take(struct sg_store_inbox *in, const uint8_t **ret_frame, size_t *ret_size)
{
        size_t size = 0;
        int r;

        if (in->bytes.size == in->taken)
                return 0;
        r = next_frame(in->bytes.data + in->taken, in->bytes.size - in->taken, &size);
        if (r <= 0)
                return r;
        *ret_frame = in->bytes.data + in->taken;
        *ret_size = size;
        in->taken += size;
        return 1;
}
