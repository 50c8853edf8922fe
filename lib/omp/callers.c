/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Libraries that are known to stand more than the rules for all. Each was read, and run for a
 * minute with an allocation that changed 20 times a second, with the results of a fixed run. Who
 * isn't here has its clauses obeyed, and is told the ceiling.
 */
#include "omp/omp-internal.h"

#include <dlfcn.h>
#include <string.h>

/* scikit-learn asks once per fit() and gives that to each region. These modules do nothing there
 * but share a loop, so that any number of threads does all of it. (Those of pairwise distances
 * merge what each thread has begun, and aren't here.) */
static const char *const narrowed[] = {
        "/sklearn/_loss/_loss.",
        "/sklearn/cluster/_k_means_common.",
        "/sklearn/cluster/_k_means_elkan.",
        "/sklearn/cluster/_k_means_lloyd.",
        "/sklearn/cluster/_k_means_minibatch.",
        "/sklearn/ensemble/_hist_gradient_boosting/_binning.",
        "/sklearn/ensemble/_hist_gradient_boosting/_gradient_boosting.",
        "/sklearn/ensemble/_hist_gradient_boosting/_predictor.",
        "/sklearn/ensemble/_hist_gradient_boosting/histogram.",
        "/sklearn/ensemble/_hist_gradient_boosting/splitting.",
        "/sklearn/ensemble/_hist_gradient_boosting/utils.",
};

static const char *library_of(const void *caller)
{
        Dl_info info;

        return dladdr(caller, &info) && info.dli_fname ? info.dli_fname : "";
}

bool sgo_may_be_narrowed(const void *caller)
{
        const char *library = library_of(caller);
        bool found = false;

        for (size_t i = 0; i < sizeof(narrowed) / sizeof(narrowed[0]) && !found; i++)
                found = strstr(library, narrowed[i]);
        return found;
}

/* As PyTorch uses it: made for so many threads, and run by so many at once. */
bool sgo_is_onednn(const void *caller)
{
        return strstr(library_of(caller), "/libdnnl.so.");
}
