/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exit record: struct sg_exit, zero padding, and a CRC in the last four bytes. */

#include "proto/attempt.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

#define CRC_OFFSET (SG_EXIT_SIZE - sizeof(uint32_t))

static_assert(sizeof(struct sg_exit) <= CRC_OFFSET, "the exit record outgrew its file");
static_assert(sizeof(SG_EXIT_MAGIC) == 8, "the magic is 8 bytes with its NUL");

const char *sg_stage_to_string(enum sg_stage stage)
{
        static const char *const strings[_SG_STAGE_MAX] = {
                [SG_STAGE_SETUP] = "set the job up",
                [SG_STAGE_CREDENTIALS] = "become the user",
                [SG_STAGE_WORKDIR] = "enter the working directory",
                [SG_STAGE_OUTPUT] = "open the output file",
                [SG_STAGE_EXEC] = "execute the command",
        };

        return (unsigned)stage < _SG_STAGE_MAX ? strings[stage] : NULL;
}

void sg_exit_pack(const struct sg_exit *e, uint8_t buf[SG_EXIT_SIZE])
{
        uint32_t crc;

        memset(buf, 0, SG_EXIT_SIZE);
        memcpy(buf, e, sizeof(*e));
        memcpy(buf, SG_EXIT_MAGIC, sizeof(SG_EXIT_MAGIC));
        crc = sg_crc32c(buf, CRC_OFFSET);
        memcpy(buf + CRC_OFFSET, &crc, sizeof(crc));
}

int sg_exit_unpack(struct sg_exit *ret, const void *data, size_t size)
{
        const uint8_t *p = data;
        uint32_t crc;

        if (size != SG_EXIT_SIZE || memcmp(p, SG_EXIT_MAGIC, sizeof(SG_EXIT_MAGIC)) != 0)
                return -EBADMSG;
        memcpy(&crc, p + CRC_OFFSET, sizeof(crc));
        if (crc != sg_crc32c(p, CRC_OFFSET))
                return -EBADMSG;
        memcpy(ret, p, sizeof(*ret));
        return 0;
}
