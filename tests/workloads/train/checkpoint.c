/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Weights, Adam's means and the number of updates, as they lie in memory: a checkpoint is read by
 * the program that wrote it. The old one is replaced only once the new one is whole.
 */

#include "trainer.h"

#include "base/cleanup.h"
#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct head {
        char magic[8], model[24];
        uint64_t n, updates, batch, seed, done;
        double b1t, b2t;
};

static struct head head_of(const struct trainer *t)
{
        struct head h = {
                .magic = "SGTRAIN1",
                .n = t->adam.n,
                .updates = t->updates,
                .batch = t->batch,
                .seed = t->o.seed,
                .done = t->done,
                .b1t = t->adam.b1t,
                .b2t = t->adam.b2t,
        };

        strncpy(h.model, t->o.model->name, sizeof(h.model) - 1);
        return h;
}

static bool write_all(const struct trainer *t, FILE *f)
{
        struct head h = head_of(t);
        size_t n = t->adam.n;

        return fwrite(&h, sizeof(h), 1, f) == 1 && fwrite(t->w, sizeof(double), n, f) == n &&
               fwrite(t->adam.m, sizeof(double), n, f) == n &&
               fwrite(t->adam.v, sizeof(double), n, f) == n && fflush(f) == 0;
}

int trainer_save(const struct trainer *t, const char *path)
{
        _cleanup_free_ char *temporary = NULL;
        _cleanup_fclose_ FILE *f = NULL;

        if (asprintf(&temporary, "%s.new", path) < 0) {
                temporary = NULL;
                return -ENOMEM;
        }
        f = fopen(temporary, "we");
        if (!f || !write_all(t, f) || rename(temporary, path) < 0)
                return -errno;
        return 0;
}

static bool is_ours(const struct trainer *t, const struct head *h)
{
        struct head ours = head_of(t);

        ours.done = h->done;
        ours.b1t = h->b1t;
        ours.b2t = h->b2t;
        return memcmp(&ours, h, sizeof(ours)) == 0 && h->done <= t->updates;
}

int trainer_load(struct trainer *t, const char *path)
{
        _cleanup_fclose_ FILE *f = fopen(path, "re");
        size_t n = t->adam.n;
        struct head h;

        if (!f)
                return errno == ENOENT ? 0 : -errno;
        if (fread(&h, sizeof(h), 1, f) != 1 || !is_ours(t, &h) ||
            fread(t->w, sizeof(double), n, f) != n || fread(t->adam.m, sizeof(double), n, f) != n ||
            fread(t->adam.v, sizeof(double), n, f) != n)
                return -EBADMSG;
        t->done = h.done;
        t->adam.b1t = h.b1t;
        t->adam.b2t = h.b2t;
        return 1;
}
