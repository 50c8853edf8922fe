/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once
/*
 * Exact cases for the decisions of the core, from files of JSON (vectors.c). An algorithm is one
 * function and one line in vectors.c.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What the code makes of one case, in the shape in which the case says what it expects; NULL if the
 * case isn't one of this algorithm (vector_wrong). The caller owns it. */
typedef json_t *vector_run(const json_t *c);

vector_run vector_alg1, vector_alg2, vector_alg3, vector_alg4, vector_alg5, vector_deadline,
        vector_eq41_42, vector_fit, vector_fraction, vector_guard, vector_hesrpt,
        vector_milestone_index, vector_na_finish, vector_run_set, vector_shares, vector_size,
        vector_virtual_finish;

/* Something is missing in the case under way, or of the wrong kind; the first is what is told. */
void vector_wrong(const char *key, const char *what);
bool vector_is_wrong(void);

/* Of an object; they complain if there is none, the ones with a default only if it is no number. */
double vector_number(const json_t *o, const char *key);
double vector_number_or(const json_t *o, const char *key, double otherwise); /* null: that, too */
const char *vector_text(const json_t *o, const char *key);
const json_t *vector_array(const json_t *o, const char *key);
double *vector_numbers(const json_t *o, const char *key, size_t n);        /* n of them; free() */
size_t vector_index(const char *const *names, size_t n, const char *name); /* n: complains */

json_t *vector_real(double v); /* null if it is no finite number */
json_t *vector_reals(const double *v, size_t n);
