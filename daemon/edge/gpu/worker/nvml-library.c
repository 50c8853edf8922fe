/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/cleanup.h"
#include "base/file.h"
#include "edge/gpu/worker/nvml.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libnvidia-ml.so.1"

/* Of a driver that isn't the host's own, as in a container's directory. */
static const char *const places[] = {
#ifdef __aarch64__
        "usr/lib/aarch64-linux-gnu",
#else
        "usr/lib/x86_64-linux-gnu",
#endif
        "usr/lib64",
        "usr/lib",
        "lib64",
        "lib",
};

/* Functions as they are in the library, each with its place in the struct. */
struct symbol {
        const char *name;
        size_t offset;
};

#define SYMBOL(member, symbol, parameters) {#symbol, offsetof(struct sg_nvml_library, member)},
static const struct symbol symbols[] = {SG_NV_FUNCTIONS(SYMBOL, SYMBOL)};
#undef SYMBOL

/* What is said of an older one in the table is checked, too. */
#define SAME_TYPE(member, symbol, parameters)                                                      \
        _Static_assert(                                                                            \
                __builtin_types_compatible_p(__typeof__(((struct sg_nvml_library *)0)->member),    \
                                             __typeof__(sg_nv_code(*) parameters)),                \
                #symbol);
SG_NV_FUNCTIONS(SAME_TYPE, SAME_TYPE)
#undef SAME_TYPE

#define LIST(symbol, list) {#symbol "_v3", #symbol "_v2", #symbol},
static const char *const lists[SG_NV_LISTS][SG_NV_LIST_VERSIONS] = {SG_NV_PROCESS_LISTS(LIST)};
#undef LIST

static void resolve(struct sg_nvml_library *l)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(symbols); i++) {
                void **member = (void **)(void *)((char *)l + symbols[i].offset);

                if (!*member)
                        *member = dlsym(l->handle, symbols[i].name);
        }
        for (size_t i = 0; i < SG_NV_LISTS; i++)
                for (size_t k = 0; k < SG_NV_LIST_VERSIONS; k++)
                        l->lists[i][k] = (sg_nv_list_processes *)dlsym(l->handle, lists[i][k]);
        l->error_string = (const char *(*)(sg_nv_code))dlsym(l->handle, "nvmlErrorString");
}

static const char *first_missing(const struct sg_nvml_library *l)
{
        return !l->init_with_flags && !l->init ? "nvmlInit"
               : !l->shut_down                 ? "nvmlShutdown"
               : !l->count                     ? "nvmlDeviceGetCount"
               : !l->by_index                  ? "nvmlDeviceGetHandleByIndex"
               : !l->uuid                      ? "nvmlDeviceGetUUID"
                                               : NULL;
}

/* Where the library is: a path, or a name for the linker's own search. */
static void find(char ret[PATH_MAX], const char *path, const char *root)
{
        if (*path || strcmp(root, "/") == 0) {
                (void)snprintf(ret, PATH_MAX, "%s", *path ? path : LIBRARY);
                return;
        }
        for (size_t i = 0; i < SG_ELEMENTSOF(places); i++) {
                (void)snprintf(ret, PATH_MAX, "%s/%s/%s", root, places[i], LIBRARY);
                if (access(ret, F_OK) == 0)
                        return;
        }
}

static void say_absent(struct sg_gpu_inventory *v, const char *path, const char *root)
{
        v->state = SG_GPU_DRIVER_ABSENT;
        if (*path || strcmp(root, "/") == 0)
                sg_gpu_say(v, "there is no library %s", *path ? path : LIBRARY);
        else
                sg_gpu_say(v, "there is no library " LIBRARY " below %s", root);
}

/* No library is no fault: most nodes have no GPU. */
static bool is_absent(const char *path, const char *error)
{
        static const char not_found[] = LIBRARY ": cannot open shared object file: No such file";

        if (strchr(path, '/'))
                return access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR);
        return strncmp(error, not_found, sizeof(not_found) - 1) == 0;
}

void sg_nvml_load(struct sg_nvml_library *ret, const char *path, const char *root,
                  struct sg_gpu_inventory *v)
{
        struct sg_nvml_library l = {0};
        char where[PATH_MAX];

        find(where, path, root);
        l.handle = dlopen(where, RTLD_NOW | RTLD_LOCAL);
        if (!l.handle) {
                const char *error = dlerror() ?: where;

                if (is_absent(where, error)) {
                        say_absent(v, path, root);
                        return;
                }
                v->state = SG_GPU_DRIVER_ERROR;
                sg_gpu_say(v, "%s", error);
                return;
        }
        resolve(&l);
        if (first_missing(&l)) {
                v->state = SG_GPU_DRIVER_ERROR;
                sg_gpu_say(v, "%s has no %s()", where, first_missing(&l));
                (void)dlclose(l.handle);
                return;
        }
        *ret = l;
}

void sg_nvml_unload(struct sg_nvml_library *library)
{
        if (library->handle)
                (void)dlclose(library->handle);
        *library = (struct sg_nvml_library){0};
}

const char *sg_nvml_error(const struct sg_nvml_library *library, sg_nv_code code)
{
        const char *text = library->error_string ? library->error_string(code) : NULL;

        return text && *text ? text : "the driver fails";
}
