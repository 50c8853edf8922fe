/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which jobs are on which GPU, for DCGM's exporter: a directory ([Gpu] JobMapping=) with a file for
 * each GPU that is held, by its index, "0", or of a MIG instance "0.3", and in it a job a line.
 * They take the place of those before by rename, and go when nobody holds the GPU.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "edge/common/log.h"
#include "gpus/internal.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#define NAME_SIZE 48
#define FILES_MAX (SG_GPUS_MAX * SG_GPU_INSTANCES_MAX)

struct sg_gpu_mapped { /* one file */
        char name[NAME_SIZE];
        char *text;
};

static void drop_all(struct sg_gpu_mapping *m)
{
        for (size_t i = 0; i < m->n; i++)
                free(m->files[i].text);
        free(m->files);
        *m = (struct sg_gpu_mapping){.looked = m->looked, .failed = m->failed};
}

void sg_gpu_mapping_deinit(struct sg_gpu_mapping *m)
{
        drop_all(m);
}

/* --- what is to be there */

static bool name_of(const struct sg_gpu_inventory *v, const struct sg_gpu_hold *h,
                    char ret[NAME_SIZE])
{
        const struct sg_gpu *gpu = &v->gpus[h->gpu];

        if (gpu->index == SG_GPU_UNKNOWN)
                return false;
        if (h->instance == SG_GPU_NONE)
                (void)snprintf(ret, NAME_SIZE, "%" PRIu64, gpu->index);
        else
                (void)snprintf(ret, NAME_SIZE, "%" PRIu64 ".%" PRIu32, gpu->index,
                               gpu->instances[h->instance].gpu_instance);
        return true;
}

static struct sg_gpu_mapped *file_of(struct sg_gpu_mapping *m, const char *name)
{
        for (size_t i = 0; i < m->n; i++)
                if (strcmp(m->files[i].name, name) == 0)
                        return &m->files[i];
        if (m->n == FILES_MAX)
                return NULL;
        strcpy(m->files[m->n].name, name);
        return &m->files[m->n++];
}

static int add(struct sg_gpu_mapping *m, const char *name, const char *id)
{
        struct sg_gpu_mapped *f = file_of(m, name);
        char *text;

        if (!f)
                return 0;
        if (asprintf(&text, "%s%s\n", f->text ?: "", id) < 0)
                return -ENOMEM;
        free(f->text);
        f->text = text;
        return 0;
}

static int describe(const struct sg_gpus *g, struct sg_gpu_mapping *ret)
{
        const struct sg_gpu_pool *pool = sg_gpu_account_pool(g->account);
        char name[NAME_SIZE], id[SG_JOB_ID_MAX];
        int r = 0;

        if (pool->n_holds == 0 || !pool->inventory)
                return 0;
        ret->files = calloc(FILES_MAX, sizeof(*ret->files));
        if (!ret->files)
                return -ENOMEM;
        for (size_t i = 0; r >= 0 && i < pool->n_holds; i++) {
                const struct sg_gpu_hold *h = &pool->holds[i];
                const struct sg_live *l = sg_manager_find(g->manager, h->job);

                if (!l || h->share == 0 || !name_of(pool->inventory, h, name))
                        continue;
                sg_job_id_format(id, &l->job.key, g->manager->node.name);
                r = add(ret, name, id);
        }
        return r;
}

/* --- files */

static bool is_ours(const char *name)
{
        size_t n = strspn(name, "0123456789");

        if (n == 0 || name[n] == '\0')
                return n > 0;
        return name[n] == '.' && name[n + 1] &&
               name[n + 1 + strspn(name + n + 1, "0123456789")] == 0;
}

/* A daemon before this one may have left some. */
static void remove_others(const struct sg_gpu_mapping *now, int dir)
{
        _cleanup_closedir_ DIR *d = NULL;
        int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct dirent *e;

        d = fd < 0 ? NULL : fdopendir(fd);
        if (!d) {
                (void)sg_close(fd);
                return;
        }
        while ((e = readdir(d))) {
                bool wanted = false;

                for (size_t i = 0; i < now->n; i++)
                        wanted |= strcmp(now->files[i].name, e->d_name) == 0;
                if (!wanted && is_ours(e->d_name))
                        (void)unlinkat(dir, e->d_name, 0);
        }
}

static const char *text_of(const struct sg_gpu_mapping *m, const char *name)
{
        for (size_t i = 0; i < m->n; i++)
                if (strcmp(m->files[i].name, name) == 0)
                        return m->files[i].text;
        return NULL;
}

static int write_changed(const struct sg_gpu_mapping *before, const struct sg_gpu_mapping *now,
                         int dir)
{
        int r = 0;

        for (size_t i = 0; i < now->n; i++) {
                const struct sg_gpu_mapped *f = &now->files[i];
                const char *was = text_of(before, f->name);
                int written = 0;

                if (!was || strcmp(was, f->text) != 0)
                        written = sg_replace_file(dir, f->name, f->text, strlen(f->text), 0644);
                r = r < 0 ? r : written;
        }
        for (size_t i = 0; i < before->n; i++)
                if (!text_of(now, before->files[i].name))
                        (void)unlinkat(dir, before->files[i].name, 0);
        return r;
}

static int replace(struct sg_gpu_mapping *before, const struct sg_gpu_mapping *now,
                   const char *path)
{
        _cleanup_close_ int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (dir < 0)
                return -errno;
        if (!before->looked)
                remove_others(now, dir);
        before->looked = true;
        return write_changed(before, now, dir);
}

void sg_gpus_map(struct sg_gpus *g)
{
        const char *path = g->manager->settings->gpu.job_mapping;
        struct sg_gpu_mapping now = {0}, *before = &g->mapping;
        int r;

        if (!path[0])
                return;
        r = describe(g, &now);
        if (r >= 0)
                r = replace(before, &now, path);
        if (r < 0 && !before->failed)
                sg_log(LOG_WARNING, "cannot say in %s which jobs are on which GPU: %s", path,
                       strerror(-r));
        before->failed = r < 0;
        drop_all(before);
        if (r >= 0) {
                before->files = now.files;
                before->n = now.n;
        } else {
                drop_all(&now);
        }
}
