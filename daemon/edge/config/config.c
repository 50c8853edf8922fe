/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which files are read, and in which order: of each name the one in the directory of the highest
 * precedence; schedgov.conf first, then schedgov.conf.d/, then policy.d/, each sorted by name. A
 * file that is empty or /dev/null hides those of its name and says nothing itself.
 */

#include "edge/config/config.h"
#include "base/file.h"
#include "edge/config/internal.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define FILES_MAX 1000U /* in one kind of drop-in directory */

#define DIRECTORIES_MAX 3U

struct entry {
        char *name, *path;
};

struct entries {
        struct entry *items;
        size_t n;
};

struct loader {
        char *directories[DIRECTORIES_MAX]; /* the one of highest precedence first */
        size_t n_directories;
        struct sg_settings *settings;
        struct sg_config_errors *errors;
        FILE *merged; /* NULL = not wanted */
        sg_config_check_fn check;
};

static void entries_deinit(struct entries *e)
{
        for (size_t i = 0; i < e->n; i++) {
                free(e->items[i].name);
                free(e->items[i].path);
        }
        free(e->items);
        *e = (struct entries){};
}

static bool entries_have(const struct entries *e, const char *name)
{
        for (size_t i = 0; i < e->n; i++)
                if (strcmp(e->items[i].name, name) == 0)
                        return true;
        return false;
}

static int entries_add(struct entries *e, const char *dir, const char *name)
{
        _cleanup_free_ char *n = strdup(name), *p = NULL;
        struct entry *grown;
        char *path;

        if (!n || asprintf(&path, "%s/%s", dir, name) < 0)
                return -ENOMEM;
        p = path;
        grown = realloc(e->items, (e->n + 1) * sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        e->items = grown;
        e->items[e->n++] = (struct entry){.name = TAKE_PTR(n), .path = TAKE_PTR(p)};
        return 0;
}

static int compare_entries(const void *a, const void *b)
{
        return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* As root we obey these files: whoever may write them must be root. What to do, or NULL. */
static const char *check_owner(const struct stat *st)
{
        if (geteuid() != 0)
                return NULL;
        if (st->st_uid != 0)
                return "doesn't belong to root: chown root it, if its content can be trusted";
        if (st->st_mode & S_IWOTH)
                return "is writable by everybody: chmod o-w it, if its content can be trusted";
        return NULL;
}

static bool has_suffix(const char *name, const char *suffix)
{
        size_t n = strlen(name), m = strlen(suffix);

        return n > m && name[0] != '.' && strcmp(name + n - m, suffix) == 0;
}

static int scan_entries(struct loader *l, struct entries *e, DIR *d, const char *path,
                        const char *suffix)
{
        const struct dirent *de;
        int r;

        for (errno = 0; (de = readdir(d)); errno = 0) {
                if (!has_suffix(de->d_name, suffix) || entries_have(e, de->d_name))
                        continue;
                if (e->n >= FILES_MAX)
                        return sg_config_error(l->errors, path, 0,
                                               "holds more than %u files of *%s", FILES_MAX,
                                               suffix);
                r = entries_add(e, path, de->d_name);
                if (r < 0)
                        return r;
        }
        return errno == 0 ? 0 : sg_config_error(l->errors, path, 0, "cannot be read: %m");
}

/* Adds the files of one directory that none of higher precedence hides. */
static int scan_directory(struct loader *l, struct entries *e, const char *path, const char *suffix)
{
        _cleanup_closedir_ DIR *d = opendir(path);
        const char *what;
        struct stat st;

        if (!d)
                return errno == ENOENT
                               ? 0
                               : sg_config_error(l->errors, path, 0, "cannot be opened: %m");
        if (fstat(dirfd(d), &st) < 0)
                return -errno;
        what = check_owner(&st);
        if (what)
                return sg_config_error(l->errors, path, 0, "%s", what);
        return scan_entries(l, e, d, path, suffix);
}

static int scan_dropins(struct loader *l, struct entries *e, const char *subdirectory,
                        const char *suffix)
{
        for (size_t i = 0; i < l->n_directories; i++) {
                _cleanup_free_ char *path = NULL;
                char *s;
                int r;

                if (asprintf(&s, "%s/%s", l->directories[i], subdirectory) < 0)
                        return -ENOMEM;
                path = s;
                r = scan_directory(l, e, path, suffix);
                if (r < 0)
                        return r;
        }
        if (e->n > 0)
                qsort(e->items, e->n, sizeof(*e->items), compare_entries);
        return 0;
}

/* Finds the schedgov.conf of the highest precedence; a broken link counts, and is then an error. */
static int scan_main(struct loader *l, struct entries *e)
{
        for (size_t i = 0; i < l->n_directories && e->n == 0; i++) {
                _cleanup_free_ char *path = NULL;
                const char *dir = l->directories[i];
                struct stat st;
                char *s;
                int r;

                if (asprintf(&s, "%s/schedgov.conf", dir) < 0)
                        return -ENOMEM;
                path = s;
                if (lstat(path, &st) < 0) {
                        if (errno != ENOENT)
                                return sg_config_error(l->errors, path, 0, "cannot be read: %m");
                        continue;
                }
                r = entries_add(e, dir, "schedgov.conf");
                if (r < 0)
                        return r;
        }
        return 0;
}

static int read_all(int fd, size_t max, char **ret, size_t *ret_size)
{
        _cleanup_free_ char *data = malloc(max + 1);
        size_t n = 0;

        if (!data)
                return -ENOMEM;
        while (n <= max) {
                ssize_t r = read(fd, data + n, max + 1 - n);

                if (r < 0 && errno == EINTR)
                        continue;
                if (r < 0)
                        return -errno;
                if (r == 0)
                        break;
                n += (size_t)r;
        }
        *ret = TAKE_PTR(data);
        *ret_size = n;
        return 0;
}

/*
 * 1 and the content, or 0: there is nothing to read, because the file masks, or because an error
 * was noted. Opening never waits for a FIFO's writer.
 */
static int read_config(struct loader *l, const char *path, char **ret, size_t *ret_size)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        _cleanup_free_ char *data = NULL;
        const char *what;
        struct stat st;
        size_t size = 0;
        int r;

        if (fd < 0)
                return sg_config_error(l->errors, path, 0, "cannot be opened: %m");
        if (fstat(fd, &st) < 0)
                return -errno;
        if (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
                return 0;
        if (!S_ISREG(st.st_mode))
                return sg_config_error(l->errors, path, 0,
                                       "is not a regular file: remove it, or link it to /dev/null "
                                       "to hide others of its name");
        what = check_owner(&st);
        if (what)
                return sg_config_error(l->errors, path, 0, "%s", what);
        if (st.st_size > SG_CONFIG_FILE_MAX)
                return sg_config_error(l->errors, path, 0, "is larger than 1 MiB");
        r = read_all(fd, SG_CONFIG_FILE_MAX, &data, &size);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return sg_config_error(l->errors, path, 0, "cannot be read: %s", strerror(-r));
        if (size > SG_CONFIG_FILE_MAX)
                return sg_config_error(l->errors, path, 0, "is larger than 1 MiB");
        *ret = TAKE_PTR(data);
        *ret_size = size;
        return size > 0;
}

static int load_node_file(struct loader *l, struct sg_config_origins *origins, const char *path)
{
        _cleanup_free_ char *data = NULL;
        struct sg_config_text text = {.path = path,
                                      .settings = l->settings,
                                      .errors = l->errors,
                                      .origins = origins,
                                      .check = l->check};
        unsigned line;
        int r;

        r = read_config(l, path, &data, &text.size);
        if (r <= 0)
                return r;
        text.data = data;
        return sg_config_text(&text, &line);
}

static int load_node(struct loader *l)
{
        _cleanup_(entries_deinit) struct entries files = {}, dropins = {};
        _cleanup_(sg_config_origins_deinit) struct sg_config_origins origins = {};
        int r;

        r = scan_main(l, &files);
        if (r < 0)
                return r;
        r = scan_dropins(l, &dropins, "schedgov.conf.d", ".conf");
        if (r < 0)
                return r;
        for (size_t i = 0; i < files.n + dropins.n; i++) {
                r = load_node_file(l, &origins,
                                   i < files.n ? files.items[i].path
                                               : dropins.items[i - files.n].path);
                if (r < 0)
                        return r;
        }
        if (l->merged)
                sg_config_origins_print(&origins, "conf", true, l->merged);
        return 0;
}

/* Where the key was written that a complaint about the class begins with, "[Section] Key=". */
static unsigned line_at_fault(const struct sg_config_origins *o, const char *why,
                              unsigned otherwise)
{
        for (size_t i = 0; i < o->n; i++) {
                const struct sg_settings_key *k = o->items[i].key;
                char name[128];
                int n = snprintf(name, sizeof(name), "[%s] %s=", k->section, k->key);

                if (strncmp(why, name, (size_t)n) == 0)
                        return o->items[i].line;
        }
        return otherwise;
}

/* Parses and validates; the class goes into the settings only if its file has no error. */
static int load_class(struct loader *l, struct sg_config_text *text)
{
        size_t errors_before = l->errors->n;
        _cleanup_(sg_class_freep) struct sg_class *c = NULL;
        _cleanup_free_ char *why = NULL;
        unsigned name_line;
        int r;

        r = sg_settings_class_begin(l->settings, text->path, &c);
        if (r < 0)
                return r;
        text->class = c;
        r = sg_config_text(text, &name_line);
        if (r < 0 || l->errors->n > errors_before)
                return r;
        r = sg_settings_class_end(l->settings, TAKE_PTR(c), &why);
        if (r == -EINVAL && why)
                return sg_config_error(l->errors, text->path,
                                       line_at_fault(text->origins, why, name_line), "%s", why);
        return r;
}

static int load_policy(struct loader *l, const char *path)
{
        _cleanup_(sg_config_origins_deinit) struct sg_config_origins origins = {};
        _cleanup_free_ char *data = NULL;
        struct sg_config_text text = {.path = path,
                                      .settings = l->settings,
                                      .errors = l->errors,
                                      .origins = &origins,
                                      .check = l->check};
        int r;

        r = read_config(l, path, &data, &text.size);
        if (r <= 0)
                return r;
        text.data = data;
        r = load_class(l, &text);
        if (r >= 0)
                r = sg_config_note_names(l->errors, &origins);
        if (r < 0)
                return r;
        if (l->merged) {
                fprintf(l->merged, "\n# class from %s\n", path);
                sg_config_origins_print(&origins, "policy", false, l->merged);
        }
        return 0;
}

static int load_policies(struct loader *l)
{
        _cleanup_(entries_deinit) struct entries files = {};
        int r;

        r = scan_dropins(l, &files, "policy.d", ".policy");
        for (size_t i = 0; r >= 0 && i < files.n; i++)
                r = load_policy(l, files.items[i].path);
        return r;
}

/* Who can rename in these can replace every file below. */
static int check_directories(struct loader *l)
{
        for (size_t i = 0; i < l->n_directories; i++) {
                const char *path = l->directories[i], *what;
                struct stat st;
                int r;

                what = stat(path, &st) == 0 ? check_owner(&st) : NULL;
                r = what ? sg_config_error(l->errors, path, 0, "%s", what) : 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

static int load_all(struct loader *l)
{
        size_t errors_before = l->errors->n;
        int r;

        r = check_directories(l);
        if (r < 0)
                return r;
        r = load_node(l);
        if (r < 0)
                return r;
        r = load_policies(l);
        if (r < 0)
                return r;
        return l->errors->n > errors_before ? -EINVAL : 0;
}

static int load_nothing(struct loader *l)
{
        const struct sg_config_origins none = {};

        if (l->merged)
                sg_config_origins_print(&none, "conf", true, l->merged);
        return 0;
}

static int add_directory(struct loader *l, const char *root, const char *path)
{
        if (asprintf(&l->directories[l->n_directories], "%s%s", root, path) < 0)
                return -ENOMEM;
        l->n_directories++;
        return 0;
}

/* What the host's administrator says is for the host's governor. */
static int find_directories(struct loader *l, const struct sg_config_place *place)
{
        int r;

        if (place->home)
                r = add_directory(l, place->root, place->home);
        else
                r = add_directory(l, place->root, "/etc/schedgov");
        if (r >= 0 && !place->home)
                r = add_directory(l, place->root, "/run/schedgov");
        return r < 0 ? r : add_directory(l, place->root, "/usr/lib/schedgov");
}

static int load(struct loader *l, const struct sg_config_place *place)
{
        int r;

        if (!place->root)
                return load_nothing(l);
        r = find_directories(l, place);
        if (r >= 0)
                r = load_all(l);
        for (size_t i = 0; i < l->n_directories; i++)
                free(l->directories[i]);
        return r;
}

int sg_config_load(const struct sg_settings **ret, const struct sg_config_place *place,
                   const char *hostname, struct sg_config_errors *errors, char **ret_merged)
{
        _cleanup_(sg_settings_freep) struct sg_settings *s = NULL;
        _cleanup_free_ char *merged = NULL;
        struct loader l = {.errors = errors, .check = place->check};
        size_t size;
        int r;

        r = sg_settings_new(&s, hostname);
        if (r < 0)
                return r;
        l.settings = s;
        if (ret_merged) {
                l.merged = open_memstream(&merged, &size);
                if (!l.merged)
                        return -ENOMEM;
        }
        r = load(&l, place);
        if (l.merged && fclose(l.merged) != 0 && r >= 0)
                r = -ENOMEM;
        if (r < 0)
                return r;
        if (ret_merged)
                *ret_merged = TAKE_PTR(merged);
        *ret = TAKE_PTR(s);
        return 0;
}
