/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See svg.h. */

#include "ctl/show/svg.h"
#include "base/utf8.h"
#include <errno.h>
#include <string.h>

static int cannot_write(const char *path, struct sg_error *e)
{
        char what[256];

        (void)snprintf(what, sizeof(what), "cannot write %.200s", path);
        return sg_error_errno(e, -errno, what);
}

FILE *sg_svg_open(const char *path, struct sg_error *e)
{
        FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");

        if (!f)
                (void)cannot_write(path, e);
        return f;
}

int sg_svg_close(FILE *f, const char *path, struct sg_error *e)
{
        bool failed = ferror(f) != 0;

        if (f == stdout) /* is looked at when all is done */
                return 0;
        return fclose(f) != 0 || failed ? cannot_write(path, e) : 0;
}

/* Characters that XML doesn't have are left out: control characters have no form in it at all. */
static void put_text(const char *s, FILE *f)
{
        size_t left = strlen(s), n;

        for (; left > 0; s += n, left -= n) {
                n = sg_utf8_size(s, left);
                if (n == 0 || (n == 1 && (unsigned char)*s < 0x20)) {
                        (void)fputc('?', f);
                        n = n > 0 ? n : 1;
                } else if (*s == '&') {
                        (void)fputs("&amp;", f);
                } else if (*s == '<') {
                        (void)fputs("&lt;", f);
                } else if (*s == '>') {
                        (void)fputs("&gt;", f);
                } else {
                        (void)fwrite(s, 1, n, f);
                }
        }
}

void sg_svg_text(double x, double y, const char *class, const char *s, FILE *f)
{
        (void)fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
        put_text(s, f);
        (void)fputs("</text>\n", f);
}

void sg_svg_begin(int width, int height, const char *title, const char *style, FILE *f)
{
        (void)fprintf(f,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                      "viewBox=\"0 0 %d %d\">\n<title>",
                      width, height, width, height);
        put_text(title, f);
        (void)fprintf(f,
                      "</title>\n<style>"
                      "text{font:12px sans-serif;fill:#333}.heading{font-size:16px}"
                      ".y{text-anchor:end}.x{text-anchor:middle}"
                      ".grid{stroke:#ddd;fill:none}"
                      "%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                      style);
}
