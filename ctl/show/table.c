/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See table.h. The unlocked stdio calls matter: ten thousand rows have ninety thousand cells. */

#include "ctl/show/table.h"
#include "proto/names.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define READABLE 3U /* times the least width of a column, which says less than a few words do */

static size_t find_column(const struct sg_column *all, size_t n, const char *name, size_t len)
{
        size_t i = 0;

        while (i < n && (strlen(all[i].name) != len || strncmp(all[i].name, name, len) != 0))
                i++;
        return i;
}

static int bad_column(const struct sg_column *all, size_t n, const char *name, size_t len,
                      struct sg_error *e)
{
        char known[256] = "";

        for (size_t i = 0, o = 0; i < n && o < sizeof(known); i++)
                o += (size_t)snprintf(known + o, sizeof(known) - o, "%s%s", i > 0 ? "," : "",
                                      all[i].name);
        return sg_error_set(e, SG_EXIT_OWN_FAILURE, "-o", NULL, "-o knows %s, not '%.*s'", known,
                            (int)len, name);
}

int sg_table_init(struct sg_table *t, const struct sg_column *all, size_t n_all, const char *list,
                  unsigned terminal, struct sg_error *e)
{
        struct sg_table new = {.all = all, .terminal = terminal};

        for (const char *p = list;; p++) {
                size_t len = strcspn(p, ","), i = find_column(all, n_all, p, len);

                if (i == n_all || new.n == SG_TABLE_MAX)
                        return bad_column(all, n_all, p, len, e);
                new.width[new.n] = (unsigned)len;
                new.shown[new.n++] = i;
                p += len;
                if (!*p)
                        break;
        }
        *t = new;
        return 0;
}

unsigned sg_text_width(const char *s)
{
        unsigned width = 0;

        for (; *s; s++)
                width += ((unsigned char)*s & 0xc0) != 0x80;
        return width;
}

void sg_table_measure(struct sg_table *t, size_t i, const char *cell)
{
        unsigned width = sg_text_width(cell);

        if (width > t->width[i])
                t->width[i] = width;
}

/* With what may be narrowed as wide as it has to be to be read. */
static unsigned readable_width(const struct sg_table *t)
{
        unsigned total = t->n > 0 ? (unsigned)(t->n - 1) * SG_TABLE_GAP : 0;

        for (size_t i = 0; i < t->n; i++) {
                unsigned least = t->all[t->shown[i]].least * READABLE;

                total += least > 0 && least < t->width[i] ? least : t->width[i];
        }
        return total;
}

static void drop_column(struct sg_table *t, const char *name, size_t len)
{
        for (size_t i = 0; i < t->n; i++) {
                const char *column = t->all[t->shown[i]].name;

                if (strncmp(column, name, len) != 0 || column[len])
                        continue;
                t->n--;
                memmove(&t->shown[i], &t->shown[i + 1], (t->n - i) * sizeof(t->shown[0]));
                memmove(&t->width[i], &t->width[i + 1], (t->n - i) * sizeof(t->width[0]));
                return;
        }
}

static void drop_columns(struct sg_table *t)
{
        for (const char *p = t->drop; p && *p && readable_width(t) > t->terminal;) {
                size_t len = strcspn(p, ",");

                drop_column(t, p, len);
                p += len + (p[len] == ',');
        }
}

void sg_table_fit(struct sg_table *t)
{
        unsigned total;

        if (t->terminal == 0)
                return;
        drop_columns(t);
        total = t->n > 0 ? (unsigned)(t->n - 1) * SG_TABLE_GAP : 0;
        for (size_t i = 0; i < t->n; i++)
                total += t->width[i];
        for (size_t i = t->n; i-- > 0 && total > t->terminal;) {
                unsigned least = t->all[t->shown[i]].least, excess = total - t->terminal, give;

                if (least == 0 || t->width[i] <= least)
                        continue;
                give = t->width[i] - least < excess ? t->width[i] - least : excess;
                t->width[i] -= give;
                total -= give;
        }
}

static void pad(unsigned n, FILE *f)
{
        static const char spaces[] = "                                ";

        for (; n >= sizeof(spaces); n -= (unsigned)sizeof(spaces) - 1)
                (void)fwrite_unlocked(spaces, 1, sizeof(spaces) - 1, f);
        (void)fwrite_unlocked(spaces, 1, n, f);
}

size_t sg_text_prefix(const char *s, unsigned n)
{
        size_t i = 0;

        for (; s[i]; i++)
                if (((unsigned char)s[i] & 0xc0) != 0x80 && n-- == 0)
                        break;
        return i;
}

void sg_table_print_cell(const struct sg_table *t, size_t i, const char *cell, const char *colour,
                         const char *plain, FILE *f)
{
        unsigned width = sg_text_width(cell), column = t->width[i];
        const struct sg_column *c = &t->all[t->shown[i]];
        bool last = i + 1 == t->n;
        bool cut = t->terminal > 0 && c->least > 0 && width > column;
        unsigned shown = cut ? column : width;

        if (c->right && shown < column)
                pad(column - shown, f);
        (void)fputs_unlocked(colour, f);
        if (cut) {
                (void)fwrite_unlocked(cell, 1, sg_text_prefix(cell, column - 1), f);
                (void)fputs_unlocked("…", f);
        } else {
                (void)fputs_unlocked(cell, f);
        }
        if (*colour)
                (void)fputs_unlocked(plain, f);
        if (last)
                (void)putc_unlocked('\n', f);
        else
                pad((!c->right && shown < column ? column - shown : 0) + SG_TABLE_GAP, f);
}

void sg_table_print_heading(const struct sg_table *t, FILE *f)
{
        for (size_t i = 0; i < t->n; i++) {
                const char *name = t->all[t->shown[i]].name;
                char heading[32];
                size_t k = 0;

                for (; k < sizeof(heading) - 1 && name[k]; k++)
                        heading[k] = (char)toupper((unsigned char)name[k]);
                heading[k] = '\0';
                sg_table_print_cell(t, i, heading, "", "", f);
        }
}

const char *sg_table_duration(char *buf, size_t size, uint64_t usec)
{
        uint64_t s = usec / 1000000, d = s / 86400;
        unsigned h = (unsigned)(s / 3600 % 24), m = (unsigned)(s / 60 % 60);
        unsigned left = (unsigned)(s % 60);

        if (d > 0)
                (void)snprintf(buf, size, "%" PRIu64 "-%02u:%02u:%02u", d, h, m, left);
        else if (h > 0)
                (void)snprintf(buf, size, "%u:%02u:%02u", h, m, left);
        else if (m > 0)
                (void)snprintf(buf, size, "%u:%02u", m, left);
        else if (s > 0)
                (void)snprintf(buf, size, "%u.%us", left, (unsigned)(usec / 100000 % 10));
        else
                (void)snprintf(buf, size, "%ums", (unsigned)(usec / 1000));
        return buf;
}
