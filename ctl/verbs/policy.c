/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* policy list|show|set|reload */

#include "base/cleanup.h"
#include "base/utf8.h"
#include "ctl/show/document.h"
#include "ctl/show/output.h"
#include "ctl/verbs/verbs.h"
#include <string.h>

/* --- list: what there is, and who has it */

/* "default, train": the classes whose settings say this name. */
static void users_of(const json_t *doc, const char *key, const char *name, char *buf, size_t size)
{
        size_t i, used = 0;
        json_t *class;

        *buf = '\0';
        json_array_foreach (json_object_get(doc, "classes"), i, class) {
                const json_t *policy =
                        json_object_get(json_object_get(class, "settings"), "Policy");

                if (used < size && strcmp(sg_document_word(policy, key), name) == 0)
                        used += (size_t)snprintf(buf + used, size - used, "%s%s",
                                                 used > 0 ? ", " : "",
                                                 sg_document_word(class, "name"));
        }
}

static void list_kind(const json_t *doc, const char *kind, const char *key)
{
        char classes[256], buf[512];
        json_t *policy;
        size_t i;

        (void)printf("%s%s=%s\n", sg_colour(SG_BOLD), key, sg_colour(SG_PLAIN));
        json_array_foreach (json_object_get(doc, kind), i, policy) {
                const char *name = sg_document_word(policy, "name");

                users_of(doc, key, name, classes, sizeof(classes));
                (void)printf("  %-10s %s", name,
                             sg_utf8_escape(sg_document_word(policy, "summary"), buf, sizeof(buf)));
                if (*classes)
                        (void)printf(" %s(%s)%s", sg_colour(SG_GREEN),
                                     sg_utf8_escape(classes, buf, sizeof(buf)),
                                     sg_colour(SG_PLAIN));
                (void)putchar('\n');
        }
}

static void list(const json_t *doc)
{
        list_kind(doc, "share", "Share");
        (void)putchar('\n');
        list_kind(doc, "order", "Order");
}

/* --- show: a class, as its file would say it */

static bool is_changed(const json_t *class, const char *section, const char *key)
{
        char name[128];
        json_t *v;
        size_t i;

        (void)snprintf(name, sizeof(name), "%s.%s", section, key);
        json_array_foreach (json_object_get(class, "changed"), i, v)
                if (json_is_string(v) && strcmp(json_string_value(v), name) == 0)
                        return true;
        return false;
}

/* One that adds up has a line for each part. */
static void show_value(const char *key, const json_t *value)
{
        char buf[4096];
        json_t *part;
        size_t i;

        if (json_is_string(value))
                (void)printf("%s=%s\n", key,
                             sg_utf8_escape(json_string_value(value), buf, sizeof(buf)));
        json_array_foreach (value, i, part) {
                show_value(key, part);
        }
}

static void show_section(const json_t *class, const char *section, json_t *keys)
{
        (void)printf("\n[%s]\n", section);
        for (void *at = json_object_iter(keys); at; at = json_object_iter_next(keys, at)) {
                const char *key = json_object_iter_key(at);

                if (is_changed(class, section, key))
                        (void)printf("%s# changed since the configuration was read%s\n",
                                     sg_colour(SG_YELLOW), sg_colour(SG_PLAIN));
                show_value(key, json_object_iter_value(at));
        }
}

static void show_class(const json_t *class)
{
        json_t *settings = json_object_get(class, "settings");
        const char *file = sg_document_string(class, "file");
        char buf[1024];

        (void)printf("# %s", file ? sg_utf8_escape(file, buf, sizeof(buf)) : "built in");
        for (void *at = json_object_iter(settings); at; at = json_object_iter_next(settings, at))
                show_section(class, json_object_iter_key(at), json_object_iter_value(at));
}

static void show(const json_t *doc)
{
        json_t *class;
        size_t i;

        json_array_foreach (json_object_get(doc, "classes"), i, class) {
                if (i > 0)
                        (void)putchar('\n');
                show_class(class);
        }
}

static int ask(struct sg_client *c, const struct sg_invocation *inv, struct sg_error *e)
{
        bool listing = strcmp(inv->args[0], "list") == 0;
        _cleanup_free_ char *text = NULL;
        _cleanup_json_ json_t *doc = NULL;
        int r;

        r = sg_client_get_string(c, "ListPolicies", NULL, &text, e);
        if (r >= 0)
                r = sg_document_parse(text, &doc, e);
        if (r >= 0)
                r = sg_document_keep_classes(doc, inv->args + 1, inv->n_args - 1,
                                             "see schedctl policy show", e);
        if (r < 0)
                return r;
        if (inv->json)
                return sg_document_print_new(TAKE_PTR(doc));
        if (!inv->no_pager)
                sg_pager_open();
        if (listing)
                list(doc);
        else
                show(doc);
        return sg_pager_close(e);
}

/* --- set */

static int set(struct sg_client *c, const struct sg_invocation *inv, struct sg_error *e)
{
        _cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
        int r = sg_client_manager(c, "SetPolicy", &m, e);

        if (r < 0)
                return r;
        r = sd_bus_message_append(m, "s", inv->args[1]);
        if (r >= 0)
                r = sd_bus_message_append_strv(m, inv->args + 2);
        if (r < 0)
                return sg_error_errno(e, r, "cannot make the request");
        r = sg_client_call(c, m, inv->args[1], &reply, e);
        if (r < 0 || !inv->json)
                return r;
        return sg_document_print_new(json_pack("{s:s,s:s,s:b}", "schema", "schedgov.policy-set/1",
                                               "class", inv->args[1], "ok", true));
}

static bool is_word(const struct sg_invocation *inv, const char *word, size_t least, size_t most)
{
        return inv->n_args >= least && inv->n_args <= most && strcmp(inv->args[0], word) == 0;
}

int sg_verb_policy(const struct sg_invocation *inv, struct sg_error *e)
{
        bool asks = is_word(inv, "list", 1, 1) || is_word(inv, "show", 1, 2),
             sets = is_word(inv, "set", 3, SIZE_MAX);
        _cleanup_client_ struct sg_client c = {0};
        int r;

        if (!asks && !sets && !is_word(inv, "reload", 1, 1))
                return sg_verb_usage(inv, e);
        r = sg_client_open(&c, inv->socket, e);
        if (r < 0)
                return r;
        if (asks)
                return ask(&c, inv, e);
        return sets ? set(&c, inv, e) : sg_verb_config_check(&c, inv, "Reload", e);
}
