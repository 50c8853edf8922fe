/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/paths.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* The specification wants paths that are not absolute to be ignored. */
static int below(char **ret, const char *variable, const char *path)
{
        const char *dir = getenv(variable);
        char *s;

        if (!dir || dir[0] != '/')
                return -ENXIO;
        if (asprintf(&s, "%s/%s", dir, path) < 0)
                return -ENOMEM;
        *ret = s;
        return 0;
}

int sg_user_socket(char **ret)
{
        return below(ret, "XDG_RUNTIME_DIR", "schedgov/bus");
}

int sg_user_state_dir(char **ret)
{
        int r = below(ret, "XDG_STATE_HOME", "schedgov");

        return r == -ENXIO ? below(ret, "HOME", ".local/state/schedgov") : r;
}

int sg_user_config_dir(char **ret)
{
        int r = below(ret, "XDG_CONFIG_HOME", "schedgov");

        return r == -ENXIO ? below(ret, "HOME", ".config/schedgov") : r;
}
