/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The first byte says in which pieces the rest comes, and whether somebody looks on. Whatever it
 * is, a terminal is told nothing but text and colours, of which none is left; and where nobody
 * looks on the pieces don't matter.
 */
#include "ctl/show/visible.c"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct screen {
        char *text;
        size_t size, allocated;
};

static void must(bool b)
{
        if (!b)
                abort();
}

static void on_put(const char *s, size_t n, void *userdata)
{
        struct screen *out = userdata;

        must(n > 0 && out->size + n < out->allocated);
        memcpy(out->text + out->size, s, n);
        out->size += n;
        out->text[out->size] = '\0';
}

/* Each byte becomes four at most; colours are taken back. */
static struct screen screen_for(size_t n)
{
        struct screen out = {.allocated = 6 * n + 16};

        out.text = calloc(1, out.allocated);
        must(out.text);
        return out;
}

static void check(const struct screen *out, bool live)
{
        const char *end = out->text + out->size, *last = NULL;

        for (const char *s = out->text; s < end;) {
                size_t n = sg_utf8_harmless(s, (size_t)(end - s));

                if (n == 0 && *s == '\x1b') {
                        n = colour_size(s, (size_t)(end - s));
                        must(n > 0);
                        last = s;
                }
                if (n == 0)
                        must(*s == '\n' || *s == '\t' || (live && *s == '\r'));
                s += n ?: 1;
        }
        must(!last || strcmp(last, "\x1b[0m") == 0);
}

static struct screen show(const char *s, size_t n, size_t piece, bool live)
{
        struct screen out = screen_for(n);
        struct sg_visible v = {.put = on_put, .userdata = &out, .live = live};

        for (size_t at = 0; at < n; at += piece) {
                sg_visible_write(&v, s + at, piece < n - at ? piece : n - at);
                if (live)
                        sg_visible_show(&v);
        }
        sg_visible_end(&v);
        check(&out, live);
        return out;
}

static void try_json(const char *s, size_t n)
{
        struct screen out = screen_for(n);
        char *json = strndup(s, n);

        must(json);
        sg_visible_json(json, on_put, &out);
        for (size_t i = 0, size; sg_utf8_is_valid(json, strlen(json)) && i < out.size; i += size) {
                size = sg_utf8_harmless(out.text + i, out.size - i);
                if (size == 0) /* which JSON doesn't have */
                        must(out.text[i] > 0 && out.text[i] < ' ');
                size = size ?: 1;
        }
        free(json);
        free(out.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *s = (const char *)data + 1;
        struct screen whole, pieces;
        bool live;

        if (size < 2)
                return 0;
        live = data[0] & 1;
        whole = show(s, size - 1, size, live);
        pieces = show(s, size - 1, data[0] / 2U + 1, live);
        if (!live)
                must(whole.size == pieces.size && memcmp(whole.text, pieces.text, whole.size) == 0);
        free(whole.text);
        free(pieces.text);
        try_json(s, size - 1);
        return 0;
}
