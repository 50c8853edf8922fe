/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/* What a job prints of its progress, in the manner of a framework; and what it says that isn't so,
 * for tests of whoever believes it. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum style { STYLE_PYTORCH, STYLE_KERAS, STYLE_TQDM, STYLE_PLAIN, _STYLE_MAX };
enum claim {
        CLAIM_TRUTH,
        CLAIM_NOTHING, /* prints nothing at all */
        CLAIM_NAN,     /* no loss is a number */
        CLAIM_NEAR,    /* always nearly done: at nine tenths when it begins */
        CLAIM_STALL,   /* after the first quarter always at the same place */
        CLAIM_BACK,    /* goes backwards */
        _CLAIM_MAX,
};
extern const char *const style_names[_STYLE_MAX], *const claim_names[_CLAIM_MAX];

struct say {
        FILE *out;
        enum style style;
        enum claim claim;
        bool accuracy; /* says that, too, where there is one */
        uint64_t epochs, batches;
        uint64_t epoch; /* keras: the one whose head was printed */
};

struct said {
        uint64_t done; /* updates, of epochs × batches; from 1 */
        double loss, accuracy;
        double elapsed; /* seconds */
};

void say(struct say *s, struct said r);
