/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shim/preload.h"
#include "base/cleanup.h"
#include "shim/program-file.h"
#include "shim/program.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LOADER "/lib64/ld-linux-x86-64.so.2"
#define ENV "env"
#define VARIABLE "LD_PRELOAD="
#define SCRIPTS_MAX 2 /* one may be the interpreter of another */

/* What they run sees other files than we do. Of those that take their environment along. */
static const char *const elsewhere[] = {
        "apptainer", "singularity", "bwrap",   "chroot", "enroot", "fakechroot",     "flatpak",
        "nsenter",   "proot",       "schroot", "snap",   "ch-run", "systemd-nspawn",
};

static const char *name_of(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? slash + 1 : path;
}

static bool runs_elsewhere(const char *path)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(elsewhere); i++)
                if (strcmp(name_of(path), elsewhere[i]) == 0)
                        return true;
        return false;
}

/* With more rights than its caller's it would be told nothing. */
static bool is_ordinary(int fd)
{
        struct stat st;

        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_mode & (S_ISUID | S_ISGID))
                return false;
        return fgetxattr(fd, "security.capability", NULL, 0) < 0 &&
               (errno == ENODATA || errno == ENOTSUP);
}

static bool is_same_file(const char *a, const char *b)
{
        struct stat x, y;

        return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool read_part(int fd, const struct sg_elf_part *part, void *buf)
{
        return pread(fd, buf, part->size, (off_t)part->offset) == (ssize_t)part->size;
}

struct program {
        int fd;
        char table[SG_ELF_TABLE_MAX];
        size_t size;
};

/* Another C library's, or another version's of this one, may not take it. */
static bool has_our_loader(const struct program *p)
{
        char path[SG_ELF_LOADER_MAX];
        struct sg_elf_part part;

        return sg_elf_loader(p->table, p->size, &part) == 0 && read_part(p->fd, &part, path) &&
               path[part.size - 1] == '\0' && is_same_file(path, LOADER);
}

/* AddressSanitizer, as gcc links it, ends the program unless it is the first library of all. */
static bool is_sanitizer(const struct program *p, uint64_t address)
{
        static const char *const names[] = {"libasan.so", "libclang_rt.asan"};
        char name[32] = "";
        uint64_t at;

        if (sg_elf_place(p->table, p->size, address, &at) < 0 ||
            pread(p->fd, name, sizeof(name) - 1, (off_t)at) <= 0)
                return true;
        for (size_t i = 0; i < SG_ELEMENTSOF(names); i++)
                if (strncmp(name, names[i], strlen(names[i])) == 0)
                        return true;
        return false;
}

static bool wants_to_be_first(const struct program *p)
{
        char dynamic[SG_ELF_DYNAMIC_MAX];
        struct sg_elf_needed needed;
        struct sg_elf_part part;

        if (sg_elf_dynamic(p->table, p->size, &part) < 0 || !read_part(p->fd, &part, dynamic) ||
            sg_elf_needed(dynamic, part.size, &needed) < 0)
                return true;
        for (size_t i = 0; i < needed.n; i++)
                if (is_sanitizer(p, needed.names[i]))
                        return true;
        return false;
}

static bool is_dynamic(int fd, const char *head, size_t size)
{
        struct program p = {.fd = fd};
        struct sg_elf_part part;

        if (sg_elf_table(head, size, &part) < 0 || !read_part(fd, &part, p.table))
                return false;
        p.size = part.size;
        return has_our_loader(&p) && !wants_to_be_first(&p);
}

static bool takes_it(const char *path, char *const *env, unsigned scripts);

static bool interpreter_takes_it(const struct sg_script_line *line, char *const *env,
                                 unsigned scripts)
{
        char name[SG_SCRIPT_WORD_MAX], path[PATH_MAX];

        if (scripts == 0 || !takes_it(line->interpreter, env, scripts - 1))
                return false;
        if (strcmp(name_of(line->interpreter), ENV) != 0)
                return true;
        return sg_script_env_program(line, name) == 0 && sg_program_find(name, env, path) == 0 &&
               takes_it(path, env, scripts - 1);
}

/* A script without its #! line; but what has a NUL in it may be for an interpreter of its own
 * (binfmt_misc). */
static bool is_for_shell(const char *head, size_t size)
{
        return !memchr(head, '\0', size);
}

static bool takes_it(const char *path, char *const *env, unsigned scripts)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct sg_script_line line;
        char head[SG_PROGRAM_HEAD];
        ssize_t size;
        int r;

        if (fd < 0 || runs_elsewhere(path) || !is_ordinary(fd))
                return false;
        size = pread(fd, head, sizeof(head), 0);
        if (size <= 0)
                return false;
        r = sg_script_line(head, (size_t)size, &line);
        if (r != -ENOENT)
                return r == 0 && interpreter_takes_it(&line, env, scripts);
        if (is_for_shell(head, (size_t)size))
                return scripts > 0 && takes_it(SG_PROGRAM_SHELL, env, scripts - 1);
        return is_dynamic(fd, head, (size_t)size);
}

/* Who is to load it finds it, may read it, and may run what is in it; and its name can be said. */
static bool is_loadable(const char *library)
{
        struct statvfs fs;

        return library[0] == '/' && !strpbrk(library, ": \t\n$") && access(library, R_OK) == 0 &&
               statvfs(library, &fs) == 0 && !(fs.f_flag & ST_NOEXEC);
}

static bool is_named(const char *list, const char *library)
{
        const char *name = name_of(library);
        size_t n = strlen(name);

        for (const char *p = strstr(list, name); p; p = strstr(p + 1, name))
                if ((p == list || strchr("/: ", p[-1])) && strchr(": ", p[n]))
                        return true;
        return false;
}

/* "LD_PRELOAD=" with what is there already, which stays in front. NULL: not to be changed. */
static char *assignment_with(const char *list, const char *library)
{
        size_t size = sizeof(VARIABLE) + strlen(list) + strlen(library) + 1;
        char *s;

        if (is_named(list, library))
                return NULL;
        s = malloc(size);
        if (s)
                (void)snprintf(s, size, VARIABLE "%s%s%s", list, *list ? ":" : "", library);
        return s;
}

static void put(char ***env, char *assignment)
{
        char *const force[] = {assignment, NULL};
        char **with;

        if (!assignment || sg_program_env(*env, force, NULL, &with) < 0)
                return;
        free(*env);
        *env = with;
}

void sg_preload_add(char ***env, char *const *argv, int script)
{
        const char *library = sg_program_getenv(*env, "SCHEDGOV_PRELOAD");
        const char *list = sg_program_getenv(*env, "LD_PRELOAD");
        char path[PATH_MAX];

        if (!library || !is_loadable(library))
                return;
        if (script >= 0)
                (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", script);
        else if (sg_program_find(argv[0], *env, path) < 0)
                return;
        if (takes_it(path, *env, SCRIPTS_MAX))
                put(env, assignment_with(list ? list : "", library));
}
