/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See script.h. */

#include "ctl/ask/script.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#define HEAD_MAX (64 * 1024)

/* Of a script alone, which is a file that begins so. */
static int read_head(const char *workdir, const char *program, char **ret)
{
        _cleanup_close_ int dir = open(workdir ? workdir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int fd = openat(dir, program, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        _cleanup_free_ char *head = malloc(HEAD_MAX + 1);
        ssize_t n;

        if (!head)
                return -ENOMEM;
        n = fd < 0 ? -1 : sg_read_full(fd, head, HEAD_MAX);
        if (n < 2 || memcmp(head, "#!", 2) != 0)
                return -ENOENT;
        head[n] = '\0';
        *ret = TAKE_PTR(head);
        return 0;
}

static void say_unknown(unsigned line, const char *option)
{
        sg_warn("line %u: #SBATCH %s means nothing here and is left out", line, option);
}

int sg_script_lines(struct sg_sbatch *lines, const struct sg_command *cmd, struct sg_invocation *io,
                    struct sg_error *e)
{
        _cleanup_free_ char *head = NULL;
        int r = -ENOENT;

        if (cmd->script)
                r = (head = strndup(cmd->script, cmd->script_size)) ? 0 : -ENOMEM;
        else if (cmd->argv[0] && strchr(cmd->argv[0], '/'))
                r = read_head(io->workdir, cmd->argv[0], &head);
        if (r == -ENOMEM)
                return r;
        if (r < 0 || !sg_sbatch_any(head)) {
                if (io->sbatch)
                        sg_warn("--sbatch: there are no #SBATCH lines");
                return 0;
        }
        if (!io->sbatch) {
                sg_warn("the #SBATCH lines of the script are not read; --sbatch takes their "
                        "options");
                return 0;
        }
        lines->unknown = say_unknown;
        return sg_sbatch_apply(lines, head, io, e);
}
