/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any text as /proc/devices and as mig-minors. What is refused sets nothing. Of what is taken,
 * every driver is either guarded or allowed, never both; and no name that systemd is told to allow
 * matches a driver that is guarded.
 */
#include "core/gpu/nodes.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool b)
{
        if (!b)
                abort();
}

static bool is_allowed(const struct sg_device_guard *g, int32_t major)
{
        for (size_t i = 0; i < g->n_others; i++)
                if (g->others[i].rule.type == 'c' && g->others[i].rule.major == major)
                        return true;
        return false;
}

static void check_guard(const struct sg_gpu_devices *d)
{
        struct sg_device_guard *g, *again;

        must(sg_gpu_guard(&g, d, NULL, NULL) == 1);
        must(sg_gpu_guard(&again, d, NULL, g) == 0 && again == g);
        sg_device_guard_unref(again);
        for (size_t i = 0; i < d->n_drivers; i++) {
                bool guarded = sg_device_guard_covers(g, 'c', d->drivers[i].major, -1);

                must(guarded != is_allowed(g, d->drivers[i].major));
                for (size_t k = 0; guarded && k < g->n_others; k++)
                        must(fnmatch(g->others[k].name, d->drivers[i].name, 0) != 0);
        }
        sg_device_guard_unref(g);
}

static void try_drivers(const char *text, size_t n)
{
        struct sg_gpu_devices d = {0};
        int r = sg_gpu_devices_take_drivers(&d, text, n);

        must(r == 0 || r == -EBADMSG);
        must(r == 0 || !d.drivers);
        for (size_t i = 0; i < d.n_drivers; i++)
                must(d.drivers[i].major >= 0 && d.drivers[i].name[0] &&
                     memmem(text, n, d.drivers[i].name, strlen(d.drivers[i].name)));
        if (r == 0)
                check_guard(&d);
        sg_gpu_devices_deinit(&d);
}

static void try_mig(const char *text, size_t n)
{
        struct sg_gpu_devices d = {0};
        int r = sg_gpu_devices_take_mig(&d, text, n);

        must(r == 0 || (r == -EBADMSG && !d.mig));
        for (size_t i = 0; i < d.n_mig; i++)
                must(d.mig[i].minor >= 0 && d.mig[i].gpu_instance != SG_MIG_NO_INSTANCE);
        must(r < 0 || n == 0 || text[n - 1] == '\n');
        sg_gpu_devices_deinit(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        try_drivers((const char *)data, size);
        try_mig((const char *)data, size);
        return 0;
}
