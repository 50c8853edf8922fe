/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "model.h"

#include <string.h>

const struct model *const models[] = {
        &model_vae, &model_mlp, &model_gru, &model_lstm, &model_birnn, NULL,
};

const struct model *model_find(const char *name)
{
        for (const struct model *const *m = models; *m; m++)
                if (strcmp((*m)->name, name) == 0)
                        return *m;
        return NULL;
}
