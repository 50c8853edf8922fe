/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes as a program that somebody is about to execute. */
#include "proto/preload.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
        const uint8_t *data;
        size_t size;
};

static ssize_t read_at(void *userdata, void *buf, size_t size, uint64_t at)
{
        const struct input *in = userdata;

        if (at >= in->size)
                return 0;
        if (size > in->size - at)
                size = in->size - at;
        memcpy(buf, in->data + at, size);
        return (ssize_t)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct input in = {.data = data, .size = size};
        char interpreter[SG_INTERPRETER_MAX];
        enum sg_program program;

        memset(interpreter, 'x', sizeof(interpreter));
        program = sg_program_parse(read_at, &in, interpreter);
        if (program == SG_PROGRAM_OTHER) {
                if (interpreter[0] != 'x')
                        abort(); /* untouched */
        } else if (interpreter[0] != '/' || !memchr(interpreter, '\0', sizeof(interpreter))) {
                abort();
        }
        return 0;
}
