/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shim/script.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "shim/program.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLANKS " \t"
#ifndef MFD_EXEC /* Linux 6.3 */
#define MFD_EXEC 0x0010U
#endif

/* A word "python3" or ".../python3.11", also behind env(1). */
static bool names_python(const char *line)
{
        static const char python[] = "python";

        for (const char *p = line; *p; p += strcspn(p, BLANKS)) {
                size_t n;

                p += strspn(p, BLANKS);
                n = strcspn(p, BLANKS);
                while (n > 0 && memchr(p, '/', n)) {
                        p++;
                        n--;
                }
                if (strncmp(p, python, strlen(python)) == 0)
                        return true;
        }
        return false;
}

/* "#! INTERPRETER [ARGUMENT]", as the kernel takes it: the rest of the line is one argument. False:
 * it has none that we could run, or isn't text. */
static bool parse_head(struct sg_script *s, const char *text, size_t size)
{
        char line[SG_SCRIPT_LINE_MAX];
        size_t n = size < sizeof(line) ? size : sizeof(line) - 1;
        char *p, *end;

        memcpy(line, text, n);
        line[n] = '\0';
        if (n < 2 || memcmp(line, "#!", 2) != 0)
                return !memchr(text, '\0', n);
        if (strcspn(line, "\n") == sizeof(line) - 1)
                return false;
        line[strcspn(line, "\n")] = '\0';
        p = line + 2 + strspn(line + 2, BLANKS);
        for (end = p + strlen(p); end > p && strchr(BLANKS, end[-1]); end--)
                end[-1] = '\0';
        s->is_python = names_python(p);
        n = strcspn(p, BLANKS);
        (void)snprintf(s->interpreter, sizeof(s->interpreter), "%.*s", (int)n, p);
        (void)snprintf(s->argument, sizeof(s->argument), "%s", p + n + strspn(p + n, BLANKS));
        return n > 0;
}

static int write_file(const char *path, const struct sg_spec *s)
{
        _cleanup_close_ int fd = -1;
        int r;

        if (unlink(path) < 0 && errno != ENOENT)
                return -errno;
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
        if (fd < 0)
                return -errno;
        r = s->uid != 0 && geteuid() == 0 ? sg_acl_admit(fd, s->uid, 4, 4) : 0;
        if (r >= 0)
                r = sg_write_all(fd, s->script, s->script_size);
        if (r < 0)
                (void)unlink(path);
        return r;
}

static int make_memory(struct sg_script *ret, const struct sg_spec *s)
{
        _cleanup_close_ int fd = memfd_create("schedgov-script", MFD_EXEC);
        int r, high;

        if (fd < 0 && errno == EINVAL)
                fd = memfd_create("schedgov-script", 0);
        if (fd < 0)
                return -errno;
        r = sg_write_all(fd, s->script, s->script_size);
        if (r < 0)
                return r;
        /* Away from the numbers that a script redirects by hand ("exec 3>…"). */
        high = fcntl(fd, F_DUPFD, 10);
        (void)snprintf(ret->path, sizeof(ret->path), "/proc/self/fd/%d",
                       high >= 0 ? high : TAKE_FD(fd));
        ret->interpreter[0] = '\0';
        return 0;
}

/* Where there is no room for the file, or its user can't be admitted to it, the job runs all the
 * same. */
int sg_script_make(struct sg_script *ret, const struct sg_spec *s)
{
        if (parse_head(ret, s->script, s->script_size) && s->script_file &&
            strlen(s->script_file) < sizeof(ret->path) && write_file(s->script_file, s) >= 0) {
                (void)strcpy(ret->path, s->script_file);
                ret->is_file = true;
                return 0;
        }
        return make_memory(ret, s);
}

void sg_script_env(const struct sg_script *s, const char *workdir, char ***env)
{
        const char *safe = sg_program_getenv(*env, "PYTHONSAFEPATH");
        const char *path = sg_program_getenv(*env, "PYTHONPATH");
        char *assignment;

        if (!s->is_python || (safe && *safe) || strchr(workdir, ':'))
                return;
        if (asprintf(&assignment, "PYTHONPATH=%s%s%s", workdir, path && *path ? ":" : "",
                     path ? path : "") >= 0)
                sg_program_put_env(env, assignment);
}

int sg_script_exec(const struct sg_script *s, char *const *args, char *const *env)
{
        if (!s->is_file)
                return sg_program_exec_file(s->path, args, env);
        return sg_program_exec_with(s->interpreter[0] ? s->interpreter : SG_PROGRAM_SHELL,
                                    s->argument, s->path, args, env);
}
