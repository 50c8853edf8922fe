/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shim/preload.h"
#include "base/cleanup.h"
#include "proto/preload.h"
#include "proto/search.h"
#include "shim/program.h"
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define VARIABLE "LD_PRELOAD="
#define HEAD 512 /* bytes, by which what isn't text is known */

/* Whoever is to load the library may run what is in it, and its name can be written into the
 * variable. */
static bool is_loadable(const char *library)
{
        struct statvfs fs;

        return library[0] == '/' && !strpbrk(library, ": \t\n$") && statvfs(library, &fs) == 0 &&
               !(fs.f_flag & ST_NOEXEC);
}

/* A script without a #! line, which a shell is run for. What has a NUL in it may have an
 * interpreter of its own (binfmt_misc). */
static bool is_for_shell(const char *path)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        char head[HEAD];
        ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

        return n > 0 && !memchr(head, '\0', (size_t)n) && (n < 2 || memcmp(head, "#!", 2) != 0);
}

static bool fits(const char *library, const char *path)
{
        struct sg_preload p;

        if (!is_loadable(library) || sg_preload_init(&p, library, SG_LOADER) < 0)
                return false;
        return sg_preload_fits(&p, path) ||
               (is_for_shell(path) && sg_preload_fits(&p, SG_PROGRAM_SHELL));
}

static bool is_named(const char *list, const char *library)
{
        const char *name = strrchr(library, '/') + 1;
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

void sg_preload_add(char ***env, char *const *argv, const char *script)
{
        const char *library = sg_program_getenv(*env, "SCHEDGOV_PRELOAD");
        const char *list = sg_program_getenv(*env, "LD_PRELOAD");
        char path[PATH_MAX], *assignment;

        if (!library || (!script && sg_search_find(argv[0], *env, path) < 0) ||
            !fits(library, script ? script : path))
                return;
        assignment = assignment_with(list ? list : "", library);
        if (assignment)
                sg_program_put_env(env, assignment);
}
