/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Any bytes as a request in JSON: refused with words or read, and as D-Bus has the same request the
 * same comes of it. */
#include "tests/unit/edge/json/twice_fixture.c"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static sd_bus *bus;

static void close_bus(void)
{
        sd_bus_unref(bus);
}

static sd_bus *get_bus(void)
{
        if (!bus) {
                bus = twice_bus();
                if (!bus)
                        abort();
                (void)atexit(close_bus);
        }
        return bus;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *json = NULL, *message = NULL;
        bool refused;
        int r;

        json = twice_by_json((const char *)data, size, &refused);
        if (!json || !*json)
                abort();
        r = twice_by_bus(get_bus(), (const char *)data, size, &message);
        if (r < 0 && !refused)
                abort(); /* what D-Bus can't say is no request */
        if (r >= 0 && strcmp(json, message) != 0)
                abort();
        return 0;
}
