/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shim/program-file.c" /* the shim has no archive */
#include "tests/unit/test.h"
#include <elf.h>
#include <errno.h>

/* --- programs */

static const Elf64_Ehdr program = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_DYN,
        .e_machine = EM_X86_64,
        .e_phoff = 64,
        .e_phentsize = sizeof(Elf64_Phdr),
        .e_phnum = 13,
};

static void expect_table(const Elf64_Ehdr *h, int result)
{
        struct sg_elf_part part = {.offset = 7};

        assert_int_equal(sg_elf_table(h, sizeof(*h), &part), result);
        if (result < 0)
                assert_int_equal(part.offset, 7);
        for (size_t n = 0; n < sizeof(*h); n++)
                assert_int_equal(sg_elf_table(h, n, &part), -ENOEXEC);
}

static void test_table(void **state)
{
        struct sg_elf_part part;
        Elf64_Ehdr h = program;

        (void)state;
        assert_int_equal(sg_elf_table(&h, sizeof(h), &part), 0);
        assert_int_equal(part.offset, 64);
        assert_int_equal(part.size, 13 * 56);
        h.e_type = ET_EXEC;
        expect_table(&h, 0);
}

#define REFUSED(field, value)                                                                      \
        do {                                                                                       \
                Elf64_Ehdr h = program;                                                            \
                h.field = value;                                                                   \
                expect_table(&h, -ENOEXEC);                                                        \
        } while (0)

static void test_other_tables(void **state)
{
        (void)state;
        REFUSED(e_ident[1], 'e');
        REFUSED(e_ident[EI_CLASS], ELFCLASS32);
        REFUSED(e_ident[EI_DATA], ELFDATA2MSB);
        REFUSED(e_machine, EM_AARCH64);
        REFUSED(e_type, ET_CORE);
        REFUSED(e_phentsize, 32);
        REFUSED(e_phnum, 0);
        REFUSED(e_phnum, SG_ELF_TABLE_MAX / 56 + 1);
        REFUSED(e_phnum, PN_XNUM);
        REFUSED(e_phoff, UINT64_MAX);
        REFUSED(e_phoff, INT64_MAX);
}

static void test_parts(void **state)
{
        Elf64_Phdr table[] = {
                {.p_type = PT_PHDR, .p_offset = 64, .p_filesz = 728},
                {.p_type = PT_INTERP, .p_offset = 0x318, .p_filesz = 28},
                {.p_type = PT_DYNAMIC, .p_offset = 0x2dd0, .p_filesz = 0x200},
        };
        struct sg_elf_part part;

        (void)state;
        assert_int_equal(sg_elf_loader(table, sizeof(table), &part), 0);
        assert_int_equal(part.offset, 0x318);
        assert_int_equal(part.size, 28);
        assert_int_equal(sg_elf_dynamic(table, sizeof(table), &part), 0);
        assert_int_equal(part.offset, 0x2dd0);
        assert_int_equal(part.size, 0x200);
        /* static, or cut off */
        assert_int_equal(sg_elf_loader(table, sizeof(table[0]), &part), -ENOENT);
        assert_int_equal(sg_elf_loader(table, 2 * sizeof(table[0]) - 1, &part), -ENOENT);
        assert_int_equal(sg_elf_loader(table, 0, &part), -ENOENT);
        table[1].p_filesz = 0;
        assert_int_equal(sg_elf_loader(table, sizeof(table), &part), -ENOEXEC);
        table[1].p_filesz = SG_ELF_LOADER_MAX + 1;
        assert_int_equal(sg_elf_loader(table, sizeof(table), &part), -ENOEXEC);
        table[1].p_filesz = 28;
        table[1].p_offset = UINT64_MAX;
        assert_int_equal(sg_elf_loader(table, sizeof(table), &part), -ENOEXEC);
        table[2].p_filesz = SG_ELF_DYNAMIC_MAX + 1;
        assert_int_equal(sg_elf_dynamic(table, sizeof(table), &part), -ENOEXEC);
}

static void test_place(void **state)
{
        static const Elf64_Phdr table[] = {
                {.p_type = PT_LOAD, .p_offset = 0, .p_vaddr = 0x400000, .p_filesz = 0x1000},
                {.p_type = PT_NOTE, .p_offset = 9, .p_vaddr = 0x500000, .p_filesz = 0x1000},
                {.p_type = PT_LOAD, .p_offset = 0x3000, .p_vaddr = 0x600000, .p_filesz = 0x10},
                {.p_type = PT_LOAD, .p_offset = INT64_MAX, .p_vaddr = 0x700000, .p_filesz = 0x10},
        };
        uint64_t at = 0;

        (void)state;
        assert_int_equal(sg_elf_place(table, sizeof(table), 0x400123, &at), 0);
        assert_int_equal(at, 0x123);
        assert_int_equal(sg_elf_place(table, sizeof(table), 0x60000f, &at), 0);
        assert_int_equal(at, 0x300f);
        assert_int_equal(sg_elf_place(table, sizeof(table), 0x600010, &at), -ENOEXEC);
        assert_int_equal(sg_elf_place(table, sizeof(table), 0x3fffff, &at), -ENOEXEC);
        assert_int_equal(sg_elf_place(table, sizeof(table), 0x500000, &at), -ENOEXEC);
        assert_int_equal(sg_elf_place(table, sizeof(table), 0x700001, &at), -ENOEXEC);
}

static void test_needed(void **state)
{
        Elf64_Dyn many[SG_ELF_NEEDED_MAX + 2] = {{.d_tag = DT_STRTAB, .d_un.d_ptr = 1000}};
        Elf64_Dyn d[] = {
                {.d_tag = DT_NEEDED, .d_un.d_val = 3},  {.d_tag = DT_STRTAB, .d_un.d_ptr = 1000},
                {.d_tag = DT_NEEDED, .d_un.d_val = 30}, {.d_tag = DT_NULL},
                {.d_tag = DT_NEEDED, .d_un.d_val = 99},
        };
        struct sg_elf_needed needed;

        (void)state;
        assert_int_equal(sg_elf_needed(d, sizeof(d), &needed), 0);
        assert_int_equal(needed.n, 2);
        assert_int_equal(needed.names[0], 1003);
        assert_int_equal(needed.names[1], 1030);
        assert_int_equal(sg_elf_needed(d, 0, &needed), 0);
        assert_int_equal(needed.n, 0);
        assert_int_equal(sg_elf_needed(d, sizeof(d[0]), &needed), -ENOEXEC); /* no names */
        d[0].d_un.d_val = UINT64_MAX;
        assert_int_equal(sg_elf_needed(d, sizeof(d), &needed), -ENOEXEC);
        for (size_t i = 1; i < SG_ELEMENTSOF(many); i++)
                many[i].d_tag = DT_NEEDED;
        assert_int_equal(sg_elf_needed(many, sizeof(many), &needed), -ENOEXEC);
        assert_int_equal(sg_elf_needed(many, sizeof(many) - sizeof(many[0]), &needed), 0);
        assert_int_equal(needed.n, SG_ELF_NEEDED_MAX);
}

/* --- scripts */

static void test_line(void **state)
{
        static const struct {
                const char *head, *interpreter, *argument;
                int result;
        } cases[] = {
                {"#!/bin/sh\necho", "/bin/sh", "", 0},
                {"#! \t/usr/bin/env \t python3 -u \t\nx", "/usr/bin/env", "python3 -u", 0},
                {"#!/bin/sh -e\n", "/bin/sh", "-e", 0},
                {"echo\n#!/bin/sh\n", NULL, NULL, -ENOENT},
                {"#", NULL, NULL, -ENOENT},
                {"", NULL, NULL, -ENOENT},
                {"#!", NULL, NULL, -ENOEXEC},
                {"#!\n", NULL, NULL, -ENOEXEC},
                {"#!  \n", NULL, NULL, -ENOEXEC},
                {"#!/bin/sh", NULL, NULL, -ENOEXEC}, /* there may be more of it */
                {"#!sh\n", NULL, NULL, -ENOEXEC},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                struct sg_script_line line;

                if (sg_script_line(cases[i].head, strlen(cases[i].head), &line) != cases[i].result)
                        fail_msg("'%s'", cases[i].head);
                if (cases[i].result < 0)
                        continue;
                assert_string_equal(line.interpreter, cases[i].interpreter);
                assert_string_equal(line.argument, cases[i].argument);
        }
}

static void test_line_limits(void **state)
{
        struct sg_script_line line;
        char text[SG_PROGRAM_HEAD];

        (void)state;
        memset(text, 'x', sizeof(text));
        memcpy(text, "#!/", 3);
        assert_int_equal(sg_script_line(text, sizeof(text), &line), -ENOEXEC);
        text[130] = '\n';
        assert_int_equal(sg_script_line(text, sizeof(text), &line), -ENOEXEC);
        text[129] = '\n';
        assert_int_equal(sg_script_line(text, sizeof(text), &line), 0);
        assert_int_equal(strlen(line.interpreter), 127);
        text[50] = '\0';
        assert_int_equal(sg_script_line(text, sizeof(text), &line), -ENOEXEC);
}

static void test_env(void **state)
{
        static const struct {
                const char *argument, *program;
        } cases[] = {
                {"python3", "python3"},
                {"/opt/my python", "/opt/my python"},
                {"-S python3 -u", "python3"},
                {"-Spython3 -u", "python3"},
                {"", NULL},
                {"-S", NULL},
                {"-i python3", NULL},
                {"-S -i python3", NULL},
                {"-S A=1 python3", NULL},
                {"-S 'python3'", NULL},
                {"-S ${X}/python3", NULL},
                {"A=1", NULL},
        };

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(cases); i++) {
                struct sg_script_line line = {.interpreter = "/usr/bin/env"};
                char got[SG_SCRIPT_WORD_MAX];
                int r;

                strcpy(line.argument, cases[i].argument);
                r = sg_script_env_program(&line, got);
                if (r != (cases[i].program ? 0 : -ENOENT))
                        fail_msg("'%s': %d", cases[i].argument, r);
                if (r == 0)
                        assert_string_equal(got, cases[i].program);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_table),       cmocka_unit_test(test_other_tables),
                cmocka_unit_test(test_parts),       cmocka_unit_test(test_place),
                cmocka_unit_test(test_needed),      cmocka_unit_test(test_line),
                cmocka_unit_test(test_line_limits), cmocka_unit_test(test_env),
        };

        return cmocka_run_group_tests_name("program file", tests, NULL, NULL);
}
