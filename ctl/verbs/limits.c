/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limits: what applies to who asks. */

#include "base/cleanup.h"
#include "base/format.h"
#include "base/utf8.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define TEXT_MAX 1024

/* null is no limit. */
static uint64_t number(const json_t *o, const char *key)
{
        double v = sg_document_number(o, key);

        return isnan(v) ? UINT64_MAX : (uint64_t)v;
}

/* "2 of 100000", "2" */
static const char *count(char buf[SG_FORMAT_MAX], uint64_t now, uint64_t max)
{
        if (max == UINT64_MAX)
                (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64, now);
        else
                (void)snprintf(buf, SG_FORMAT_MAX, "%" PRIu64 " of %" PRIu64, now, max);
        return buf;
}

static void show_user(const json_t *doc)
{
        const json_t *queued = json_object_get(doc, "queued"),
                     *stored = json_object_get(doc, "stored");
        char user[TEXT_MAX], waiting[SG_FORMAT_MAX], bytes[SG_FORMAT_MAX], max[SG_FORMAT_MAX];

        (void)printf("%s%s%s: %s jobs waiting, %s of %s stored", sg_colour(SG_BOLD),
                     sg_utf8_escape(sg_document_word(doc, "user"), user, sizeof(user)),
                     sg_colour(SG_PLAIN),
                     count(waiting, number(queued, "own"), number(queued, "max_own")),
                     sg_format_bytes(bytes, number(stored, "bytes")),
                     sg_format_bytes(max, number(stored, "max_bytes")));
        (void)printf("; the node has %" PRIu64 " slots\n", number(doc, "max_jobs"));
}

static void show_commands(const json_t *class)
{
        char text[TEXT_MAX];
        json_t *v;
        size_t i;

        (void)printf("takes your commands like ");
        json_array_foreach (json_object_get(class, "commands"), i, v)
                (void)printf("%s%s", i > 0 ? " or " : "",
                             sg_utf8_escape(json_string_value(v) ?: "", text, sizeof(text)));
}

/* Which of one's jobs are of this class. */
static void show_whose(const json_t *class)
{
        const char *name = sg_document_word(class, "name"),
                   *takes = sg_document_word(class, "takes");
        char text[TEXT_MAX];

        if (!json_is_true(json_object_get(class, "yours")))
                (void)printf(
                        "not for you, its policy says %s",
                        sg_utf8_escape(sg_document_word(class, "why_not"), text, sizeof(text)));
        else if (strcmp(takes, "commands") == 0)
                show_commands(class);
        else if (strcmp(takes, "gpus") == 0 || strcmp(takes, "cpus") == 0)
                (void)printf("takes your jobs %s GPUs", *takes == 'g' ? "with" : "without");
        else if (*takes)
                (void)printf("takes %s", strcmp(name, "default") == 0 ? "what no other class takes"
                                                                      : "all your jobs");
        else
                (void)printf("only with --class %s", name);
}

static void show_running(const json_t *class)
{
        const json_t *running = json_object_get(class, "running");
        uint64_t max_own = number(running, "max_own"), max_all = number(running, "max_all");
        uint64_t all = number(running, "all");
        char buf[SG_FORMAT_MAX];

        if (max_own != UINT64_MAX)
                (void)printf("  %-16s %s\n", "your jobs",
                             count(buf, number(running, "own"), max_own));
        if (max_all != UINT64_MAX && all != UINT64_MAX)
                (void)printf("  %-16s %s\n", "all jobs", count(buf, all, max_all));
        else if (max_all != UINT64_MAX)
                (void)printf("  %-16s at most %" PRIu64 "\n", "all jobs", max_all);
}

static void show_option(const json_t *option)
{
        const char *given = sg_document_string(option, "default"),
                   *max = sg_document_string(option, "max");
        char name[64];

        if (given && max && strcmp(given, max) == 0)
                given = NULL; /* who says nothing gets all */
        (void)snprintf(name, sizeof(name), "--%s", sg_document_word(option, "option"));
        (void)printf("  %-16s %s%s%s%s\n", name, given ?: "", given && max ? ", " : "",
                     max ? "at most " : "", max ?: "");
}

static void show_class(const json_t *class)
{
        json_t *option;
        size_t i;

        (void)printf("\n%s%s%s: ", sg_colour(SG_BOLD), sg_document_word(class, "name"),
                     sg_colour(SG_PLAIN));
        show_whose(class);
        (void)putchar('\n');
        if (!json_is_true(json_object_get(class, "yours")))
                return;
        show_running(class);
        json_array_foreach (json_object_get(class, "options"), i, option) {
                show_option(option);
        }
}

static void show(const json_t *doc)
{
        json_t *class;
        size_t i;

        show_user(doc);
        json_array_foreach (json_object_get(doc, "classes"), i, class) {
                show_class(class);
        }
}

int sg_verb_limits(const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_client_ struct sg_client c = {0};
        _cleanup_free_ char *text = NULL;
        _cleanup_json_ json_t *doc = NULL;
        int r;

        r = sg_client_open(&c, inv->socket, e);
        if (r >= 0)
                r = sg_client_get_string(&c, "DescribeLimits", NULL, &text, e);
        if (r >= 0)
                r = sg_document_parse(text, &doc, e);
        if (r >= 0)
                r = sg_document_keep_classes(doc, inv->args, inv->n_args, "see schedctl limits", e);
        if (r < 0)
                return r;
        if (inv->json)
                return sg_document_print_new(TAKE_PTR(doc));
        if (!inv->no_pager)
                sg_pager_open();
        show(doc);
        return sg_pager_close(e);
}
