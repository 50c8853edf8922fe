/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * What a program's file says of how the kernel runs it: which dynamic loader it wants, or which
 * interpreter. Only as much is understood as it takes to be sure; nothing here reads a file.
 */

#include <stddef.h>
#include <stdint.h>

#define SG_PROGRAM_HEAD 512     /* so much of the beginning is enough */
#define SG_ELF_TABLE_MAX 4096   /* of program headers; linkers make a dozen, of 56 bytes */
#define SG_ELF_LOADER_MAX 256   /* of the loader's path, with the NUL */
#define SG_ELF_DYNAMIC_MAX 4096 /* of two numbers for each fact */
#define SG_ELF_NEEDED_MAX 128

/* A part of the file; size > 0, and offset + size is no overflow. */
struct sg_elf_part {
        uint64_t offset;
        size_t size;
};

/* Of its beginning: where its program headers are. -ENOEXEC: it is no program of 64 bits for x86-64
 * that has some, or they are more than that many bytes. */
int sg_elf_table(const void *head, size_t size, struct sg_elf_part *ret);
/* Of these: where the path of its loader is. -ENOENT: it has none, it is static; -ENOEXEC: that
 * can't be. */
int sg_elf_loader(const void *table, size_t size, struct sg_elf_part *ret);
/* … and where it says what libraries it needs: -ENOENT, -ENOEXEC likewise. */
int sg_elf_dynamic(const void *table, size_t size, struct sg_elf_part *ret);
/* … and what of the file is at an address. -ENOEXEC: nothing is. */
int sg_elf_place(const void *table, size_t size, uint64_t address, uint64_t *ret_offset);

/* Addresses of their names. */
struct sg_elf_needed {
        uint64_t names[SG_ELF_NEEDED_MAX];
        size_t n;
};
/* -ENOEXEC: more than that, or it can't be. */
int sg_elf_needed(const void *dynamic, size_t size, struct sg_elf_needed *ret);

#define SG_SCRIPT_WORD_MAX 256 /* as the kernel's, with the NUL */

/* "#!INTERPRETER [ARGUMENT]" */
struct sg_script_line {
        char interpreter[SG_SCRIPT_WORD_MAX], argument[SG_SCRIPT_WORD_MAX];
};

/* -ENOENT: it doesn't begin so; -ENOEXEC: so long a line may be cut, or the interpreter's path is
 * relative. */
int sg_script_line(const char *head, size_t size, struct sg_script_line *ret);
/* Of `env`: the program that it is asked for, in the line "X", "-S X …". -ENOENT: it isn't said so
 * simply. */
int sg_script_env_program(const struct sg_script_line *line, char ret[SG_SCRIPT_WORD_MAX]);
