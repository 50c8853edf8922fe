/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proto/search.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_ASSIGNMENT "PATH="
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

const char *sg_search_dirs(char *const *env)
{
        for (; env && *env; env++)
                if (strncmp(*env, PATH_ASSIGNMENT, strlen(PATH_ASSIGNMENT)) == 0)
                        return *env + strlen(PATH_ASSIGNMENT);
        return DEFAULT_PATH;
}

const char *sg_search_next(const char *dirs, const char *name, char path[PATH_MAX])
{
        size_t length = strcspn(dirs, ":");

        path[0] = '\0';
        if (length + strlen(name) + 2 <= PATH_MAX) {
                char *p = mempcpy(path, dirs, length);

                /* An empty entry is the current directory. */
                if (length > 0)
                        *p++ = '/';
                strcpy(p, name);
        }
        return dirs[length] == '\0' ? NULL : dirs + length + 1;
}

static bool is_executable(const char *path)
{
        struct stat st;

        return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

int sg_search_find(const char *name, char *const *env, char ret[PATH_MAX])
{
        if (strchr(name, '/')) {
                if (strlen(name) >= PATH_MAX)
                        return -ENAMETOOLONG;
                strcpy(ret, name);
                return 0;
        }
        for (const char *dirs = *name ? sg_search_dirs(env) : NULL; dirs;) {
                dirs = sg_search_next(dirs, name, ret);
                if (ret[0] && is_executable(ret))
                        return 0;
        }
        return -ENOENT;
}
