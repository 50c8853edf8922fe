/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What is kept of GPUs beside their jobs, in STATE/gpus: those that nobody is to get, and those
 * that were found out of order since the boot.
 *
 *   drained GPU-8f…
 *   unhealthy BOOT-ID GPU-8f… an uncorrectable error of its memory
 *
 * It is written, and made durable, by a child: the daemon itself waits for no disk.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/time-util.h"
#include "edge/common/log.h"
#include "edge/common/worker.h"
#include "gpus/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/wait.h>
#include <syslog.h>

#define FILE_MAX (256U * 1024)

struct sg_gpu_drain {
        struct sg_gpus *gpus;
        struct sg_worker *worker; /* one process for each write */
        char path[PATH_MAX];
        char *text;  /* as it is being written, in the memory that the child is born with */
        bool behind; /* something has changed since */
        /* Who waits for it to be durable. */
        sg_gpus_done done;
        void *userdata;
        char uuid[SG_GPU_TEXT_MAX];
        bool drain;
};

static void write_now(struct sg_gpu_drain *d);

/* --- the text */

static void put_lines(const struct sg_gpu_drain *d, const struct sg_gpu_status *s, FILE *f)
{
        bool asked = d->done && strcmp(s->gpu->uuid, d->uuid) == 0;

        if (asked ? d->drain : s->drained)
                fprintf(f, "drained %s\n", s->gpu->uuid);
        if (s->unhealthy && (!asked || d->drain))
                fprintf(f, "unhealthy %s %s %s\n", d->gpus->manager->node.boot_id, s->gpu->uuid,
                        s->reason);
}

static int make_text(const struct sg_gpu_drain *d, char **ret)
{
        const struct sg_gpu_account *a = d->gpus->account;
        char *text = NULL;
        size_t size;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return -ENOMEM;
        for (size_t i = 0; i < sg_gpu_account_n(a); i++)
                put_lines(d, sg_gpu_account_at(a, i), f);
        if (fclose(f) != 0) {
                free(text);
                return -ENOMEM;
        }
        *ret = text;
        return 0;
}

static void take_line(struct sg_gpus *g, char *line)
{
        uint64_t now = sg_now_monotonic_usec();
        const char *what = strsep(&line, " "), *boot, *uuid;

        if (!line)
                return;
        if (strcmp(what, "drained") == 0) {
                (void)sg_gpu_account_drain(g->account, line, true, now);
                return;
        }
        boot = strsep(&line, " ");
        uuid = strsep(&line, " ");
        if (strcmp(what, "unhealthy") == 0 && uuid && strcmp(boot, g->manager->node.boot_id) == 0)
                (void)sg_gpu_account_distrust(g->account, uuid, line ?: "", now);
}

static int load(struct sg_gpu_drain *d)
{
        _cleanup_free_ char *text = NULL;
        char *rest, *line;
        int r = sg_read_file(AT_FDCWD, d->path, FILE_MAX, &text, NULL);

        if (r < 0)
                return r == -ENOENT ? 0 : r;
        rest = text;
        while ((line = strsep(&rest, "\n")))
                take_line(d->gpus, line);
        return 0;
}

/* --- in a child: 0, or an errno, which is what it exits with */

static int write_file(int fd, void *userdata)
{
        const struct sg_gpu_drain *d = userdata;

        (void)fd;
        return -sg_write_file_atomic(AT_FDCWD, d->path, d->text, strlen(d->text), 0600);
}

/* --- the parent */

static void answer(struct sg_gpu_drain *d, int result)
{
        sg_gpus_done done = d->done;

        if (!done)
                return;
        d->done = NULL;
        if (result >= 0)
                result = sg_gpu_account_drain(d->gpus->account, d->uuid, d->drain,
                                              sg_now_monotonic_usec());
        if (result >= 0)
                sg_manager_schedule(d->gpus->manager);
        done(result, d->userdata);
}

static void on_buried(int status, void *userdata)
{
        struct sg_gpu_drain *d = userdata;
        int error = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;

        free(TAKE_PTR(d->text));
        if (error > 0)
                sg_log(LOG_ERR, "cannot write %s: %s", d->path, strerror(error));
        answer(d, -error);
        if (d->behind)
                write_now(d);
}

static const struct sg_worker_kind writer_kind = {
        .name = "schedgov-drain",
        .title = "who writes which GPUs are drained",
        .end_usec = SG_USEC_PER_SEC,
        .main = write_file,
        .buried = on_buried,
};

static void write_now(struct sg_gpu_drain *d)
{
        int r;

        d->behind = d->text != NULL;
        if (d->text)
                return;
        r = make_text(d, &d->text);
        if (r >= 0)
                r = sg_worker_start(d->worker, -1);
        if (r >= 0)
                return;
        free(TAKE_PTR(d->text));
        sg_log(LOG_ERR, "cannot write %s: %s", d->path, strerror(-r));
        answer(d, r);
}

void sg_gpu_drain_note(struct sg_gpu_drain *d)
{
        write_now(d);
}

int sg_gpus_drain(struct sg_manager *m, const char *id, bool drain, sg_gpus_done done,
                  void *userdata)
{
        struct sg_gpu_drain *d = m->gpus->drain;
        const struct sg_gpu_status *s = sg_gpu_account_find(m->gpus->account, id);

        if (!s)
                return -ENOENT;
        if (d->text) /* what is being written doesn't have it */
                return -EBUSY;
        memcpy(d->uuid, s->gpu->uuid, sizeof(d->uuid));
        d->drain = drain;
        d->done = done;
        d->userdata = userdata;
        write_now(d);
        return 0;
}

/* --- the object */

int sg_gpu_drain_new(struct sg_gpu_drain **ret, struct sg_gpus *g)
{
        struct sg_gpu_drain *d = calloc(1, sizeof(*d));
        int r;

        if (!d)
                return -ENOMEM;
        d->gpus = g;
        r = sg_path_join(d->path, sizeof(d->path), sg_store_dir(g->manager->store), "gpus");
        if (r >= 0)
                r = load(d);
        if (r >= 0)
                r = sg_worker_new(&d->worker, &writer_kind, d);
        if (r >= 0)
                r = sg_worker_attach(d->worker, g->manager->event);
        if (r < 0) {
                sg_gpu_drain_free(d);
                return r;
        }
        *ret = d;
        return 0;
}

struct sg_gpu_drain *sg_gpu_drain_free(struct sg_gpu_drain *d)
{
        if (!d)
                return NULL;
        sg_worker_free(d->worker);
        free(d->text);
        free(d);
        return NULL;
}
