/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What programs' files say, as the shim reads them: the first bytes, and what these point to. */

#include "shim/program-file.c" /* the shim has no archive */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct file {
        const uint8_t *data;
        size_t size;
};

/* A copy of its own, so that reading beyond it shows; NULL: the file doesn't have so much. */
static void *read_part(const struct file *f, const struct sg_elf_part *part)
{
        void *copy;

        assert(part->size > 0 && part->offset + part->size > part->offset);
        if (part->offset > f->size || part->size > f->size - part->offset)
                return NULL;
        copy = malloc(part->size);
        assert(copy);
        return memcpy(copy, f->data + part->offset, part->size);
}

static void look_at_libraries(const struct file *f, const void *table, size_t size)
{
        struct sg_elf_needed needed;
        struct sg_elf_part part;
        void *dynamic;

        if (sg_elf_dynamic(table, size, &part) < 0)
                return;
        assert(part.size <= SG_ELF_DYNAMIC_MAX);
        dynamic = read_part(f, &part);
        if (dynamic && sg_elf_needed(dynamic, part.size, &needed) == 0) {
                assert(needed.n <= SG_ELF_NEEDED_MAX);
                for (size_t i = 0; i < needed.n; i++) {
                        uint64_t at;

                        if (sg_elf_place(table, size, needed.names[i], &at) == 0)
                                assert(at <= INT64_MAX);
                }
        }
        free(dynamic);
}

static void look_at_program(const struct file *f, size_t head)
{
        struct sg_elf_part part;
        size_t size;
        void *table;

        if (sg_elf_table(f->data, head, &part) < 0)
                return;
        assert(part.size <= SG_ELF_TABLE_MAX);
        size = part.size;
        table = read_part(f, &part);
        if (!table)
                return;
        if (sg_elf_loader(table, size, &part) == 0) {
                assert(part.size <= SG_ELF_LOADER_MAX);
                free(read_part(f, &part));
        }
        look_at_libraries(f, table, size);
        free(table);
}

static void look_at_script(const struct file *f, size_t head)
{
        struct sg_script_line line;
        char program[SG_SCRIPT_WORD_MAX];

        if (sg_script_line((const char *)f->data, head, &line) < 0)
                return;
        assert(line.interpreter[0] == '/' && !strpbrk(line.interpreter, " \t\n"));
        if (sg_script_env_program(&line, program) == 0)
                assert(*program && strstr(line.argument, program));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const struct file f = {data, size};
        size_t head = size < SG_PROGRAM_HEAD ? size : SG_PROGRAM_HEAD;

        look_at_program(&f, head);
        look_at_script(&f, head);
        return 0;
}
