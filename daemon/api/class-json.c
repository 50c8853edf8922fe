/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a class says, as its policy file would: what is written here can be read back. */
#include "api/internal.h"
#include "base/time-util.h"
#include "base/utf8.h"
#include "core/queue/order.h"
#include "core/settings/table.h"
#include <inttypes.h>
#include <string.h>

#define FILE_LINE_MAX 4096U /* of a file */
#define LINE_WRAP 1000U

/* A file may hold what JSON may not. */
json_t *sg_json_text(const char *s)
{
        char line[FILE_LINE_MAX];

        (void)snprintf(line, sizeof(line), "%s", s);
        sg_utf8_clean(line, strlen(line));
        return json_string(line);
}

/* A line; more of them, where it would be long. */
static json_t *words_new(char *const *list)
{
        json_t *lines = json_array(), *only;
        char line[FILE_LINE_MAX] = "";

        for (size_t n = 0; *list; n = strlen(line), list++) {
                if (n > 0 && n + strlen(*list) > LINE_WRAP) {
                        (void)json_array_append_new(lines, sg_json_text(line));
                        n = 0;
                }
                (void)snprintf(line + n, sizeof(line) - n, "%s%s", n > 0 ? " " : "", *list);
        }
        (void)json_array_append_new(lines, sg_json_text(line));
        if (json_array_size(lines) > 1)
                return lines;
        only = json_incref(json_array_get(lines, 0));
        json_decref(lines);
        return only;
}

static json_t *lines_new(char *const *list)
{
        json_t *a = json_array();

        for (; *list; list++)
                (void)json_array_append_new(a, sg_json_text(*list));
        return a;
}

/* Not rounded, as people are told values. */

static void exact_bytes(char buf[SG_FORMAT_MAX], uint64_t v)
{
        static const char units[] = "\0KMGT";
        unsigned unit = 0;

        while (v > 0 && v % 1024 == 0 && unit + 2 < sizeof(units)) {
                v /= 1024;
                unit++;
        }
        (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64 "%.1s", v, &units[unit]);
}

static void exact_usec(char buf[SG_FORMAT_MAX], uint64_t v)
{
        static const struct {
                uint64_t usec;
                const char *name;
        } units[] = {{24 * 3600 * SG_USEC_PER_SEC, "d"},
                     {3600 * SG_USEC_PER_SEC, "h"},
                     {60 * SG_USEC_PER_SEC, "min"},
                     {SG_USEC_PER_SEC, "s"},
                     {1, "us"}};
        size_t n = 0;

        for (size_t i = 0; i < SG_ELEMENTSOF(units); i++) {
                if (v < units[i].usec)
                        continue;
                n += (size_t)snprintf(buf + n, SG_FORMAT_MAX - n, "%s%" PRIu64 "%s",
                                      n > 0 ? " " : "", v / units[i].usec, units[i].name);
                v %= units[i].usec;
        }
}

static void exact(char buf[SG_FORMAT_MAX], enum sg_limit_unit unit, uint64_t v)
{
        if (v == SG_UNLIMITED)
                strcpy(buf, "infinity");
        else if (unit == SG_UNIT_TIME)
                exact_usec(buf, v);
        else if (unit == SG_UNIT_BYTES || unit == SG_UNIT_SWAP || unit == SG_UNIT_RATE)
                exact_bytes(buf, v);
        else
                (void)sg_limit_format(buf, unit, v);
}

bool sg_class_given(const struct sg_class *c, const struct sg_limit *k, char buf[SG_FORMAT_MAX])
{
        uint64_t v = sg_limit_of(&c->limits, k);
        size_t n;

        if (!k->document || v == k->unset)
                return false;
        exact(buf, k->unit, v);
        n = strlen(buf);
        if (k->kind == SG_LIMIT_CPUSET && c->limits.cpus_max > v)
                (void)snprintf(buf + n, SG_FORMAT_MAX - n, "-%" PRIu64, c->limits.cpus_max);
        return true;
}

bool sg_class_gives_gpus(const struct sg_class *c, char buf[SG_FORMAT_MAX])
{
        const struct sg_gpu_request *q = &c->gpus.given;

        if (q->min == 0)
                return false;
        (void)sg_gpus_format(buf, q->min, q->max, q->share);
        return true;
}

bool sg_class_gives_gpu_memory(const struct sg_class *c, char buf[SG_FORMAT_MAX])
{
        exact(buf, SG_UNIT_BYTES, c->gpus.given.memory_bytes);
        return c->gpus.given.memory_bytes != SG_UNLIMITED;
}

static void put_gpus(json_t *o, const struct sg_class *c)
{
        const struct sg_class_gpus *g = &c->gpus;
        char value[SG_FORMAT_MAX];

        if (sg_class_gives_gpus(c, value))
                (void)json_object_set_new(o, "Gpus", json_string(value));
        if (sg_class_gives_gpu_memory(c, value))
                (void)json_object_set_new(o, "GpuMemory", json_string(value));
        if (g->idle_usec != SG_UNLIMITED) {
                exact(value, SG_UNIT_TIME, g->idle_usec);
                (void)json_object_set_new(o, "GpuIdleLimit",
                                          json_sprintf("%s%s", value, g->idle_ends ? " end" : ""));
        }
        if (g->max != SG_UNLIMITED)
                (void)json_object_set_new(o, "MaxGpus", json_sprintf("%" PRIu64, g->max));
}

bool sg_class_allowed(const struct sg_class *c, const struct sg_limit *k, char buf[SG_FORMAT_MAX])
{
        uint64_t v = sg_limit_of(&c->limits_max, k);

        if (!k->document || v == SG_UNLIMITED)
                return false;
        exact(buf, k->unit, v);
        return true;
}

/* Its sections */

static json_t *match_section(const struct sg_class *c)
{
        json_t *o = json_object();

        if (c->match_user)
                (void)json_object_set_new(o, "User", words_new(c->match_user));
        if (c->match_group)
                (void)json_object_set_new(o, "Group", words_new(c->match_group));
        if (c->match_command)
                (void)json_object_set_new(o, "Command", lines_new(c->match_command));
        if (c->gpus.match != SG_GPU_MATCH_ANY)
                (void)json_object_set_new(
                        o, "Gpu", json_string(c->gpus.match == SG_GPU_MATCH_YES ? "yes" : "no"));
        return o;
}

static void put_number(json_t *o, const char *key, uint64_t v)
{
        if (v != SG_UNLIMITED)
                (void)json_object_set_new(o, key, json_sprintf("%" PRIu64, v));
}

static json_t *class_section(const struct sg_class *c)
{
        json_t *o = json_object();

        (void)json_object_set_new(o, "Name", json_string(c->name));
        put_number(o, "Weight", c->weight);
        put_number(o, "MaxJobs", c->max_jobs);
        put_number(o, "MaxJobsPerUser", c->max_jobs_per_user);
        put_number(o, "MaxGpusPerUser", c->gpus.max_per_user);
        (void)json_object_set_new(o, "Threads",
                                  json_string(sg_threads_to_string(c->limits.threads)));
        return o;
}

static void put_devices(json_t *o, const struct sg_class *c)
{
        json_t *a = json_array();

        if (c->device_closed)
                (void)json_object_set_new(o, "DevicePolicy", json_string("closed"));
        for (size_t i = 0; i < c->n_devices; i++)
                (void)json_array_append_new(
                        a, json_sprintf("%s %s", c->devices[i].path, c->devices[i].access));
        if (c->n_devices > 0)
                (void)json_object_set(o, "DeviceAllow", a);
        json_decref(a);
}

static json_t *limits_section(const struct sg_class *c)
{
        json_t *o = json_object();
        char value[SG_FORMAT_MAX], key[64];

        for (size_t i = 0; i < sg_n_limits; i++)
                if (sg_class_given(c, &sg_limit_table[i], value))
                        (void)json_object_set_new(o, sg_limit_table[i].class_key,
                                                  json_string(value));
        for (size_t i = 0; i < sg_n_limits; i++) {
                if (!sg_class_allowed(c, &sg_limit_table[i], value))
                        continue;
                (void)snprintf(key, sizeof(key), "Max%s", sg_limit_table[i].class_key);
                (void)json_object_set_new(o, key, json_string(value));
        }
        put_gpus(o, c);
        put_devices(o, c);
        return o;
}

/* Of those that can be changed while jobs run. */
static void put_share(json_t *o, const struct sg_class *c)
{
        char value[SG_FORMAT_MAX];

        for (const struct sg_settings_key *k = sg_settings_keys; k->section; k++) {
                json_t *section;

                if (!sg_settings_key_is_share(k) || !sg_settings_key_format(k, c, value))
                        continue;
                section = json_object_get(o, k->section);
                if (!section) {
                        section = json_object();
                        (void)json_object_set_new(o, k->section, section);
                }
                (void)json_object_set_new(section, k->key, json_string(value));
        }
}

/* Without those in which nothing is said. */
static void put_section(json_t *o, const char *name, json_t *section)
{
        if (json_object_size(section) > 0)
                (void)json_object_set(o, name, section);
        json_decref(section);
}

json_t *sg_json_class_settings(const struct sg_class *c)
{
        json_t *o = json_object();

        put_section(o, "Match", match_section(c));
        put_section(o, "Class", class_section(c));
        put_section(o, "Limits", limits_section(c));
        put_section(o, "Policy",
                    json_pack("{s:s,s:s}", "Order", sg_order_policies[c->order]->name, "Backfill",
                              c->backfill ? "yes" : "no"));
        put_share(o, c);
        return o;
}

json_t *sg_json_class_commands(const struct sg_class *c)
{
        return c->match_command ? lines_new(c->match_command) : json_array();
}
