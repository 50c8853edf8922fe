/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/preload.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADERS_MAX 128 /* of programs; linkers make about 13 */
#define FACTS_MAX 1024  /* of what the dynamic linker is told; some 30 are usual */
#define SCRIPTS_MAX 4   /* one that is run by another; the kernel follows no more */

/* --- what a file says of itself --- */

struct source {
        sg_program_read_cb read_at;
        void *userdata;
};

static bool has(const struct source *s, void *buf, size_t size, uint64_t at)
{
        return at <= INT64_MAX - size && s->read_at(s->userdata, buf, size, at) == (ssize_t)size;
}

static bool is_for_us(const Elf64_Ehdr *e)
{
        return memcmp(e->e_ident, ELFMAG, SELFMAG) == 0 && e->e_ident[EI_CLASS] == ELFCLASS64 &&
               e->e_ident[EI_DATA] == ELFDATA2LSB && e->e_machine == EM_X86_64 &&
               (e->e_type == ET_EXEC || e->e_type == ET_DYN) &&
               e->e_phentsize == sizeof(Elf64_Phdr) && e->e_phnum <= HEADERS_MAX;
}

static enum sg_program take_loader(const struct source *s, const Elf64_Phdr *p, char *ret)
{
        char path[SG_INTERPRETER_MAX];

        if (p->p_filesz < 2 || p->p_filesz > sizeof(path) ||
            !has(s, path, p->p_filesz, p->p_offset))
                return SG_PROGRAM_OTHER;
        if (path[0] != '/' || path[p->p_filesz - 1])
                return SG_PROGRAM_OTHER;
        memcpy(ret, path, p->p_filesz);
        return SG_PROGRAM_DYNAMIC;
}

static bool header_at(const struct source *s, const Elf64_Ehdr *e, unsigned i, Elf64_Phdr *ret)
{
        return i < e->e_phnum && e->e_phoff <= INT64_MAX / 2 &&
               has(s, ret, sizeof(*ret), e->e_phoff + i * sizeof(*ret));
}

static bool find_header(const struct source *s, const Elf64_Ehdr *e, uint32_t type, Elf64_Phdr *ret)
{
        for (unsigned i = 0; header_at(s, e, i, ret); i++)
                if (ret->p_type == type)
                        return true;
        return false;
}

/* What of the file is loaded at an address; 0: nothing is. */
static uint64_t place_of(const struct source *s, const Elf64_Ehdr *e, uint64_t address)
{
        Elf64_Phdr p;

        for (unsigned i = 0; header_at(s, e, i, &p); i++)
                if (p.p_type == PT_LOAD && address >= p.p_vaddr &&
                    address - p.p_vaddr < p.p_filesz && p.p_offset <= INT64_MAX / 2)
                        return p.p_offset + (address - p.p_vaddr);
        return 0;
}

static bool fact_at(const struct source *s, const Elf64_Phdr *dynamic, unsigned i, Elf64_Dyn *ret)
{
        return i < FACTS_MAX && i < dynamic->p_filesz / sizeof(*ret) &&
               dynamic->p_offset <= INT64_MAX / 2 &&
               has(s, ret, sizeof(*ret), dynamic->p_offset + i * sizeof(*ret)) &&
               ret->d_tag != DT_NULL;
}

static bool is_sanitizer(const struct source *s, uint64_t at)
{
        static const char *const names[] = {"libasan.so", "libclang_rt.asan"};
        char name[24] = "";

        if (at > INT64_MAX / 2 || s->read_at(s->userdata, name, sizeof(name) - 1, at) <= 0)
                return false;
        for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strncmp(name, names[i], strlen(names[i])) == 0)
                        return true;
        return false;
}

/* AddressSanitizer, as gcc links it, ends the program unless it is the first library of all. */
static bool wants_to_be_first(const struct source *s, const Elf64_Ehdr *e)
{
        Elf64_Phdr dynamic;
        Elf64_Dyn d;
        uint64_t names = 0;

        if (!find_header(s, e, PT_DYNAMIC, &dynamic))
                return false;
        for (unsigned i = 0; fact_at(s, &dynamic, i, &d); i++)
                if (d.d_tag == DT_STRTAB)
                        names = place_of(s, e, d.d_un.d_ptr);
        for (unsigned i = 0; names > 0 && fact_at(s, &dynamic, i, &d); i++)
                if (d.d_tag == DT_NEEDED && d.d_un.d_val <= INT64_MAX / 4 &&
                    is_sanitizer(s, names + d.d_un.d_val))
                        return true;
        return false;
}

static enum sg_program parse_elf(const struct source *s, char *ret)
{
        Elf64_Ehdr e;
        Elf64_Phdr p;

        if (!has(s, &e, sizeof(e), 0) || !is_for_us(&e) || !find_header(s, &e, PT_INTERP, &p) ||
            wants_to_be_first(s, &e))
                return SG_PROGRAM_OTHER;
        return take_loader(s, &p, ret);
}

/* "#! /path argument\n". The last line of a file needs no newline, one that was cut off isn't
 * followed. */
static enum sg_program parse_script(const char *head, size_t size, char *ret)
{
        size_t begin = 2, n;

        while (begin < size && (head[begin] == ' ' || head[begin] == '\t'))
                begin++;
        for (n = 0; begin + n < size && !strchr(" \t\n", head[begin + n]);) /* NUL, too */
                n++;
        if (n == 0 || head[begin] != '/' || begin + n >= SG_INTERPRETER_MAX)
                return SG_PROGRAM_OTHER;
        memcpy(ret, head + begin, n);
        ret[n] = '\0';
        return SG_PROGRAM_SCRIPT;
}

enum sg_program sg_program_parse(sg_program_read_cb read_at, void *userdata,
                                 char interpreter[SG_INTERPRETER_MAX])
{
        const struct source s = {.read_at = read_at, .userdata = userdata};
        char head[SG_INTERPRETER_MAX];
        ssize_t size = read_at(userdata, head, sizeof(head), 0);

        if (size >= 2 && head[0] == '#' && head[1] == '!')
                return parse_script(head, (size_t)size, interpreter);
        return parse_elf(&s, interpreter);
}

/* --- files --- */

int sg_preload_init(struct sg_preload *ret, const char *library, const char *loader)
{
        struct stat st;

        if (stat(loader, &st) < 0)
                return -errno;
        *ret = (struct sg_preload){.library = library, .dev = st.st_dev, .ino = st.st_ino};
        return 0;
}

static ssize_t read_file_at(void *userdata, void *buf, size_t size, uint64_t at)
{
        return pread(*(const int *)userdata, buf, size, (off_t)at);
}

/* Opens regular files only: a FIFO would notice. */
static int open_program(const char *path)
{
        return open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

static enum sg_program look(int fd, char interpreter[SG_INTERPRETER_MAX])
{
        struct stat st;

        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (st.st_mode & (S_ISUID | S_ISGID)))
                return SG_PROGRAM_OTHER;
        return sg_program_parse(read_file_at, &fd, interpreter);
}

/* Whether the program is run by the same dynamic linker, whatever that is called there: a library
 * that wants a newer C library than a program has would end it. */
static bool is_taken_by(const struct sg_preload *p, const char *loader)
{
        struct stat st;

        return stat(loader, &st) == 0 && st.st_dev == p->dev && st.st_ino == p->ino &&
               access(p->library, R_OK) == 0;
}

/* Takes over fd, which may be none. */
static bool follow(const struct sg_preload *p, int fd)
{
        char interpreter[SG_INTERPRETER_MAX];
        enum sg_program program = SG_PROGRAM_SCRIPT;

        for (int n = 0; fd >= 0 && program == SG_PROGRAM_SCRIPT; n++) {
                program = n <= SCRIPTS_MAX ? look(fd, interpreter) : SG_PROGRAM_OTHER;
                (void)close(fd);
                if (program == SG_PROGRAM_SCRIPT)
                        fd = open_program(interpreter);
        }
        return program == SG_PROGRAM_DYNAMIC && is_taken_by(p, interpreter);
}

/* Programs that run others where other files are seen, and hand on their environment. */
static bool runs_elsewhere(const char *path)
{
        static const char *const names[] = {
                "apptainer",  "singularity", "bwrap",          "chroot", "enroot",
                "fakechroot", "flatpak",     "nsenter",        "proot",  "schroot",
                "snap",       "ch-run",      "systemd-nspawn",
        };
        const char *slash = strrchr(path, '/');

        for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(slash ? slash + 1 : path, names[i]) == 0)
                        return true;
        return false;
}

bool sg_preload_fits(const struct sg_preload *p, const char *path)
{
        int saved = errno;
        bool fits = !runs_elsewhere(path) && follow(p, open_program(path));

        errno = saved;
        return fits;
}

bool sg_preload_fits_fd(const struct sg_preload *p, int fd)
{
        int saved = errno;
        bool fits = follow(p, fcntl(fd, F_DUPFD_CLOEXEC, 0));

        errno = saved;
        return fits;
}

static bool is_program(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* An empty directory is the working directory. 0: that is too long for a path. */
static size_t join(char buf[PATH_MAX], const char *directory, size_t n, const char *name)
{
        size_t size = strlen(name) + 1;

        if (n + 1 + size > PATH_MAX)
                return 0;
        memcpy(buf, directory, n);
        if (n > 0)
                buf[n++] = '/';
        memcpy(buf + n, name, size);
        return n + size;
}

bool sg_preload_fits_name(const struct sg_preload *p, const char *name, const char *search)
{
        int saved = errno;
        char path[PATH_MAX];
        bool found = false;

        if (strchr(name, '/'))
                return sg_preload_fits(p, name);
        for (const char *s = search ? search : "/bin:/usr/bin", *end; s && !found; s = end) {
                end = strchrnul(s, ':');
                found = join(path, s, (size_t)(end - s), name) > 0 && is_program(path);
                end = *end ? end + 1 : NULL;
        }
        errno = saved;
        return found && sg_preload_fits(p, path);
}
