/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/metrics/http-library.h"
#include "base/cleanup.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>

#define LIBRARY "libmicrohttpd.so.12"

static int missing(char **ret_why)
{
        if (asprintf(ret_why,
                     "cannot load " LIBRARY ": %s; install libmicrohttpd, or unset Listen=",
                     dlerror() ?: "it is too old") < 0)
                return -ENOMEM;
        return -ENOENT;
}

int sg_microhttpd_load(const struct sg_microhttpd **ret, char **ret_why)
{
        static struct sg_microhttpd functions;
        static bool loaded;
        struct sg_microhttpd f;
        void *library;

        if (!loaded) {
                library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
                if (!library)
                        return missing(ret_why);
#define LOAD(name)                                                                                 \
        f.name = (__typeof__(f.name))dlsym(library, "MHD_" #name);                                 \
        if (!f.name)                                                                               \
                return missing(ret_why);
                SG_MICROHTTPD_FUNCTIONS(LOAD)
#undef LOAD
                functions = f;
                loaded = true;
        }
        *ret = &functions;
        return 0;
}
