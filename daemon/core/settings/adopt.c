/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Patterns are compared component by component, so that the walk needs to look only into the
 * directories that lie on a pattern's path. Units are looked for where systemd keeps them: below
 * directories that are slices.
 */

#include "core/settings/adopt.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#define COMPONENTS_MAX 32U
/* machine.slice/machine-x.slice/unit, user.slice/user-1.slice/session-1.scope: deeper trees of
 * slices are somebody's own. */
#define UNIT_DEPTH_MAX 4U
#define SLICE_SUFFIX ".slice"
#define OWN_PREFIX "schedgov-"
/* The IDs of containers and of units without a name of their own have 32 or 64 digits. So many of
 * them podman and Docker show, too. */
#define ID_DIGITS 32U
#define ID_SHOWN 12U

struct component {
        const char *text;
        size_t size;
};

/* A path taken apart; too deep a path is cut, and fits nothing. */
struct path {
        struct component list[COMPONENTS_MAX];
        size_t n;
        bool too_deep;
};

static struct path split(const char *s)
{
        struct path p = {.n = 0};

        while (*s) {
                size_t size;

                s += strspn(s, "/");
                size = strcspn(s, "/");
                if (size == 0)
                        break;
                if (p.n == COMPONENTS_MAX) {
                        p.too_deep = true;
                        break;
                }
                p.list[p.n++] = (struct component){s, size};
                s += size;
        }
        return p;
}

static bool is(const struct component *c, const char *word)
{
        return strlen(word) == c->size && memcmp(c->text, word, c->size) == 0;
}

static bool ends_with(const struct component *c, const char *suffix)
{
        size_t n = strlen(suffix);

        return c->size > n && memcmp(c->text + c->size - n, suffix, n) == 0;
}

static bool starts_with(const struct component *c, const char *prefix)
{
        size_t n = strlen(prefix);

        return c->size >= n && memcmp(c->text, prefix, n) == 0;
}

/* --- units */

static bool is_unit(const struct component *c)
{
        return ends_with(c, ".scope") || ends_with(c, ".service");
}

/* Scopes of jobs that we started, slices' holders, the daemon and its launcher. */
static bool is_own(const struct component *c)
{
        return starts_with(c, OWN_PREFIX) || is(c, "schedgovd.service");
}

static bool unit_char(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c != '\0' && strchr(":-_.\\@", c));
}

bool sg_adopt_unit_valid(const char *s)
{
        struct component c = {s, strlen(s)};

        if (c.size >= SG_UNIT_NAME_MAX || !is_unit(&c))
                return false;
        for (const char *p = s; *p; p++)
                if (!unit_char(*p))
                        return false;
        return true;
}

/* As cg_unescape(): "_io.scope" is the group of "io.scope". */
static bool unit_name(const struct component *c, char ret[SG_UNIT_NAME_MAX])
{
        size_t skip = c->text[0] == '_';

        if (!is_unit(c) || c->size - skip >= SG_UNIT_NAME_MAX)
                return false;
        memcpy(ret, c->text + skip, c->size - skip);
        ret[c->size - skip] = '\0';
        return sg_adopt_unit_valid(ret);
}

bool sg_adopt_unit_of(const char *path, char ret[SG_UNIT_NAME_MAX])
{
        struct path p = split(path);

        return p.n > 0 && !p.too_deep && unit_name(&p.list[p.n - 1], ret);
}

/* --- patterns */

bool sg_adopt_pattern_valid(const char *pattern)
{
        struct path p = split(pattern);
        size_t stars = 0, size = 0;

        if (pattern[0] != '/' || p.n == 0 || p.too_deep)
                return false;
        for (size_t i = 0; i < p.n; i++) {
                stars += is(&p.list[i], "**");
                size += 1 + p.list[i].size;
                if (is(&p.list[i], ".") || is(&p.list[i], ".."))
                        return false;
        }
        return stars <= 1 && size == strlen(pattern); /* else a component is empty */
}

static bool component_fits(const struct component *pattern, const struct component *c)
{
        char a[SG_UNIT_NAME_MAX], b[SG_UNIT_NAME_MAX];

        if (pattern->size >= sizeof(a) || c->size >= sizeof(b))
                return false;
        memcpy(a, pattern->text, pattern->size);
        a[pattern->size] = '\0';
        memcpy(b, c->text, c->size);
        b[c->size] = '\0';
        return fnmatch(a, b, 0) == 0;
}

static bool run_fits(const struct component *pattern, const struct component *c, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!component_fits(&pattern[i], &c[i]))
                        return false;
        return true;
}

/* Behind "**" at the end a slice is never a job, but may hold some. */
static unsigned fits_stars(const struct path *pattern, size_t stars, const struct path *p)
{
        size_t behind = pattern->n - stars - 1;
        unsigned look = SG_LOOK_INSIDE;

        if (p->n < stars + behind || (behind == 0 && p->n <= stars))
                return look;
        if (behind == 0)
                return ends_with(&p->list[p->n - 1], SLICE_SUFFIX) ? look : SG_LOOK_AT;
        return run_fits(&pattern->list[stars + 1], &p->list[p->n - behind], behind) ? SG_LOOK_AT
                                                                                    : look;
}

static unsigned pattern_look(const char *text, const struct path *p)
{
        struct path pattern = split(text);
        size_t stars = 0, n;

        while (stars < pattern.n && !is(&pattern.list[stars], "**"))
                stars++;
        n = p->n < stars ? p->n : stars;
        if (!run_fits(pattern.list, p->list, n))
                return 0;
        if (p->n < stars)
                return SG_LOOK_INSIDE;
        if (stars < pattern.n)
                return fits_stars(&pattern, stars, p);
        return p->n == pattern.n ? SG_LOOK_AT : 0;
}

/* --- where things are */

/* How much of p lies below `slice`: 1 and the depth, 0 on the way to it, −1 elsewhere. */
static int below(const char *slice, const struct path *p, size_t *ret_depth)
{
        struct path s = split(slice);
        size_t n = p->n < s.n ? p->n : s.n;

        for (size_t i = 0; i < n; i++)
                if (p->list[i].size != s.list[i].size ||
                    memcmp(p->list[i].text, s.list[i].text, s.list[i].size) != 0)
                        return -1;
        if (p->n < s.n)
                return 0;
        *ret_depth = p->n - s.n;
        return 1;
}

static unsigned own_look(const struct path *p, size_t depth)
{
        const struct component *last = &p->list[p->n - 1];
        char unit[SG_UNIT_NAME_MAX];

        if (depth == 0)
                return SG_LOOK_INSIDE;
        if (depth > UNIT_DEPTH_MAX)
                return 0;
        for (size_t i = p->n - depth; i + 1 < p->n; i++)
                if (!ends_with(&p->list[i], SLICE_SUFFIX))
                        return 0;
        if (ends_with(last, SLICE_SUFFIX))
                return depth < UNIT_DEPTH_MAX ? SG_LOOK_INSIDE : 0;
        return unit_name(last, unit) && !is_own(last) ? SG_LOOK_AT : 0;
}

static unsigned units_look(const struct sg_class *c, const struct path *p)
{
        char unit[SG_UNIT_NAME_MAX];

        if (!c->adopt_units || p->n > UNIT_DEPTH_MAX)
                return 0;
        for (size_t i = 0; i + 1 < p->n; i++)
                if (!ends_with(&p->list[i], SLICE_SUFFIX))
                        return 0;
        if (p->n == 0 || (p->n < UNIT_DEPTH_MAX && ends_with(&p->list[p->n - 1], SLICE_SUFFIX)))
                return SG_LOOK_INSIDE;
        if (!unit_name(&p->list[p->n - 1], unit))
                return 0;
        for (char *const *pattern = c->adopt_units; *pattern; pattern++)
                if (fnmatch(*pattern, unit, 0) == 0)
                        return SG_LOOK_AT;
        return 0;
}

static unsigned class_look(const struct sg_class *c, const struct path *p)
{
        unsigned look = units_look(c, p);

        for (char *const *pattern = c->adopt_cgroups; pattern && *pattern; pattern++)
                look |= pattern_look(*pattern, p);
        return look;
}

/* Also on the way: a group of ours may hold a daemon's groups below. */
static bool is_ours(const struct path *p)
{
        for (size_t i = 0; i < p->n; i++)
                if (is_own(&p->list[i]))
                        return true;
        return false;
}

static unsigned outside_look(const struct sg_settings *s, const struct path *p,
                             const struct sg_class **ret_class)
{
        unsigned look = 0;

        if (is_ours(p))
                return 0;
        for (size_t i = 0; i < s->n_classes; i++) { /* "default" comes last */
                const struct sg_class *c = &s->classes[(i + 1) % s->n_classes];
                unsigned wanted = class_look(c, p);

                look |= wanted;
                if (!(wanted & SG_LOOK_AT))
                        continue;
                if (ret_class)
                        *ret_class = c;
                return SG_LOOK_AT;
        }
        return look;
}

unsigned sg_adopt_look(const struct sg_adopt_rules *rules, const char *path)
{
        struct path p = split(path);
        size_t depth;
        int where;

        if (p.too_deep)
                return 0;
        where = rules->slice ? below(rules->slice, &p, &depth) : -1;
        if (where > 0)
                return own_look(&p, depth);
        return outside_look(rules->settings, &p, NULL) | (where == 0 ? SG_LOOK_INSIDE : 0);
}

/* --- classes */

static int hex(char c)
{
        return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* As systemd-escape(1) writes it: "\x2d" stands for "-". How much of s the character takes. */
static size_t unescape(const char *s, const char *end, char *ret)
{
        bool escaped =
                end - s >= 4 && s[0] == '\\' && s[1] == 'x' && hex(s[2]) >= 0 && hex(s[3]) >= 0;
        char c = (char)(escaped ? hex(s[2]) << 4 | hex(s[3]) : s[0]);

        *ret = c > ' ' && c < 0x7f ? c : '_';
        return escaped ? 4 : 1;
}

/* "schedgov-best\x2deffort.slice" is of the class "best-effort"; "schedgov-.slice" of none. */
static bool class_of_slice(const struct component *c, char ret[SG_CLASS_NAME_MAX])
{
        const char *s = c->text, *end = c->text + c->size - strlen(SLICE_SUFFIX);
        size_t n = 0;

        s += starts_with(c, OWN_PREFIX) ? strlen(OWN_PREFIX) : 0;
        if (s >= end)
                return false;
        while (s < end && n + 1 < SG_CLASS_NAME_MAX)
                s += unescape(s, end, &ret[n++]);
        ret[n] = '\0';
        return true;
}

static void classify_own(const struct sg_settings *s, const struct path *p, size_t depth,
                         struct sg_adoptee *a)
{
        strcpy(a->class, sg_settings_default(s)->name);
        if (depth > 1)
                (void)class_of_slice(&p->list[p->n - depth], a->class);
        a->policy = sg_settings_class_or_default(s, a->class);
        a->how = SG_ADOPTED_GOVERNED;
}

int sg_adopt_classify(const struct sg_adopt_rules *rules, const char *path, struct sg_adoptee *ret)
{
        struct path p = split(path);
        struct sg_adoptee a = {.policy = NULL};
        size_t depth = 0;

        if (p.too_deep || p.n == 0 || !(sg_adopt_look(rules, path) & SG_LOOK_AT))
                return 0;
        if (!unit_name(&p.list[p.n - 1], a.unit))
                a.unit[0] = '\0';
        if (rules->slice && below(rules->slice, &p, &depth) > 0) {
                classify_own(rules->settings, &p, depth, &a);
        } else {
                (void)outside_look(rules->settings, &p, &a.policy);
                strcpy(a.class, a.policy->name);
                a.how = a.policy->adopt_limits && a.unit[0] && rules->slice ? SG_ADOPTED_LIMITED
                                                                            : SG_ADOPTED_OBSERVED;
        }
        *ret = a;
        return 1;
}

bool sg_adopt_class_slice(const struct sg_adopt_rules *rules, const char *path,
                          char ret[SG_CLASS_NAME_MAX])
{
        struct path p = split(path);
        size_t depth = 0;

        if (p.too_deep || !rules->slice || below(rules->slice, &p, &depth) <= 0 || depth != 2)
                return false;
        return class_of_slice(&p.list[p.n - 2], ret);
}

/* --- limits */

static uint64_t least(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

void sg_adopt_limits(const struct sg_class *c, const struct sg_limits *now, struct sg_limits *ret)
{
        struct sg_limits l = *now;

        for (size_t i = 0; i < sg_n_limits; i++) {
                const struct sg_limit *k = &sg_limit_table[i];
                uint64_t has = sg_limit_of(now, k), given = sg_limit_of(&c->limits, k);
                uint64_t most = sg_limit_of(&c->limits_max, k);

                if (k->kind == SG_LIMIT_CPUSET) /* nobody asks it how many it uses */
                        continue;
                if (k->kind == SG_LIMIT_TASKS) /* each unit has one, by DefaultTasksMax= */
                        most = least(most, given);
                *sg_limit_at(&l, k) = has == k->unset ? given : least(has, most);
        }
        *ret = l;
}

/* --- words */

static size_t hex_digits(const char *s, const char *end)
{
        size_t n = 0;

        while (s + n < end && hex(s[n]) >= 0)
                n++;
        return n;
}

void sg_adopt_name(const char *path, char ret[SG_JOB_NAME_MAX])
{
        char unit[SG_UNIT_NAME_MAX];
        struct path p = split(path);
        const char *s = p.n > 0 ? p.list[p.n - 1].text : "";
        size_t size = p.n > 0 ? p.list[p.n - 1].size : 0, n = 0;

        if (sg_adopt_unit_of(path, unit)) {
                s = unit;
                size = (size_t)(strrchr(unit, '.') - unit);
        }
        for (const char *end = s + size; s < end && n + 1 < SG_JOB_NAME_MAX;) {
                size_t digits = hex_digits(s, end);

                if (digits < ID_DIGITS) {
                        s += unescape(s, end, &ret[n++]);
                        continue;
                }
                for (size_t i = 0; i < ID_SHOWN && n + 1 < SG_JOB_NAME_MAX; i++)
                        ret[n++] = s[i];
                s += digits;
        }
        ret[n] = '\0';
}

bool sg_adopt_no_class(const struct sg_settings *s, const char *class,
                       char ret[SG_ADOPT_NO_CLASS_MAX])
{
        const char *near;

        if (sg_settings_class(s, class))
                return false;
        near = sg_settings_nearest_class(s, class);
        (void)snprintf(ret, SG_ADOPT_NO_CLASS_MAX, "there is no class '%s': governed as '%s'%s%s%s",
                       class, sg_settings_default(s)->name, near ? "; did you mean '" : "",
                       near ?: "", near ? "'?" : "");
        return true;
}

const char *sg_adopt_owner(const char *path)
{
        static const struct {
                const char *part, *owner;
        } owners[] = {
                {"slurmstepd", "Slurm"}, {"/slurm", "Slurm"},  {"kubepods", "Kubernetes"},
                {"libpod", "podman"},    {"docker", "Docker"}, {"cri-containerd", "containerd"},
                {"crio-", "CRI-O"},      {"/lxc", "LXC"},      {"htcondor", "HTCondor"},
        };
        char unit[SG_UNIT_NAME_MAX];

        for (size_t i = 0; i < SG_ELEMENTSOF(owners); i++)
                if (strstr(path, owners[i].part))
                        return owners[i].owner;
        return sg_adopt_unit_of(path, unit) ? "systemd" : "who made its group";
}
