/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What drawings have in common. */

#include "ctl/line/error.h"
#include <stdio.h>

/* In pixels. */
#define SG_SVG_WIDTH 800
#define SG_SVG_RIGHT 20
#define SG_SVG_TOP 40

/* "-" is stdout. NULL: described in e. */
FILE *sg_svg_open(const char *path, struct sg_error *e);
int sg_svg_close(FILE *f, const char *path, struct sg_error *e);

/* The head of a drawing, up to its first line; style: what is its own of CSS. */
void sg_svg_begin(int width, int height, const char *title, const char *style, FILE *f);
void sg_svg_text(double x, double y, const char *class, const char *s, FILE *f);
