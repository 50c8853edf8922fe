/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * usage: vectors DIR
 *
 * Runs the cases of DIR's files, each an array, by the algorithm that the file is named after; one
 * of unknown name fails. What the code makes of a case is compared with what the case expects,
 * wherever both say something; reals to a millionth. Prints a line for each case that doesn't hold,
 * and last "N passed, N failed".
 */
#include "tests/unit/vectors/vectors.h"
#include "base/cleanup.h"

#include <dirent.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#define TOLERANCE 1e-6
#define ZERO 1e-9 /* what is nothing, next to seconds and parts of a node */

static const struct {
        const char *file;
        vector_run *run;
} algorithms[] = {
        {"alg1.json", vector_alg1},
        {"alg2.json", vector_alg2},
        {"alg3.json", vector_alg3},
        {"alg4.json", vector_alg4},
        {"alg5.json", vector_alg5},
        {"deadline.json", vector_deadline},
        {"eq41_42.json", vector_eq41_42},
        {"fit.json", vector_fit},
        {"fraction.json", vector_fraction},
        {"guard.json", vector_guard},
        {"hesrpt.json", vector_hesrpt},
        {"milestone_index.json", vector_milestone_index},
        {"na_finish.json", vector_na_finish},
        {"run_set.json", vector_run_set},
        {"shares.json", vector_shares},
        {"size.json", vector_size},
        {"virtual_finish.json", vector_virtual_finish},
};

static char problem[512]; /* of the case under way */
static size_t compared;

__attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
        va_list ap;

        if (problem[0])
                return;
        va_start(ap, format);
        vsnprintf(problem, sizeof(problem), format, ap);
        va_end(ap);
}

/* --- reading --- */

void vector_wrong(const char *key, const char *what)
{
        fail("'%s': %s", key, what);
}

bool vector_is_wrong(void)
{
        return problem[0] != '\0';
}

double vector_number_or(const json_t *o, const char *key, double otherwise)
{
        const json_t *v = json_object_get(o, key);

        if (!v || json_is_null(v))
                return otherwise;
        if (!json_is_number(v))
                vector_wrong(key, "is no number");
        return json_number_value(v);
}

double vector_number(const json_t *o, const char *key)
{
        if (!json_object_get(o, key))
                vector_wrong(key, "is missing");
        return vector_number_or(o, key, NAN);
}

const char *vector_text(const json_t *o, const char *key)
{
        const char *s = json_string_value(json_object_get(o, key));

        if (!s)
                vector_wrong(key, "is missing, or no text");
        return s ? s : "";
}

const json_t *vector_array(const json_t *o, const char *key)
{
        const json_t *v = json_object_get(o, key);

        if (!json_is_array(v))
                vector_wrong(key, "is missing, or no array");
        return v;
}

double *vector_numbers(const json_t *o, const char *key, size_t n)
{
        const json_t *array = vector_array(o, key);
        double *v = calloc(n + 1, sizeof(*v));

        if (!v)
                abort();
        if (json_array_size(array) != n)
                vector_wrong(key, "has another length");
        for (size_t i = 0; i < n; i++) {
                if (!json_is_number(json_array_get(array, i)))
                        vector_wrong(key, "has something that is no number");
                v[i] = json_number_value(json_array_get(array, i));
        }
        return v;
}

size_t vector_index(const char *const *names, size_t n, const char *name)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(names[i], name) == 0)
                        return i;
        vector_wrong(name, "is none of the known names");
        return n;
}

json_t *vector_real(double v)
{
        return isfinite(v) ? json_real(v) : json_null();
}

json_t *vector_reals(const double *v, size_t n)
{
        json_t *array = json_array();

        for (size_t i = 0; i < n; i++)
                json_array_append_new(array, vector_real(v[i]));
        return array;
}

/* --- comparing --- */

static bool same_number(double a, double b)
{
        return fabs(a - b) <= fmax(TOLERANCE * fmax(fabs(a), fabs(b)), ZERO);
}

static void differ(const char *where, const json_t *want, const json_t *got)
{
        _cleanup_free_ char *w = json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT);
        _cleanup_free_ char *g = json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT);

        fail("%s: %s expected, %s computed", where, w ? w : "?", g ? g : "?");
}

static void compare(const char *where, const json_t *want, const json_t *got);

static void compare_arrays(const char *where, const json_t *want, const json_t *got)
{
        char inner[256];
        json_t *v;
        size_t i;

        if (json_array_size(want) != json_array_size(got)) {
                differ(where, want, got);
                return;
        }
        compared++; /* an empty one says something, too */
        json_array_foreach (want, i, v) {
                snprintf(inner, sizeof(inner), "%s[%zu]", where, i);
                compare(inner, v, json_array_get(got, i));
        }
}

static bool same_keys(const json_t *a, const json_t *b)
{
        const char *key;
        json_t *v;

        json_object_foreach ((json_t *)a, key, v) {
                if (!json_object_get(b, key))
                        return false;
        }
        return json_object_size(a) == json_object_size(b);
}

/* Keys that one of them doesn't have are none of our business: notes, or not of interest. But not
 * where keys are jobs of which some may have gone. */
static void compare_objects(const char *where, const json_t *want, const json_t *got)
{
        char inner[256];
        size_t length = strlen(where);
        const char *key;
        json_t *v;

        if (length >= 5 && strcmp(where + length - 5, "known") == 0 && !same_keys(want, got))
                differ(where, want, got);
        json_object_foreach ((json_t *)got, key, v) {
                const json_t *expected = json_object_get(want, key);

                snprintf(inner, sizeof(inner), "%s%s%s", where, where[0] ? "." : "", key);
                if (expected)
                        compare(inner, expected, v);
        }
}

static void compare(const char *where, const json_t *want, const json_t *got)
{
        if (json_is_number(want) && json_is_number(got)) {
                compared++;
                if (!same_number(json_number_value(want), json_number_value(got)))
                        differ(where, want, got);
        } else if (json_typeof(want) != json_typeof(got)) {
                differ(where, want, got);
        } else if (json_is_array(want)) {
                compare_arrays(where, want, got);
        } else if (json_is_object(want)) {
                compare_objects(where, want, got);
        } else {
                compared++;
                if (!json_equal(want, got))
                        differ(where, want, got);
        }
}

/* --- running --- */

static bool holds(vector_run *run, const json_t *c)
{
        json_t *got;

        problem[0] = '\0';
        compared = 0;
        if (!json_is_object(c)) {
                fail("is no object");
                return false;
        }
        got = run(c);
        if (!problem[0])
                compare("", c, got);
        if (!problem[0] && compared == 0)
                fail("it expects nothing that is known");
        json_decref(got);
        return !problem[0];
}

static const char *name_of(const json_t *c, size_t i, char *buf, size_t size)
{
        const char *name = json_string_value(json_object_get(c, "name"));

        snprintf(buf, size, "%zu", i);
        return name ? name : buf;
}

struct count {
        size_t passed, failed;
};

static void run_cases(const char *file, vector_run *run, const json_t *cases, struct count *n)
{
        char number[32];
        json_t *c;
        size_t i;

        json_array_foreach (cases, i, c) {
                if (holds(run, c)) {
                        n->passed++;
                        continue;
                }
                n->failed++;
                printf("%s %s: %s\n", file, name_of(c, i, number, sizeof(number)), problem);
        }
}

static vector_run *algorithm_of(const char *file)
{
        for (size_t i = 0; i < SG_ELEMENTSOF(algorithms); i++)
                if (strcmp(algorithms[i].file, file) == 0)
                        return algorithms[i].run;
        return NULL;
}

static void run_file(const char *dir, const char *file, struct count *n)
{
        vector_run *run = algorithm_of(file);
        _cleanup_free_ char *path = NULL;
        json_error_t e = {.text = "no case in it"};
        json_t *cases;

        if (asprintf(&path, "%s/%s", dir, file) < 0)
                abort();
        if (!run) {
                printf("%s: no algorithm of this name\n", file);
                n->failed++;
                return;
        }
        cases = json_load_file(path, JSON_REJECT_DUPLICATES, &e);
        if (json_array_size(cases) == 0) {
                printf("%s: %s\n", file, cases ? "no case in it" : e.text);
                n->failed++;
        }
        run_cases(file, run, cases, n);
        json_decref(cases);
}

static int visible(const struct dirent *d)
{
        return d->d_name[0] != '.';
}

int main(int argc, char **argv)
{
        struct dirent **files = NULL;
        struct count n = {0};
        int n_files;

        if (argc != 2) {
                fprintf(stderr, "usage: vectors DIR\n");
                return 2;
        }
        n_files = scandir(argv[1], &files, visible, alphasort);
        if (n_files < 0)
                fprintf(stderr, "%s: %m\n", argv[1]);
        for (int i = 0; i < n_files; i++) {
                run_file(argv[1], files[i]->d_name, &n);
                free(files[i]);
        }
        free(files);
        printf("%zu passed, %zu failed\n", n.passed, n.failed);
        return n.failed == 0 && n.passed > 0 ? 0 : 1;
}
