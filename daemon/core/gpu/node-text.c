/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Text files of the kernel's about device numbers. A text that was cut has no last newline and is
 * refused, as the number before it may have lost digits; what is taken is collected apart, so that
 * half a file never sets anything.
 */

#include "base/cleanup.h"
#include "core/gpu/nodes.h"
#include <errno.h>
#include <string.h>

#define MAJOR_MAX 4095U /* as dev_t has them */
#define MINOR_MAX 1048575U

struct span {
        const char *p, *end;
};

/* 1: *ret is the next line without its end, 0: that was all. */
static int next_line(struct span *text, struct span *ret)
{
        const char *end;

        if (text->p == text->end)
                return 0;
        end = memchr(text->p, '\n', (size_t)(text->end - text->p));
        if (!end || memchr(text->p, '\0', (size_t)(end - text->p)))
                return -EBADMSG;
        *ret = (struct span){text->p, end};
        text->p = end + 1;
        return 1;
}

static size_t length(const struct span *s)
{
        return (size_t)(s->end - s->p);
}

static bool is(const struct span *s, const char *text)
{
        return length(s) == strlen(text) && memcmp(s->p, text, length(s)) == 0;
}

static bool take(struct span *s, const char *word)
{
        size_t n = strlen(word);

        if (length(s) < n || memcmp(s->p, word, n) != 0)
                return false;
        s->p += n;
        return true;
}

static bool take_number(struct span *s, uint32_t max, uint32_t *ret)
{
        const char *begin = s->p;
        uint64_t v = 0;

        for (; s->p < s->end && *s->p >= '0' && *s->p <= '9' && v <= max; s->p++)
                v = v * 10 + (uint64_t)(*s->p - '0');
        if (s->p == begin || v > max)
                return false;
        *ret = (uint32_t)v;
        return true;
}

/* --- /proc/devices */

/* "195 nvidia-frontend": a number of at least three places, and all that follows is the name. */
static bool read_driver(struct span line, struct sg_driver *ret)
{
        struct sg_driver d = {};
        uint32_t major;

        while (take(&line, " "))
                ;
        if (!take_number(&line, MAJOR_MAX, &major) || !take(&line, " ") || length(&line) == 0 ||
            length(&line) >= sizeof(d.name))
                return false;
        d.major = (int32_t)major;
        memcpy(d.name, line.p, length(&line));
        *ret = d;
        return true;
}

static size_t count_lines(const char *text, size_t n)
{
        size_t lines = 0;

        for (size_t i = 0; i < n; i++)
                lines += text[i] == '\n';
        return lines;
}

static int read_drivers(struct span text, struct sg_driver *drivers, size_t *n)
{
        struct span line;
        int r;

        r = next_line(&text, &line);
        if (r <= 0 || !is(&line, "Character devices:"))
                return -EBADMSG;
        while ((r = next_line(&text, &line)) > 0 && length(&line) > 0) {
                if (!read_driver(line, &drivers[*n]))
                        return -EBADMSG;
                (*n)++;
        }
        /* The end of the section is seen, so none of its lines is missing. */
        if (r > 0)
                r = next_line(&text, &line);
        return r > 0 && is(&line, "Block devices:") ? 0 : -EBADMSG;
}

int sg_gpu_devices_take_drivers(struct sg_gpu_devices *d, const char *text, size_t n)
{
        _cleanup_free_ struct sg_driver *drivers = NULL;
        size_t n_drivers = 0;
        int r;

        drivers = calloc(count_lines(text, n) + 1, sizeof(*drivers));
        if (!drivers)
                return -ENOMEM;
        r = read_drivers((struct span){text, text + n}, drivers, &n_drivers);
        if (r < 0)
                return r;
        free(d->drivers);
        d->drivers = TAKE_PTR(drivers);
        d->n_drivers = n_drivers;
        return 0;
}

/* --- mig-minors */

/* "gpu0/gi1/access 12", "gpu0/gi1/ci0/access 13". False: it is about something else. */
static bool take_instance(struct span *s, struct sg_mig_minor *ret)
{
        struct sg_mig_minor m = {.compute_instance = SG_MIG_NO_INSTANCE};
        const uint32_t max = SG_MIG_NO_INSTANCE - 1;

        if (!take(s, "gpu") || !take_number(s, max, &m.gpu) || !take(s, "/gi") ||
            !take_number(s, max, &m.gpu_instance) || !take(s, "/"))
                return false;
        if (take(s, "ci") && (!take_number(s, max, &m.compute_instance) || !take(s, "/")))
                return false;
        *ret = m;
        return take(s, "access");
}

/* 1: it is taken, 0: it is of nobody's GPU. */
static int read_minor(struct span line, struct sg_mig_minor *ret)
{
        struct sg_mig_minor m;
        uint32_t minor;
        struct span s = line;

        if (!take_instance(&s, &m))
                return 0;
        if (!take(&s, " ") || !take_number(&s, MINOR_MAX, &minor) || length(&s) > 0)
                return -EBADMSG;
        m.minor = (int32_t)minor;
        *ret = m;
        return 1;
}

int sg_gpu_devices_take_mig(struct sg_gpu_devices *d, const char *text, size_t n)
{
        _cleanup_free_ struct sg_mig_minor *mig = NULL;
        struct span all = {text, text + n}, line;
        size_t n_mig = 0;
        int r;

        mig = calloc(count_lines(text, n) + 1, sizeof(*mig));
        if (!mig)
                return -ENOMEM;
        while ((r = next_line(&all, &line)) > 0) {
                r = read_minor(line, &mig[n_mig]);
                if (r < 0)
                        return r;
                n_mig += (size_t)r;
        }
        if (r < 0)
                return r;
        free(d->mig);
        d->mig = TAKE_PTR(mig);
        d->n_mig = n_mig;
        return 0;
}

void sg_gpu_devices_deinit(struct sg_gpu_devices *d)
{
        free(d->drivers);
        free(d->mig);
        free(d->drm);
        *d = (struct sg_gpu_devices){0};
}
