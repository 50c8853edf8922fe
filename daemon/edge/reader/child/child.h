/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * The reader's own side. It shares one page with the daemon, in which it says that it lives and for
 * whom it works, without a system call and up to the moment in which it dies.
 */

#include <stdatomic.h>
#include <stdint.h>

#define SG_READER_NOBODY 0 /* waiting, or at work for all */

/* Where a file is read that its user may have put anywhere. */
enum sg_reader_place {
        SG_READER_AT_OURS,
        SG_READER_AT_OUTPUT,
        SG_READER_AT_FILE,
        SG_READER_AT_EVENTS,
};

struct sg_reader_page {
        _Atomic uint64_t beat;  /* goes on with every step */
        _Atomic uint64_t busy;  /* the job of this step, or SG_READER_NOBODY */
        _Atomic uint32_t place; /* enum sg_reader_place */
};

static inline void sg_reader_begin_step(struct sg_reader_page *page, uint64_t id,
                                        enum sg_reader_place place)
{
        atomic_store_explicit(&page->place, place, memory_order_relaxed);
        atomic_store_explicit(&page->busy, id, memory_order_relaxed);
        (void)atomic_fetch_add_explicit(&page->beat, 1, memory_order_relaxed);
}

/* Runs until the other end of fd is closed; returns what to exit with. */
int sg_reader_main(int fd, struct sg_reader_page *page, const char *journal_dir);
