/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Any text as any file of the kernel's. What fails sets nothing; what is found is in the text as
 * digits, so that no number is invented; and a text that lost its end gives the same number or
 * none.
 */
#include "edge/kernel/sampler-internal.h"

#include "core/measure/kernel-text.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK UINT64_C(0x5ca1ab1e)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool b)
{
        if (!b)
                abort();
}

static void must_be_result(int r)
{
        must(r >= 0 || r == -EBADMSG);
}

/* 1024 times what meminfo says, and so on, has other digits. */
static void must_be_in(const char *text, size_t n, uint64_t v)
{
        char digits[32];
        int length = snprintf(digits, sizeof(digits), "%" PRIu64, v);

        must(v != SG_UNLIMITED && memmem(text, n, digits, (size_t)length));
}

static void try_number(const char *text, size_t n)
{
        uint64_t v = MARK, cut;
        int r = sg_kernel_number(text, n, &v);

        must_be_result(r);
        if (r < 0) {
                must(v == MARK);
                return;
        }
        must_be_in(text, n, v);
        for (size_t less = 0; less < n; less++)
                must(sg_kernel_number(text, less, &cut) == -EBADMSG);
}

static void try_keyed(const char *text, size_t n)
{
        uint64_t values[6] = {MARK, MARK, MARK, MARK, MARK, MARK};
        const struct sg_kernel_key keys[] = {
                {"usage_usec", &values[0]},
                {"nr_periods", &values[1]},
                {"oom_kill", &values[2]},
                {"inactive_file", &values[3]},
                {"total_inactive_file", &values[4]},
                {"pswpin", &values[5]},
        };
        int r = sg_kernel_keyed(text, n, keys, 6), found = 0;

        must_be_result(r);
        for (size_t i = 0; i < 6; i++)
                if (values[i] != MARK) {
                        must_be_in(text, n, values[i]);
                        found++;
                }
        must(found <= (r < 0 ? 0 : r));
}

static void try_meminfo(const char *text, size_t n)
{
        uint64_t total = MARK, swap = MARK;
        const struct sg_kernel_key keys[] = {{"MemTotal", &total}, {"SwapFree", &swap}};
        int r = sg_kernel_meminfo(text, n, keys, 2);

        must_be_result(r);
        must(r >= 0 || (total == MARK && swap == MARK));
        must(r <= 0 || total != MARK || swap != MARK || memmem(text, n, ":", 1));
}

static void try_psi(const char *text, size_t n)
{
        struct sg_kernel_psi p = {MARK, MARK, MARK, MARK};
        int r = sg_kernel_psi(text, n, &p);

        must_be_result(r);
        if (r < 0) {
                must(p.some_usec == MARK && p.full_usec == MARK);
                return;
        }
        must(p.some_usec != SG_UNLIMITED || p.full_usec != SG_UNLIMITED);
        if (p.some_usec != SG_UNLIMITED)
                must_be_in(text, n, p.some_usec);
        if (p.full_usec != SG_UNLIMITED)
                must_be_in(text, n, p.full_usec);
}

static void try_disks(const char *text, size_t n)
{
        struct sg_kernel_io io = {MARK, MARK, MARK, MARK};
        uint64_t in = MARK, out = MARK;
        int r = sg_kernel_io_stat(text, n, &io);

        must_be_result(r);
        must(r >= 0 || (io.read_bytes == MARK && io.write_ops == MARK));
        must(r < 0 || (io.read_bytes != SG_UNLIMITED && io.write_ops != SG_UNLIMITED));
        r = sg_kernel_blkio(text, n, &in, &out);
        must_be_result(r);
        must(r >= 0 || (in == MARK && out == MARK));
        must(r < 0 || (in != SG_UNLIMITED && out != SG_UNLIMITED));
}

static void try_machine(const char *text, size_t n)
{
        struct sg_kernel_stat s = {.total = MARK};
        struct sg_kernel_load l = {.load1_pm = MARK};
        int r = sg_kernel_stat(text, n, &s);

        must_be_result(r);
        must(r >= 0 || s.total == MARK);
        if (r >= 0) {
                must(s.total >= s.idle && s.total >= s.iowait && s.total >= s.steal);
                must_be_in(text, n, s.procs_running);
        }
        r = sg_kernel_loadavg(text, n, &l);
        must_be_result(r);
        must(r >= 0 || l.load1_pm == MARK);
        if (r >= 0)
                must_be_in(text, n, l.tasks);
}

/* As the sampler takes them: what fails leaves the sample alone. */
static void try_sources(const char *text, size_t n)
{
        for (size_t i = 0; i < SG_ROLES_MAX; i++)
                for (size_t k = 0; k < SG_SOURCES_MAX && sg_roles[i].sources[k].file; k++) {
                        struct sg_sampling s = {0}, before;
                        int r;

                        memset(&s.sample, 0x11, sizeof(s.sample));
                        before = s;
                        r = sg_source_parse(&sg_roles[i].sources[k], text, n, &s);
                        must(r == 0 || r == -EBADMSG || r == -ENODATA);
                        must(r < 0 ? memcmp(&s, &before, sizeof(s)) == 0 : s.known != 0);
                }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *)data;

        try_number(text, size);
        try_keyed(text, size);
        try_meminfo(text, size);
        try_psi(text, size);
        try_disks(text, size);
        try_machine(text, size);
        try_sources(text, size);
        return 0;
}
