/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* Arrays of structs that begin with an int, sorted by it. */

#include <stddef.h>
#include <string.h>

/* Where the first with that key or a greater one is; n if there is none. */
static inline size_t sg_sorted_place(const void *array, size_t n, size_t size, int key)
{
        size_t low = 0, high = n;

        while (low < high) {
                size_t mid = low + (high - low) / 2;
                int there;

                memcpy(&there, (const char *)array + mid * size, sizeof(there));
                if (there < key)
                        low = mid + 1;
                else
                        high = mid;
        }
        return low;
}
