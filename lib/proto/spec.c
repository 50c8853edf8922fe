/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The spec record. A scalar that comes twice has its last value, lists grow in order. What decoding
 * can't fill stays at a harmless value: no uid (−1), a umask of 022.
 */

#include "proto/spec.h"
#include <errno.h>
#include <limits.h>
#include <string.h>

#define NOBODY_YET UINT32_MAX /* (uid_t)−1: no process can have it */

/* A list under construction; grows by doubling, so that its capacity needs no field. */
struct strings {
        char **items;
        size_t n;
};

struct decoder {
        struct sg_spec spec;
        struct strings argv, env, env_force, env_default;
};

/* Makes room for one more element behind n; full exactly when n is a power of two (or 0). */
static int grow(void **array, size_t n, size_t element)
{
        void *p;

        if (n & (n - 1))
                return 0;
        if (n > SIZE_MAX / 2 / element)
                return -ENOMEM;
        p = realloc(*array, (n ? n * 2 : 1) * element);
        if (!p)
                return -ENOMEM;
        *array = p;
        return 0;
}

static int strings_add(struct strings *l, const struct sg_field *f)
{
        void *array = l->items;
        char *s = NULL;
        int r;

        r = sg_field_strdup(f, &s);
        if (r < 0)
                return r;
        /* One more than the strings: the terminating NULL. */
        r = grow(&array, l->n + 1, sizeof(char *));
        if (r < 0) {
                free(s);
                return r;
        }
        l->items = array;
        l->items[l->n++] = s;
        l->items[l->n] = NULL;
        return 0;
}

static int assignments_add(struct strings *l, const struct sg_field *f)
{
        const uint8_t *equals = memchr(f->data, '=', f->size);

        if (!equals || equals == f->data)
                return -EBADMSG;
        return strings_add(l, f);
}

static int take_id(const struct sg_field *f, uint32_t *ret)
{
        uint64_t v;
        int r;

        r = sg_field_u64(f, &v);
        if (r < 0)
                return r;
        if (v >= NOBODY_YET)
                return -EBADMSG;
        *ret = (uint32_t)v;
        return 0;
}

static int take_umask(const struct sg_field *f, mode_t *ret)
{
        uint64_t v;
        int r;

        r = sg_field_u64(f, &v);
        if (r < 0)
                return r;
        if (v > 0777)
                return -EBADMSG;
        *ret = (mode_t)v;
        return 0;
}

static int take_group(struct sg_spec *s, const struct sg_field *f)
{
        void *array = s->groups;
        gid_t gid;
        int r;

        if (s->n_groups >= NGROUPS_MAX)
                return -EBADMSG;
        r = take_id(f, &gid);
        if (r < 0)
                return r;
        r = grow(&array, s->n_groups, sizeof(gid_t));
        if (r < 0)
                return r;
        s->groups = array;
        s->groups[s->n_groups++] = gid;
        return 0;
}

static int take_rlimit(struct sg_spec *s, const struct sg_field *f)
{
        void *array = s->rlimits;
        uint64_t v[3];
        int r;

        if (f->size != sizeof(v))
                return -EBADMSG;
        memcpy(v, f->data, sizeof(v));
        if (v[0] >= RLIM_NLIMITS || v[1] > v[2])
                return -EBADMSG;
        r = grow(&array, s->n_rlimits, sizeof(struct sg_rlimit));
        if (r < 0)
                return r;
        s->rlimits = array;
        s->rlimits[s->n_rlimits++] = (struct sg_rlimit){
                .resource = (int)v[0],
                .limit = {.rlim_cur = v[1], .rlim_max = v[2]},
        };
        return 0;
}

static int take_script(struct sg_spec *s, const struct sg_field *f)
{
        void *copy = malloc(f->size + 1);

        if (!copy)
                return -ENOMEM;
        memcpy(copy, f->data, f->size);
        ((char *)copy)[f->size] = '\0';
        free(s->script);
        s->script = copy;
        s->script_size = f->size;
        return 0;
}

static int add_dir(struct sg_spec *s, enum sg_hier hier, char *path)
{
        void *array = s->dirs;
        int r;

        r = grow(&array, s->n_dirs, sizeof(struct sg_group_dir));
        if (r < 0) {
                free(path);
                return r;
        }
        s->dirs = array;
        s->dirs[s->n_dirs++] = (struct sg_group_dir){.hier = hier, .path = path};
        return 0;
}

int sg_spec_add_dir(struct sg_spec *s, enum sg_hier hier, const char *path)
{
        char *copy = strdup(path);

        return copy ? add_dir(s, hier, copy) : -ENOMEM;
}

static int take_group_dir(struct sg_spec *s, const struct sg_field *f)
{
        char *path = NULL;
        int r;

        if (f->size < 2 || f->data[0] >= SG_HIER_MAX || f->data[1] != '/')
                return -EBADMSG;
        r = sg_field_strdup(&(struct sg_field){f->tag, f->data + 1, f->size - 1}, &path);
        return r < 0 ? r : add_dir(s, (enum sg_hier)f->data[0], path);
}

static int take_submitted(struct decoder *d, const struct sg_field *f)
{
        struct sg_spec *s = &d->spec;

        switch (f->tag) {
        case SG_SPEC_UID:
                return take_id(f, &s->uid);
        case SG_SPEC_GID:
                return take_id(f, &s->gid);
        case SG_SPEC_GROUP:
                return take_group(s, f);
        case SG_SPEC_UMASK:
                return take_umask(f, &s->umask);
        case SG_SPEC_RLIMIT:
                return take_rlimit(s, f);
        case SG_SPEC_ARG:
                return strings_add(&d->argv, f);
        case SG_SPEC_ENV:
                /* As submitted: an environment may hold strings that are no assignment. */
                return strings_add(&d->env, f);
        case SG_SPEC_SCRIPT:
                return take_script(s, f);
        case SG_SPEC_WORKDIR:
                return sg_field_strdup(f, &s->workdir);
        case SG_SPEC_OUTPUT:
                return sg_field_strdup(f, &s->output);
        case SG_SPEC_ERROR:
                return sg_field_strdup(f, &s->error);
        case SG_SPEC_ON_END:
                return sg_field_strdup(f, &s->on_end);
        default:
                return 0;
        }
}

static int take_launch(struct decoder *d, const struct sg_field *f)
{
        struct sg_spec *s = &d->spec;

        switch (f->tag) {
        case SG_SPEC_GROUP_DIR:
                return take_group_dir(s, f);
        case SG_SPEC_ENV_FORCE:
                return assignments_add(&d->env_force, f);
        case SG_SPEC_ENV_DEFAULT:
                return assignments_add(&d->env_default, f);
        case SG_SPEC_LOG:
                return sg_field_strdup(f, &s->log);
        case SG_SPEC_LOG_MAX:
                return sg_field_u64(f, &s->log_max);
        case SG_SPEC_LOG_KEEP:
                return sg_field_u64(f, &s->log_keep);
        case SG_SPEC_CPU_AFFINITY:
                return sg_field_strdup(f, &s->cpu_affinity);
        case SG_SPEC_AWAITS_PLACE:
                s->awaits_place = true;
                return 0;
        case SG_SPEC_SCRIPT_FILE:
                return sg_field_strdup(f, &s->script_file);
        default:
                return 0;
        }
}

static int decode(struct decoder *d, struct sg_reader reader)
{
        struct sg_field f;
        int r;

        while ((r = sg_reader_next(&reader, &f)) > 0) {
                r = f.tag < SG_SPEC_GROUP_DIR ? take_submitted(d, &f) : take_launch(d, &f);
                if (r < 0)
                        return r;
        }
        return r;
}

bool sg_spec_is_kept(uint16_t tag)
{
        switch (tag) {
        case SG_SPEC_ARG:
        case SG_SPEC_SCRIPT:
        case SG_SPEC_WORKDIR:
        case SG_SPEC_ON_END:
        case SG_SPEC_OPTION:
                return true;
        default:
                return false;
        }
}

int sg_spec_decode(struct sg_spec *ret, const void *data, size_t size)
{
        struct decoder d = {.spec = {.uid = NOBODY_YET, .gid = NOBODY_YET, .umask = 022}};
        int r;

        r = decode(&d, sg_reader_init(data, size));
        d.spec.argv = d.argv.items;
        d.spec.env = d.env.items;
        d.spec.env_force = d.env_force.items;
        d.spec.env_default = d.env_default.items;
        if (r < 0) {
                sg_spec_deinit(&d.spec);
                return r;
        }
        *ret = d.spec;
        return 0;
}

void sg_spec_deinit(struct sg_spec *s)
{
        free(s->groups);
        free(s->rlimits);
        sg_strv_free(s->argv);
        sg_strv_free(s->env);
        sg_strv_free(s->env_force);
        sg_strv_free(s->env_default);
        free(s->script);
        free(s->workdir);
        free(s->output);
        free(s->error);
        free(s->on_end);
        for (size_t i = 0; i < s->n_dirs; i++)
                free(s->dirs[i].path);
        free(s->dirs);
        free(s->log);
        free(s->cpu_affinity);
        free(s->script_file);
        memset(s, 0, sizeof(*s));
}
