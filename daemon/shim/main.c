/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * schedgov-shim ATTEMPT-DIR
 * schedgov-shim --foreground [--gate FD] [--lock FD] [--record FD]
 *               [--env K=V]… [--env-default K=V]… -- COMMAND [ARGUMENT…]
 *
 * Both are called by our own programs only, so that the syntax is no more than that.
 */

#include "base/cleanup.h"
#include "base/parse.h"
#include "proto/names.h"
#include "shim/shim.h"
#include <errno.h>
#include <string.h>

static int take_fd(const char *value, int *ret)
{
        uint32_t fd;

        if (sg_parse_u32(value, &fd) < 0 || fd > INT32_MAX)
                return -EINVAL;
        *ret = (int)fd;
        return 0;
}

static void add(char **list, char *value)
{
        while (*list)
                list++;
        *list = value;
}

static int take_option(struct sg_foreground_options *o, const char *name, char *value)
{
        if (strcmp(name, "--gate") == 0)
                return take_fd(value, &o->gate);
        if (strcmp(name, "--lock") == 0)
                return take_fd(value, &o->lock);
        if (strcmp(name, "--record") == 0)
                return take_fd(value, &o->record);
        if (!strchr(value, '=') || *value == '=')
                return -EINVAL;
        if (strcmp(name, "--env") == 0)
                add(o->env_force, value);
        else if (strcmp(name, "--env-default") == 0)
                add(o->env_default, value);
        else
                return -EINVAL;
        return 0;
}

static int run_foreground(int argc, char **argv)
{
        _cleanup_free_ char **force = calloc((size_t)argc, sizeof(char *));
        _cleanup_free_ char **defaults = calloc((size_t)argc, sizeof(char *));
        struct sg_foreground_options o = {
                .gate = -1, .lock = -1, .record = -1, .env_force = force, .env_default = defaults};
        int i;

        if (!force || !defaults)
                return SG_EXIT_OWN_FAILURE;
        for (i = 2; i < argc && strcmp(argv[i], "--") != 0; i += 2) {
                if (i + 1 == argc || take_option(&o, argv[i], argv[i + 1]) < 0) {
                        sg_process_complain("bad option", argv[i], 0);
                        return SG_EXIT_OWN_FAILURE;
                }
        }
        if (i + 1 >= argc) {
                sg_process_complain("a command is missing", NULL, 0);
                return SG_EXIT_OWN_FAILURE;
        }
        o.argv = argv + i + 1;
        return sg_foreground(&o);
}

int main(int argc, char **argv)
{
        int r;

        r = sg_process_fill_stdio();
        if (r < 0)
                return SG_EXIT_OWN_FAILURE;
        if (argc >= 2 && strcmp(argv[1], "--foreground") == 0)
                return run_foreground(argc, argv);
        if ((argc == 2 || (argc == 3 && strcmp(argv[2], SG_SHIM_IN_KEEPER) == 0)) &&
            argv[1][0] != '-')
                return sg_background(argv[1], argc == 3);
        sg_process_complain("it is started by schedgovd and schedctl, not by hand", NULL, 0);
        return SG_EXIT_OWN_FAILURE;
}
