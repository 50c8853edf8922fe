/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "image.h"

#include <math.h>

struct point {
        double x, y;
};

/* Corners of the display, and the segments between them. */
static const struct point corners[6] = {{5, 2}, {11, 2}, {5, 8}, {11, 8}, {5, 14}, {11, 14}};
static const unsigned char segments[7][2] = {{0, 1}, {2, 3}, {4, 5}, {0, 2},
                                             {1, 3}, {2, 4}, {3, 5}};
/* Bit by segment. */
static const unsigned char digits[10] = {0x7d, 0x50, 0x37, 0x57, 0x5a,
                                         0x4f, 0x6f, 0x51, 0x7f, 0x5f};

static double distance(struct point p, struct point a, struct point b)
{
        double dx = b.x - a.x, dy = b.y - a.y;
        double t = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (dx * dx + dy * dy + 1e-9);

        t = fmin(fmax(t, 0), 1);
        return hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

static void stroke(double *x, struct point a, struct point b, double width)
{
        for (size_t i = 0; i < IMAGE_SIZE; i++) {
                struct point p = {(double)(i % IMAGE_SIDE), (double)(i / IMAGE_SIDE)};
                double ink = 1.5 - distance(p, a, b) / width;

                x[i] = fmax(x[i], fmin(fmax(ink, 0), 1));
        }
}

size_t image_draw(struct sg_rng *rng, double *x)
{
        size_t digit = sg_rng_below(rng, 10);
        double left = sg_rng_between(rng, -1.5, 1.5), down = sg_rng_between(rng, -1, 1);
        double slant = sg_rng_between(rng, -.2, .2), width = sg_rng_between(rng, .7, 1.2);
        struct point bent[6];

        for (size_t i = 0; i < 6; i++) {
                bent[i].x =
                        corners[i].x + left + slant * (8 - corners[i].y) + .4 * sg_rng_normal(rng);
                bent[i].y = corners[i].y + down + .4 * sg_rng_normal(rng);
        }
        for (size_t i = 0; i < IMAGE_SIZE; i++)
                x[i] = 0;
        for (size_t i = 0; i < 7; i++)
                if (digits[digit] >> i & 1)
                        stroke(x, bent[segments[i][0]], bent[segments[i][1]], width);
        return digit;
}
