/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shim/program-file.h"
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* ELF. x86-64 is little-endian, and on other machines the numbers don't fit. */

static bool is_program(const Elf64_Ehdr *h)
{
        return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
               h->e_ident[EI_DATA] == ELFDATA2LSB && h->e_machine == EM_X86_64 &&
               (h->e_type == ET_EXEC || h->e_type == ET_DYN);
}

int sg_elf_table(const void *head, size_t size, struct sg_elf_part *ret)
{
        Elf64_Ehdr h;
        size_t table;

        if (size < sizeof(h))
                return -ENOEXEC;
        memcpy(&h, head, sizeof(h));
        if (!is_program(&h) || h.e_phentsize != sizeof(Elf64_Phdr))
                return -ENOEXEC;
        table = h.e_phnum * sizeof(Elf64_Phdr);
        if (table == 0 || table > SG_ELF_TABLE_MAX || h.e_phoff > INT64_MAX - SG_ELF_TABLE_MAX)
                return -ENOEXEC;
        *ret = (struct sg_elf_part){.offset = h.e_phoff, .size = table};
        return 0;
}

static bool entry_at(const void *table, size_t size, size_t i, Elf64_Phdr *ret)
{
        if (i >= size / sizeof(*ret))
                return false;
        memcpy(ret, (const char *)table + i * sizeof(*ret), sizeof(*ret));
        return true;
}

/* Of that many bytes at most. */
static int find_part(const void *table, size_t size, uint32_t type, size_t most,
                     struct sg_elf_part *ret)
{
        Elf64_Phdr h;

        for (size_t i = 0; entry_at(table, size, i, &h); i++) {
                if (h.p_type != type)
                        continue;
                if (h.p_filesz == 0 || h.p_filesz > most || h.p_offset > INT64_MAX - most)
                        return -ENOEXEC;
                *ret = (struct sg_elf_part){.offset = h.p_offset, .size = (size_t)h.p_filesz};
                return 0;
        }
        return -ENOENT;
}

int sg_elf_loader(const void *table, size_t size, struct sg_elf_part *ret)
{
        return find_part(table, size, PT_INTERP, SG_ELF_LOADER_MAX, ret);
}

int sg_elf_dynamic(const void *table, size_t size, struct sg_elf_part *ret)
{
        return find_part(table, size, PT_DYNAMIC, SG_ELF_DYNAMIC_MAX, ret);
}

int sg_elf_place(const void *table, size_t size, uint64_t address, uint64_t *ret_offset)
{
        Elf64_Phdr h;

        for (size_t i = 0; entry_at(table, size, i, &h); i++) {
                uint64_t behind = address - h.p_vaddr;

                if (h.p_type != PT_LOAD || address < h.p_vaddr || behind >= h.p_filesz)
                        continue;
                if (h.p_offset > INT64_MAX || behind > INT64_MAX - h.p_offset)
                        return -ENOEXEC;
                *ret_offset = h.p_offset + behind;
                return 0;
        }
        return -ENOEXEC;
}

int sg_elf_needed(const void *dynamic, size_t size, struct sg_elf_needed *ret)
{
        struct sg_elf_needed needed = {.n = 0};
        uint64_t strings = 0;
        Elf64_Dyn d;

        for (size_t at = 0; size - at >= sizeof(d); at += sizeof(d)) {
                memcpy(&d, (const char *)dynamic + at, sizeof(d));
                if (d.d_tag == DT_NULL)
                        break;
                if (d.d_tag == DT_STRTAB)
                        strings = d.d_un.d_ptr;
                if (d.d_tag != DT_NEEDED)
                        continue;
                if (needed.n == SG_ELF_NEEDED_MAX)
                        return -ENOEXEC;
                needed.names[needed.n++] = d.d_un.d_val;
        }
        for (size_t i = 0; i < needed.n; i++)
                if (strings == 0 ||
                    __builtin_add_overflow(needed.names[i], strings, &needed.names[i]))
                        return -ENOEXEC;
        *ret = needed;
        return 0;
}

/* Scripts */

static const char blank[] = " \t";

/* As the kernel does it: the first word, and all the rest as one. */
static int take_word(const char **p, size_t n, char ret[SG_SCRIPT_WORD_MAX])
{
        if (n >= SG_SCRIPT_WORD_MAX)
                return -ENOEXEC;
        memcpy(ret, *p, n);
        ret[n] = '\0';
        *p += n;
        *p += strspn(*p, blank);
        return 0;
}

int sg_script_line(const char *head, size_t size, struct sg_script_line *ret)
{
        char text[SG_SCRIPT_WORD_MAX];
        struct sg_script_line line;
        const char *end, *p = text;
        size_t n;

        if (size < 2 || memcmp(head, "#!", 2) != 0)
                return -ENOENT;
        end = memchr(head, '\n', size);
        n = (size_t)((end ? end : head + size) - head) - 2;
        /* (older kernels read half as much) */
        if (!end || n >= SG_SCRIPT_WORD_MAX / 2 || memchr(head, '\0', n + 2))
                return -ENOEXEC;
        memcpy(text, head + 2, n);
        text[n] = '\0';
        while (n > 0 && strchr(blank, text[n - 1]))
                text[--n] = '\0';
        p += strspn(p, blank);
        if (take_word(&p, strcspn(p, blank), line.interpreter) < 0 ||
            take_word(&p, strlen(p), line.argument) < 0 || line.interpreter[0] != '/')
                return -ENOEXEC;
        *ret = line;
        return 0;
}

int sg_script_env_program(const struct sg_script_line *line, char ret[SG_SCRIPT_WORD_MAX])
{
        const char *p = line->argument;
        size_t n;

        if (strncmp(p, "-S", 2) == 0) {
                p += 2;
                p += strspn(p, blank);
                n = strcspn(p, blank);
        } else {
                n = strlen(p); /* env takes it as one word */
        }
        /* Options, variables and quotes are env's own affair. */
        if (n == 0 || *p == '-' || strcspn(p, "=\\'\"$") < n)
                return -ENOENT;
        memcpy(ret, p, n);
        ret[n] = '\0';
        return 0;
}
