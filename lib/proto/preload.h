/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Whether a program can be begun with a library of ours in LD_PRELOAD. The dynamic linker writes a
 * line to stderr, or gives up, where it can't take it: in a program of another architecture or with
 * another C library, or in a root that doesn't have the file.
 *
 * All of this may be called between vfork(2) and execve(2), and in signal handlers: nothing is
 * allocated or locked, errno is left alone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SG_LOADER "/lib64/ld-linux-x86-64.so.2" /* glibc's, as the ABI has it */
#define SG_INTERPRETER_MAX 256                  /* the kernel reads no more of a script either */

enum sg_program {
        SG_PROGRAM_OTHER,   /* static, 32-bit, for another machine; wants another library to be the
                             * first; or no program at all */
        SG_PROGRAM_DYNAMIC, /* for x86-64; its dynamic linker is the interpreter */
        SG_PROGRAM_SCRIPT,  /* the interpreter is what its first line says */
};

/* As pread(2), of the file that is looked at; less than `size` is its end, or an error. */
typedef ssize_t (*sg_program_read_cb)(void *userdata, void *buf, size_t size, uint64_t at);

/* What a file is, by what it says of itself; a string with a slash in front, unless it is
 * SG_PROGRAM_OTHER. Pure. */
enum sg_program sg_program_parse(sg_program_read_cb read_at, void *userdata,
                                 char interpreter[SG_INTERPRETER_MAX]);

struct sg_preload {
        const char *library; /* an absolute path; the caller's */
        dev_t dev;           /* the dynamic linker for whose C library it is made */
        ino_t ino;
};

/* -errno: there is no such dynamic linker here. */
int sg_preload_init(struct sg_preload *ret, const char *library, const char *loader);

/* Programs that run others in another root (chroot, apptainer), known by their names, never fit,
 * nor do those with privileges (setuid, setgid). Those with file capabilities needn't be told
 * apart: the dynamic linker ignores LD_PRELOAD for all of these, and in silence. */
bool sg_preload_fits(const struct sg_preload *p, const char *path);
bool sg_preload_fits_fd(const struct sg_preload *p, int fd);
/* What execvp(3) would find; search is a PATH, or NULL for the C library's default. */
bool sg_preload_fits_name(const struct sg_preload *p, const char *name, const char *search);
