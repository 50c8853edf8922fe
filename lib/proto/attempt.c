/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The exit record: struct sg_exit, zero padding, and a CRC in the last four bytes. */

#include "proto/attempt.h"
#include <assert.h>
#include <errno.h>
#include <string.h>

#define CRC_OFFSET (SG_EXIT_SIZE - sizeof(uint32_t))
#define SIGNAL_MAX 64  /* of the kernel: _NSIG */
#define ERRNO_MAX 4095 /* of the kernel: MAX_ERRNO */

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

/* What ran has a status or a signal, what didn't a stage and its error; a process that had failed
 * may still have been killed. */
static bool is_possible(const struct sg_exit *e)
{
        bool exited = e->exit_code >= 0 && e->exit_code <= UINT8_MAX && e->signal == 0;
        bool killed = e->exit_code == -1 && e->signal > 0 && e->signal <= SIGNAL_MAX;
        bool failed = e->exit_code == -1 && e->signal >= 0 && e->signal <= SIGNAL_MAX;

        if (e->pid < 0 || e->main_oom_killed > 1 || e->started_usec > INT64_MAX ||
            e->ended_usec > INT64_MAX)
                return false;
        if (e->stage == SG_STAGE_NONE)
                return e->error == 0 && (exited || killed);
        return e->stage < _SG_STAGE_MAX && e->error > 0 && e->error <= ERRNO_MAX && failed;
}

int sg_exit_unpack(struct sg_exit *ret, const void *data, size_t size)
{
        const uint8_t *p = data;
        struct sg_exit e;
        uint32_t crc;

        if (size != SG_EXIT_SIZE || memcmp(p, SG_EXIT_MAGIC, sizeof(SG_EXIT_MAGIC)) != 0)
                return -EBADMSG;
        memcpy(&crc, p + CRC_OFFSET, sizeof(crc));
        if (crc != sg_crc32c(p, CRC_OFFSET))
                return -EBADMSG;
        memcpy(&e, p, sizeof(e));
        if (!is_possible(&e))
                return -EBADMSG;
        *ret = e;
        return 0;
}
