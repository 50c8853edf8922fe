/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/learn/programs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct sg_program {
        struct sg_program_key key;
        uint64_t used; /* the larger, the later */
        struct sg_past past;
};

void sg_programs_deinit(struct sg_programs *p)
{
        free(p->all);
        *p = (struct sg_programs){};
}

static struct sg_program *find(const struct sg_programs *p, const struct sg_program_key *key)
{
        for (size_t i = 0; i < p->n; i++) {
                const struct sg_program_key *k = &p->all[i].key;

                if (k->program == key->program && k->uid == key->uid &&
                    strcmp(k->class, key->class) == 0)
                        return &p->all[i];
        }
        return NULL;
}

const struct sg_past *sg_programs_find(struct sg_programs *p, const struct sg_program_key *key)
{
        struct sg_program *found = find(p, key);

        if (!found)
                return NULL;
        found->used = ++p->used;
        return &found->past;
}

static size_t count_of(const struct sg_programs *p, uint32_t uid)
{
        size_t n = 0;

        for (size_t i = 0; i < p->n; i++)
                n += p->all[i].key.uid == uid;
        return n;
}

static bool is_better_gone(const struct sg_programs *p, size_t a, size_t b)
{
        size_t of_a = count_of(p, p->all[a].key.uid), of_b = count_of(p, p->all[b].key.uid);

        return of_a != of_b ? of_a > of_b : p->all[a].used < p->all[b].used;
}

/* Drops the program that was used longest ago: of one user, or (NULL) of the user who has most. */
static void drop_one(struct sg_programs *p, const uint32_t *uid)
{
        size_t worst = p->n;

        for (size_t i = 0; i < p->n; i++)
                if ((!uid || p->all[i].key.uid == *uid) &&
                    (worst == p->n || is_better_gone(p, i, worst)))
                        worst = i;
        p->all[worst] = p->all[--p->n];
}

static int append(struct sg_programs *p, const struct sg_program *program)
{
        struct sg_program *grown;

        if (count_of(p, program->key.uid) >= SG_PROGRAMS_PER_USER)
                drop_one(p, &program->key.uid);
        else if (p->n >= SG_PROGRAMS_MOST)
                drop_one(p, NULL);
        grown = reallocarray(p->all, p->n + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        p->all = grown;
        p->all[p->n++] = *program;
        return 0;
}

int sg_programs_add(struct sg_programs *p, const struct sg_program_key *key,
                    const struct sg_pace *shown)
{
        struct sg_program *known = find(p, key), program = {.key = *key};

        if (!sg_past_add(known ? &known->past : &program.past, shown))
                return 0;
        program.used = ++p->used;
        if (known)
                known->used = p->used;
        return known ? 0 : append(p, &program);
}

static void code_program(struct sg_record_codec *c, struct sg_program *p)
{
        sg_record_codec_u32(c, &p->key.uid, UINT32_MAX);
        sg_record_codec_u64(c, &p->key.program);
        sg_record_codec_u64(c, &p->used);
        sg_past_code(&p->past, c);
}

enum { TAG_CLASS = 1, TAG_NUMBERS = 2 };

void sg_programs_save(const struct sg_programs *p, struct sg_record *r, uint16_t tag)
{
        struct sg_record_codec c = {.out = r};

        for (size_t i = 0; i < p->n; i++) {
                struct sg_program program = p->all[i];
                size_t whole = sg_record_open(r, tag), numbers;

                sg_record_put_str(r, TAG_CLASS, program.key.class);
                numbers = sg_record_open(r, TAG_NUMBERS);
                code_program(&c, &program);
                sg_record_close(r, numbers);
                sg_record_close(r, whole);
        }
}

static int load_field(struct sg_program *p, const struct sg_field *f)
{
        struct sg_record_codec c = {.p = f->data, .end = f->data + f->size};

        if (f->tag == TAG_CLASS)
                return sg_field_strcpy(f, p->key.class, sizeof(p->key.class));
        if (f->tag != TAG_NUMBERS)
                return 0;
        code_program(&c, p);
        return sg_record_codec_end(&c);
}

int sg_programs_load(struct sg_programs *p, const struct sg_field *f)
{
        struct sg_reader in = sg_reader_init(f->data, f->size);
        struct sg_program program = {};
        struct sg_field field;
        int r;

        while ((r = sg_reader_next(&in, &field)) > 0) {
                r = load_field(&program, &field);
                if (r < 0)
                        return r;
        }
        if (r < 0 || program.key.program == 0 || find(p, &program.key))
                return -EBADMSG;
        if (program.used > p->used)
                p->used = program.used;
        return append(p, &program);
}
