/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/file.h"
#include "proto/preload.h"
#include "tests/unit/test.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define SMALLEST 2 /* headers */

/* A program as short as can be: its header, two of its segments, the name of its linker. */
struct program {
        Elf64_Ehdr e;
        Elf64_Phdr p[SMALLEST];
        char loader[sizeof(SG_LOADER)];
};

static struct program a_program(void)
{
        return (struct program){
                .e = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
                      .e_type = ET_DYN,
                      .e_machine = EM_X86_64,
                      .e_phoff = offsetof(struct program, p),
                      .e_phentsize = sizeof(Elf64_Phdr),
                      .e_phnum = SMALLEST},
                .p = {{.p_type = PT_PHDR},
                      {.p_type = PT_INTERP,
                       .p_offset = offsetof(struct program, loader),
                       .p_filesz = sizeof(SG_LOADER)}},
                .loader = SG_LOADER,
        };
}

struct text {
        const void *data;
        size_t size;
};

static ssize_t read_at(void *userdata, void *buf, size_t size, uint64_t at)
{
        const struct text *t = userdata;

        if (at >= t->size)
                return 0;
        if (size > t->size - at)
                size = t->size - at;
        memcpy(buf, (const char *)t->data + at, size);
        return (ssize_t)size;
}

static enum sg_program parse(const void *data, size_t size, char *ret)
{
        struct text t = {.data = data, .size = size};

        return sg_program_parse(read_at, &t, ret);
}

static enum sg_program kind_of(struct program p)
{
        char interpreter[SG_INTERPRETER_MAX] = "untouched";
        enum sg_program kind = parse(&p, sizeof(p), interpreter);

        assert_string_equal(interpreter, kind == SG_PROGRAM_DYNAMIC ? SG_LOADER : "untouched");
        return kind;
}

static void test_programs(void **state)
{
        struct program p = a_program();

        (void)state;
        assert_int_equal(kind_of(p), SG_PROGRAM_DYNAMIC);
        p.e.e_type = ET_EXEC;
        assert_int_equal(kind_of(p), SG_PROGRAM_DYNAMIC);
        p.p[1].p_type = PT_LOAD; /* static */
        assert_int_equal(kind_of(p), SG_PROGRAM_OTHER);
}

#define OTHERS(change)                                                                             \
        do {                                                                                       \
                struct program p = a_program();                                                    \
                change;                                                                            \
                assert_int_equal(kind_of(p), SG_PROGRAM_OTHER);                                    \
        } while (0)

static void test_other_machines_and_damage(void **state)
{
        (void)state;
        OTHERS(p.e.e_ident[EI_MAG1] = 'e');
        OTHERS(p.e.e_ident[EI_CLASS] = ELFCLASS32);
        OTHERS(p.e.e_ident[EI_DATA] = ELFDATA2MSB);
        OTHERS(p.e.e_machine = EM_AARCH64);
        OTHERS(p.e.e_type = ET_REL);
        OTHERS(p.e.e_phentsize = sizeof(Elf32_Phdr));
        OTHERS(p.e.e_phnum = 1);
        OTHERS(p.e.e_phnum = UINT16_MAX);
        OTHERS(p.e.e_phoff = UINT64_MAX - 8);
        OTHERS(p.e.e_phoff = INT64_MAX);
        OTHERS(p.p[1].p_offset = UINT64_MAX);
        OTHERS(p.p[1].p_filesz = 1);
        OTHERS(p.p[1].p_filesz = SG_INTERPRETER_MAX + 1);
        OTHERS(p.p[1].p_filesz = UINT64_MAX);
        OTHERS(p.p[1].p_filesz--); /* no NUL at its end */
        OTHERS(p.loader[0] = 'l');
}

static void test_cut_off(void **state)
{
        struct program p = a_program();
        char interpreter[SG_INTERPRETER_MAX];

        (void)state;
        for (size_t n = 0; n < offsetof(struct program, loader) + sizeof(SG_LOADER); n++)
                assert_int_equal(parse(&p, n, interpreter), SG_PROGRAM_OTHER);
}

/* A program that needs a library: after its header the facts, and their names. */
struct needy {
        struct program program;
        Elf64_Phdr p[4];
        Elf64_Dyn d[4];
        char names[64];
};

static struct needy a_needy(const char *library)
{
        struct needy n = {
                .program = a_program(),
                .p = {{.p_type = PT_LOAD, .p_vaddr = 0x10000, .p_filesz = 8},
                      {.p_type = PT_LOAD, .p_vaddr = 0x400000, .p_filesz = sizeof(struct needy)},
                      {.p_type = PT_INTERP,
                       .p_offset = offsetof(struct program, loader),
                       .p_filesz = sizeof(SG_LOADER)},
                      {.p_type = PT_DYNAMIC,
                       .p_offset = offsetof(struct needy, d),
                       .p_filesz = sizeof(n.d)}},
                .d = {{.d_tag = DT_NEEDED, .d_un.d_val = 1},
                      {.d_tag = DT_NEEDED, .d_un.d_val = 20},
                      {.d_tag = DT_STRTAB, .d_un.d_ptr = 0x400000 + offsetof(struct needy, names)}},
        };

        n.program.e.e_phoff = offsetof(struct needy, p);
        n.program.e.e_phnum = 4;
        strcpy(n.names + 1, "libm.so.6");
        strcpy(n.names + 20, library);
        return n;
}

static enum sg_program kind_of_needy(struct needy n)
{
        char interpreter[SG_INTERPRETER_MAX];

        return parse(&n, sizeof(n), interpreter);
}

/* AddressSanitizer ends a program in which it isn't the first. */
static void test_sanitized(void **state)
{
        struct needy n = a_needy("libasan.so.8");

        (void)state;
        assert_int_equal(kind_of_needy(a_needy("libgomp.so.1")), SG_PROGRAM_DYNAMIC);
        assert_int_equal(kind_of_needy(a_needy("libasan.so.8")), SG_PROGRAM_OTHER);
        assert_int_equal(kind_of_needy(a_needy("libclang_rt.asan.so")), SG_PROGRAM_OTHER);
        assert_int_equal(kind_of_needy(a_needy("libasanx.so")), SG_PROGRAM_DYNAMIC);
        n.d[1].d_tag = DT_NULL; /* what is behind it isn't meant */
        assert_int_equal(kind_of_needy(n), SG_PROGRAM_DYNAMIC);
        n = a_needy("libasan.so.8");
        n.d[1].d_un.d_val = UINT64_MAX;
        assert_int_equal(kind_of_needy(n), SG_PROGRAM_DYNAMIC);
        n = a_needy("libasan.so.8");
        n.p[1].p_offset = UINT64_MAX; /* no names: nothing is known of it */
        assert_int_equal(kind_of_needy(n), SG_PROGRAM_DYNAMIC);
}

static const char *script(const char *text, size_t size)
{
        static char interpreter[SG_INTERPRETER_MAX];

        return parse(text, size, interpreter) == SG_PROGRAM_SCRIPT ? interpreter : "";
}

static void test_scripts(void **state)
{
        static const struct {
                const char *text, *interpreter;
        } table[] = {
                {"#!/bin/sh\n", "/bin/sh"},
                {"#!/bin/sh", "/bin/sh"},
                {"#! \t/usr/bin/env python3\nprint()\n", "/usr/bin/env"},
                {"#!/bin/sh\t-e\n", "/bin/sh"},
                {"#!\n/bin/sh\n", ""},
                {"#!", ""},
                {"#!   ", ""},
                {"#!sh\n", ""},
                {"# !/bin/sh\n", ""},
                {"echo\n", ""},
        };
        char longer[SG_INTERPRETER_MAX + 2];

        (void)state;
        for (size_t i = 0; i < SG_ELEMENTSOF(table); i++)
                assert_string_equal(script(table[i].text, strlen(table[i].text)),
                                    table[i].interpreter);
        memset(longer, '/', sizeof(longer));
        memcpy(longer, "#!", 2);
        longer[SG_INTERPRETER_MAX] = '\n';
        assert_string_equal(script(longer, sizeof(longer)), "");
        longer[SG_INTERPRETER_MAX - 1] = '\n';
        assert_int_equal(strlen(script(longer, sizeof(longer))), SG_INTERPRETER_MAX - 3);
}

/* --- files --- */

struct fixture {
        char dir[32], path[PATH_MAX], loader[PATH_MAX];
        struct sg_preload preload;
};

static void put(struct fixture *f, const char *name, const void *data, size_t size, mode_t mode)
{
        assert_int_equal(sg_path_join(f->path, sizeof(f->path), f->dir, name), 0);
        assert_int_equal(sg_replace_file(AT_FDCWD, f->path, data, size, mode), 0);
        assert_return_code(chmod(f->path, mode), errno);
}

/* With a linker of its own, so that it doesn't matter what the machine has. */
static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        *state = f;
        strcpy(f->dir, "/tmp/sg-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        put(f, "ld", "", 0, 0755);
        strcpy(f->loader, f->path);
        assert_int_equal(sg_preload_init(&f->preload, "/proc/self/exe", f->loader), 0);
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        free(f);
        return 0;
}

static void put_program(struct fixture *f, const char *name, mode_t mode)
{
        struct program p = a_program();

        assert_true(strlen(f->loader) < sizeof(p.loader));
        memset(p.loader, 0, sizeof(p.loader));
        strcpy(p.loader, f->loader);
        put(f, name, &p, sizeof(p), mode);
}

static void put_script(struct fixture *f, const char *name, const char *interpreter)
{
        char text[PATH_MAX + 16], path[PATH_MAX];

        assert_int_equal(sg_path_join(path, sizeof(path), f->dir, interpreter), 0);
        assert_true(snprintf(text, sizeof(text), "#!%s\n", path) > 0);
        put(f, name, text, strlen(text), 0755);
}

static void test_fits(void **state)
{
        struct fixture *f = *state;
        struct sg_preload other = f->preload;

        put_program(f, "program", 0755);
        errno = 77;
        assert_true(sg_preload_fits(&f->preload, f->path));
        other.ino++;
        assert_false(sg_preload_fits(&other, f->path));
        other = f->preload;
        other.library = "/nowhere/lib.so";
        assert_false(sg_preload_fits(&other, f->path));
        assert_false(sg_preload_fits(&f->preload, "/nowhere"));
        assert_false(sg_preload_fits(&f->preload, f->dir));
        assert_false(sg_preload_fits(&f->preload, "/dev/null"));
        assert_int_equal(errno, 77);
        assert_int_equal(sg_preload_init(&other, "/lib.so", "/nowhere"), -ENOENT);
}

static void test_linkers_other_name(void **state)
{
        struct fixture *f = *state;
        char link[PATH_MAX];

        assert_int_equal(sg_path_join(link, sizeof(link), f->dir, "ld.so"), 0);
        assert_return_code(symlink(f->loader, link), errno);
        strcpy(f->loader, link);
        put_program(f, "program", 0755);
        assert_true(sg_preload_fits(&f->preload, f->path));
}

static void test_privileged(void **state)
{
        struct fixture *f = *state;

        put_program(f, "program", 04755);
        assert_false(sg_preload_fits(&f->preload, f->path));
        put_program(f, "program", 02755);
        assert_false(sg_preload_fits(&f->preload, f->path));
}

static void test_scripts_are_followed(void **state)
{
        struct fixture *f = *state;

        put_program(f, "program", 0755);
        put_script(f, "1", "program");
        assert_true(sg_preload_fits(&f->preload, f->path));
        put_script(f, "2", "1");
        put_script(f, "3", "2");
        put_script(f, "4", "3");
        assert_true(sg_preload_fits(&f->preload, f->path));
        put_script(f, "5", "4");
        assert_false(sg_preload_fits(&f->preload, f->path));
        put_script(f, "own", "own");
        assert_false(sg_preload_fits(&f->preload, f->path));
        put_script(f, "lost", "nowhere");
        assert_false(sg_preload_fits(&f->preload, f->path));
}

static void test_descriptor_stays(void **state)
{
        struct fixture *f = *state;
        char c;

        put_program(f, "program", 0755);
        _cleanup_close_ int fd = open(f->path, O_RDONLY | O_CLOEXEC);
        assert_true(sg_preload_fits_fd(&f->preload, fd));
        assert_int_equal(read(fd, &c, 1), 1); /* from where it was */
        assert_int_equal(c, ELFMAG0);
        assert_false(sg_preload_fits_fd(&f->preload, -1));
}

/* The first that can be executed, which needn't be the one that fits. */
static void test_search(void **state)
{
        struct fixture *f = *state;
        char search[PATH_MAX + 32], old[PATH_MAX];

        put_program(f, "sg-program", 0755);
        (void)snprintf(search, sizeof(search), "/nowhere:%s", f->dir);
        assert_true(sg_preload_fits_name(&f->preload, "sg-program", search));
        assert_true(sg_preload_fits_name(&f->preload, f->path, "/nowhere"));
        assert_false(sg_preload_fits_name(&f->preload, "sg-program", "/nowhere"));
        assert_false(sg_preload_fits_name(&f->preload, "sg-program", NULL));
        assert_non_null(getcwd(old, sizeof(old)));
        assert_return_code(chdir(f->dir), errno);
        assert_true(sg_preload_fits_name(&f->preload, "sg-program", "/nowhere:"));
        assert_return_code(chdir(old), errno);

        assert_int_equal(sg_path_join(f->path, sizeof(f->path), f->dir, "first"), 0);
        assert_return_code(mkdir(f->path, 0755), errno);
        put(f, "first/sg-program", "#!/nowhere\n", 11, 0644);
        (void)snprintf(search, sizeof(search), "%s/first:%s", f->dir, f->dir);
        assert_true(sg_preload_fits_name(&f->preload, "sg-program", search));
        assert_return_code(chmod(f->path, 0755), errno);
        assert_false(sg_preload_fits_name(&f->preload, "sg-program", search));
}

#define FILES(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_programs),
                cmocka_unit_test(test_other_machines_and_damage),
                cmocka_unit_test(test_cut_off),
                cmocka_unit_test(test_sanitized),
                cmocka_unit_test(test_scripts),
                FILES(test_fits),
                FILES(test_linkers_other_name),
                FILES(test_privileged),
                FILES(test_scripts_are_followed),
                FILES(test_descriptor_stays),
                FILES(test_search),
        };

        return cmocka_run_group_tests_name("preload", tests, NULL, NULL);
}
