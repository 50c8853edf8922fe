/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Configuration files on a real file system: precedence, masks, resets, and every complaint. */

#include "base/file.h"
#include "edge/config/internal.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define ETC "etc/schedgov/"
#define RUN "run/schedgov/"
#define LIB "usr/lib/schedgov/"
#define CONF "schedgov.conf"

struct fixture {
        char root[32];
        const char *home; /* of a user's own governor */
        const struct sg_settings *s;
        struct sg_config_errors errors;
        char *merged;
        int result;
};

static void unload(struct fixture *f)
{
        f->s = sg_settings_free(f->s);
        sg_config_errors_deinit(&f->errors);
        free(TAKE_PTR(f->merged));
}

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        strcpy(f->root, "/tmp/sg-config-XXXXXX");
        assert_non_null(mkdtemp(f->root));
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        unload(f);
        assert_int_equal(sg_remove_tree(AT_FDCWD, f->root), 0);
        free(f);
        return 0;
}

static char *path_of(const struct fixture *f, const char *name)
{
        static char path[256];
        char *slash;

        assert_int_equal(sg_path_join(path, sizeof(path), f->root, name), 0);
        slash = strrchr(path, '/');
        *slash = '\0';
        assert_int_equal(sg_mkdir_p(path, 0755), 0);
        *slash = '/';
        return path;
}

static void put_bytes(const struct fixture *f, const char *name, const char *data, size_t size)
{
        _cleanup_close_ int fd =
                open(path_of(f, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        assert_true(fd >= 0);
        assert_int_equal(sg_write_all(fd, data, size), 0);
        assert_int_equal(fchmod(fd, 0644), 0);
}

static void put(const struct fixture *f, const char *name, const char *text)
{
        put_bytes(f, name, text, strlen(text));
}

static void load(struct fixture *f)
{
        unload(f);
        f->result =
                sg_config_load(&f->s, &(struct sg_config_place){.root = f->root, .home = f->home},
                               "host", &f->errors, &f->merged);
        assert_true(f->result == 0 || f->result == -EINVAL);
        assert_int_equal(f->result == 0, f->errors.n == 0);
        assert_int_equal(f->result == 0, f->s != NULL);
        assert_int_equal(f->result == 0, f->merged != NULL);
}

static void load_good(struct fixture *f)
{
        load(f);
        for (size_t i = 0; i < f->errors.n; i++)
                print_error("%s: %s\n", f->errors.items[i].where, f->errors.items[i].what);
        assert_int_equal(f->result, 0);
}

/* where: relative to the root, with the line. */
static void expect_error(const struct fixture *f, size_t i, const char *where, const char *what)
{
        char full[512];

        assert_true(i < f->errors.n);
        assert_int_equal(sg_path_join(full, sizeof(full), f->root, where), 0);
        assert_string_equal(f->errors.items[i].where, full);
        if (!strstr(f->errors.items[i].what, what))
                fail_msg("\"%s\" isn't in \"%s\"", what, f->errors.items[i].what);
}

static void expect_only(struct fixture *f, const char *where, const char *what)
{
        load(f);
        expect_error(f, 0, where, what);
        assert_int_equal(f->errors.n, 1);
}

static void expect_merged(const struct fixture *f, const char *what)
{
        if (!strstr(f->merged, what))
                fail_msg("\"%s\" isn't in:\n%s", what, f->merged);
}

static void test_nothing_there(void **state)
{
        struct fixture *f = *state;

        load_good(f);
        assert_string_equal(f->s->name, "host");
        assert_int_equal(f->s->n_classes, 1);
        expect_merged(f, "[Queue]\n#JobsPerCpu=4\n");

        unload(f);
        assert_int_equal(sg_config_load(&f->s, &(struct sg_config_place){.root = NULL}, "host",
                                        &f->errors, &f->merged),
                         0);
        expect_merged(f, "#MemoryReserve=10%\n");
}

static void test_main_file_precedence(void **state)
{
        struct fixture *f = *state;

        put(f, LIB CONF, "[Queue]\nJobsPerCpu=1\nMaxJobs=7\n");
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 1);
        assert_int_equal(f->s->max_jobs, 7);
        put(f, RUN CONF, "[Queue]\nJobsPerCpu=2\n");
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 2);
        assert_true(f->s->max_jobs == SG_UNLIMITED);
        put(f, ETC CONF, "[Queue]\nJobsPerCpu=3\n");
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 3);
}

/* A user's own governor: what the host's administrator says is not for it. */
static void test_home(void **state)
{
        struct fixture *f = *state;

        f->home = "/home/u/.config/schedgov";
        put(f, LIB CONF, "[Queue]\nJobsPerCpu=1\nMaxJobs=7\n");
        put(f, ETC CONF, "[Queue]\nJobsPerCpu=2\n");
        put(f, RUN CONF, "[Queue]\nJobsPerCpu=3\n");
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 1);
        put(f, "home/u/.config/schedgov/schedgov.conf.d/10-mine.conf", "[Queue]\nJobsPerCpu=4\n");
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 4);
        assert_int_equal(f->s->max_jobs, 7);
        put(f, "home/u/.config/schedgov/schedgov.conf", "[Logs]\nKeep=1\n");
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 4);
        assert_true(f->s->max_jobs == SG_UNLIMITED);
}

static void test_dropins_by_name(void **state)
{
        struct fixture *f = *state;

        put(f, ETC CONF, "[Queue]\nJobsPerCpu=1\nMaxJobs=1\n[Logs]\nKeep=1\n");
        put(f, ETC CONF ".d/10-a.conf", "[Queue]\nJobsPerCpu=10\n");
        put(f, LIB CONF ".d/20-b.conf", "[Queue]\nJobsPerCpu=20\n[Logs]\nKeep=20\n");
        put(f, RUN CONF ".d/15-c.conf", "[Queue]\nJobsPerCpu=15\nMaxJobs=15\n");
        put(f, ETC CONF ".d/README", "not ours");
        put(f, ETC CONF ".d/.99.conf", "not ours");
        put(f, ETC CONF ".d/99.conf~", "not ours");
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 20);
        assert_int_equal(f->s->max_jobs, 15);
        assert_int_equal(f->s->log_keep, 20);
        expect_merged(f, "20-b.conf:2\nJobsPerCpu=20\n");
        expect_merged(f, "15-c.conf:3\nMaxJobs=15\n");

        /* the same name in /etc hides the other as a whole */
        put(f, ETC CONF ".d/20-b.conf", "[Logs]\nKeep=21\n");
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 15);
        assert_int_equal(f->s->log_keep, 21);
}

static void test_masks(void **state)
{
        struct fixture *f = *state;

        put(f, LIB CONF, "[Queue]\nJobsPerCpu=1\n");
        put(f, LIB CONF ".d/a.conf", "[Queue]\nMaxJobs=1\n");
        put(f, LIB "policy.d/train.policy", "[Class]\nName=train\n");
        load_good(f);
        assert_int_equal(f->s->n_classes, 2);

        put(f, ETC CONF, "");
        assert_int_equal(symlink("/dev/null", path_of(f, RUN CONF ".d/a.conf")), 0);
        assert_int_equal(symlink("/dev/null", path_of(f, ETC "policy.d/train.policy")), 0);
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 4);
        assert_true(f->s->max_jobs == SG_UNLIMITED);
        assert_int_equal(f->s->n_classes, 1);
}

static void test_empty_assignment_resets(void **state)
{
        struct fixture *f = *state;

        put(f, LIB CONF, "[Node]\nName=other\n[Queue]\nJobsPerCpu=1\nMaxJobs=3\n");
        put(f, ETC CONF ".d/a.conf", "[Node]\nName=\n[Queue]\nJobsPerCpu = \t\n");
        put(f, ETC "policy.d/a.policy",
            "[Match]\nUser=alice\nUser=\nUser=bob\nUser=carol\n[Class]\nName=a\n");
        load_good(f);
        assert_string_equal(f->s->name, "host");
        assert_int_equal(f->s->jobs_per_cpu, 4);
        assert_int_equal(f->s->max_jobs, 3);
        assert_string_equal(f->s->classes[1].match_user[0], "bob");
        assert_string_equal(f->s->classes[1].match_user[1], "carol");
        expect_merged(f, "#JobsPerCpu=4\n");
        assert_null(strstr(f->merged, "alice"));
        expect_merged(f, "a.policy:4\nUser=bob\n");
        expect_merged(f, "a.policy:5\nUser=carol\n");
}

static void test_layout_of_text(void **state)
{
        struct fixture *f = *state;

        put(f, ETC CONF,
            "# a comment\n; another\n  # an indented one\n \t\n\n[Queue]\t\n"
            "JobsPerCpu \t=  3 \t\nMaxJobs=5\r\n[Node]\r\n\r\n# caf\xe9\n"
            "[Queue]\nMaxQueuedPerUser=9");
        load_good(f);
        assert_int_equal(f->s->jobs_per_cpu, 3);
        assert_int_equal(f->s->max_jobs, 5);
        assert_int_equal(f->s->max_queued_per_user, 9);
        expect_merged(f, "schedgov.conf:13\nMaxQueuedPerUser=9\n");
}

static void test_policies_in_order(void **state)
{
        struct fixture *f = *state;
        char *groups[] = {(char *)"ml", NULL};

        put(f, ETC "policy.d/20-all.policy", "[Match]\nUser=*\n[Class]\nName=all\n");
        put(f, LIB "policy.d/10-ml.policy",
            "[Match]\nGroup=ml\nCommand=python* *.py\n[Class]\nName=ml\nWeight=300\n");
        put(f, RUN "policy.d/05-default.policy", "[Class]\nName=default\nWeight=50\n");
        load_good(f);
        assert_int_equal(f->s->n_classes, 3);
        assert_string_equal(f->s->classes[0].name, "default");
        assert_int_equal(f->s->classes[0].weight, 50);
        assert_string_equal(sg_settings_match(f->s, "a", groups, "python3 x.py", false)->name,
                            "ml");
        assert_string_equal(sg_settings_match(f->s, "a", groups, "make", false)->name, "all");
        assert_non_null(strstr(f->s->classes[1].file, LIB "policy.d/10-ml.policy"));
}

static void test_duplicate_class(void **state)
{
        struct fixture *f = *state;

        put(f, ETC "policy.d/a.policy", "[Class]\nName=x\n");
        put(f, LIB "policy.d/b.policy", "# b\n\n[Class]\nName=x\nWeight=1\n");
        expect_only(f, LIB "policy.d/b.policy:4", "[Class] Name=x is already made by ");
}

static void test_missing_class_name(void **state)
{
        struct fixture *f = *state;

        put(f, ETC "policy.d/a.policy", "[Class]\nWeight=1\n");
        expect_only(f, ETC "policy.d/a.policy:1", "[Class] Name= is missing");
}

static const struct {
        const char *text;
        unsigned line;
        const char *what;
} bad_lines[] = {
        {"[Queue]\n\nJobsPerCpu=x\n", 3, "[Queue] JobsPerCpu= wants a whole number"},
        {"[Queue]\nJobsPerCPUs=1\n", 2, "did you mean [Queue] JobsPerCpu=?"},
        {"[Quue]\nJobsPerCpu=x\nrubbish\n", 1, "unknown section [Quue]; did you mean [Queue]?"},
        {"[Limits]\n", 1, "unknown section [Limits]; did you mean [Limits] of a policy file?"},
        {"JobsPerCpu=1\n", 1, "before the first [Section]"},
        {"[Queue\nJobsPerCpu=1\n", 1, "a section is written as [Name]"},
        {"[Queue] x\n", 1, "a section is written as [Name]"},
        {"[]\n", 1, "a section is written as [Name]"},
        {"[Queue]]\n", 1, "a section is written as [Name]"},
        {"[Queue]\nJobsPerCpu\n", 2, "neither Key=value nor [Section] nor a # comment"},
        {"[Queue]\nJobsPerCpu: 1\n", 2, "neither Key=value"},
        {"[Queue]\n=1\n", 2, "neither Key=value"},
        {"[Queue]\nJobs PerCpu=1\n", 2, "neither Key=value"},
        {"[Queue]\nJobsPerCpu=1 ; one\n", 2, "a comment must have a line of its own"},
        {"[Queue]\nJobsPerCpu=1\t# one\n", 2, "a comment must have a line of its own"},
        {"[Queue]\nJobsPerCpu=1\n MaxJobs=2\n", 3, "begins with a blank"},
        {"[Queue]\nJobsPerCpu=\\\n", 2, "ends with a backslash"},
        {"[Queue]\nJobsPerCpu=1\x01\n", 2, "a control character"},
        {"[Queue]\nJobsPerCpu=1\r1\n", 2, "a control character"},
        {"[Node]\nName=caf\xe9\n", 2, "isn't UTF-8"},
        {"[Node]\nName=\xed\xa0\x80\n", 2, "isn't UTF-8"},
        {"\xef\xbb\xbf[Node]\n", 1, "byte order mark"},
};

static void test_bad_lines(void **state)
{
        struct fixture *f = *state;
        char where[64];

        for (size_t i = 0; i < SG_ELEMENTSOF(bad_lines); i++) {
                put(f, ETC CONF, bad_lines[i].text);
                snprintf(where, sizeof(where), ETC CONF ":%u", bad_lines[i].line);
                expect_only(f, where, bad_lines[i].what);
        }
}

static void test_all_errors_collected(void **state)
{
        struct fixture *f = *state;

        put(f, ETC CONF, "[Queue]\nJobsPerCpu=x\nMaxJobs=0\n[Nope]\n[Logs]\nKeep=-1\n");
        put(f, LIB CONF ".d/a.conf", "[Node]\nname=x\n");
        put(f, LIB "policy.d/a.policy", "[Class]\nName=a b\n");
        load(f);
        assert_int_equal(f->errors.n, 6);
        expect_error(f, 0, ETC CONF ":2", "JobsPerCpu=");
        expect_error(f, 1, ETC CONF ":3", "MaxJobs=");
        expect_error(f, 2, ETC CONF ":4", "[Nope]");
        expect_error(f, 3, ETC CONF ":6", "Keep=");
        expect_error(f, 4, LIB CONF ".d/a.conf:2", "did you mean [Node] Name=?");
        expect_error(f, 5, LIB "policy.d/a.policy:2", "[Class] Name= wants");
}

static void test_at_most_100_errors(void **state)
{
        struct fixture *f = *state;
        _cleanup_free_ char *text = NULL;
        size_t size;
        FILE *m = open_memstream(&text, &size);

        assert_non_null(m);
        fputs("[Queue]\n", m);
        for (int i = 0; i < 500; i++)
                fputs("JobsPerCpu=x\n", m);
        assert_int_equal(fclose(m), 0);
        put(f, ETC CONF, text);
        load(f);
        assert_int_equal(f->errors.n, 100);
        expect_error(f, 98, ETC CONF ":100", "JobsPerCpu=");
        expect_error(f, 99, ETC CONF ":101", "more errors");
}

static void long_line(struct fixture *f, size_t length, const char *key)
{
        _cleanup_free_ char *text = malloc(length + 64);
        size_t n;

        assert_non_null(text);
        n = (size_t)sprintf(text, "[Match]\n");
        memset(text + n, 'x', length);
        memcpy(text + n, key, strlen(key));
        strcpy(text + n + length, "\n[Class]\nName=a\nWeight=0\n");
        put(f, ETC "policy.d/a.policy", text);
}

/* inih alone would cut these at 199 bytes and say nothing. */
static void test_long_lines(void **state)
{
        struct fixture *f = *state;

        long_line(f, 300, "Command=");
        expect_only(f, ETC "policy.d/a.policy:5", "Weight=");
        long_line(f, 4096, "Command=");
        expect_only(f, ETC "policy.d/a.policy:5", "Weight=");
        long_line(f, 4097, "Command=");
        load(f);
        expect_error(f, 0, ETC "policy.d/a.policy:2", "longer than 4096 bytes");
        expect_error(f, 1, ETC "policy.d/a.policy:5", "Weight=");
        long_line(f, 5120, "# ");
        load(f);
        expect_error(f, 0, ETC "policy.d/a.policy:2", "longer than 4096 bytes");
        long_line(f, 300, "# ");
        expect_only(f, ETC "policy.d/a.policy:5", "Weight=");
}

static void test_long_value_arrives_whole(void **state)
{
        struct fixture *f = *state;
        char text[4200] = "[Class]\nName=a\n[Match]\nCommand=";
        size_t n = strlen(text);

        memset(text + n, 'y', 4096 - strlen("Command="));
        text[n + 4096 - strlen("Command=")] = '\n';
        put(f, ETC "policy.d/a.policy", text);
        load_good(f);
        assert_int_equal(strlen(f->s->classes[1].match_command[0]), 4096 - strlen("Command="));
}

static void test_binary_rubbish(void **state)
{
        struct fixture *f = *state;
        char data[4096];

        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (char)(i * 2654435761U >> 13);
        memcpy(data, "a\nb\nc\0d", 7);
        put_bytes(f, ETC CONF, data, sizeof(data));
        expect_only(f, ETC CONF ":3", "a NUL byte");
}

static void test_not_regular(void **state)
{
        struct fixture *f = *state;

        assert_int_equal(mkfifo(path_of(f, ETC CONF), 0644), 0);
        expect_only(f, ETC CONF, "is not a regular file");
        assert_int_equal(unlink(path_of(f, ETC CONF)), 0);
        assert_int_equal(mkdir(path_of(f, ETC "policy.d/a.policy"), 0755), 0);
        expect_only(f, ETC "policy.d/a.policy", "is not a regular file");
        assert_int_equal(rmdir(path_of(f, ETC "policy.d/a.policy")), 0);
        assert_int_equal(symlink("/nonexistent", path_of(f, ETC CONF)), 0);
        expect_only(f, ETC CONF, "cannot be opened: No such file or directory");
        assert_int_equal(unlink(path_of(f, ETC CONF)), 0);
        put(f, ETC CONF ".d", "");
        expect_only(f, ETC CONF ".d", "cannot be opened: Not a directory");
}

static void test_too_large(void **state)
{
        struct fixture *f = *state;
        _cleanup_free_ char *data = malloc((1 << 20) + 1);

        assert_non_null(data);
        memset(data, '\n', (1 << 20) + 1);
        put_bytes(f, ETC CONF, data, 1 << 20);
        load_good(f);
        put_bytes(f, ETC CONF, data, (1 << 20) + 1);
        expect_only(f, ETC CONF, "is larger than 1 MiB");
}

/* Only root's files are obeyed by root; others read what they can. */
static void test_owner_and_mode(void **state)
{
        struct fixture *f = *state;

        if (geteuid() != 0)
                fail_msg("this test needs root: it gives files away");
        put(f, ETC CONF, "[Queue]\nJobsPerCpu=1\n");
        assert_int_equal(chmod(path_of(f, ETC CONF), 0666), 0);
        expect_only(f, ETC CONF, "chmod o-w");
        assert_int_equal(chmod(path_of(f, ETC CONF), 0664), 0);
        load_good(f);
        assert_int_equal(chown(path_of(f, ETC CONF), 1000, 0), 0);
        expect_only(f, ETC CONF, "chown root");
        assert_int_equal(chown(path_of(f, ETC CONF), 0, 0), 0);
        assert_int_equal(chmod(path_of(f, ETC), 0777), 0);
        expect_only(f, "etc/schedgov", "chmod o-w");
}

/* What `config cat` shows means what the files meant. */
static void test_merged_reads_back(void **state)
{
        struct fixture *f = *state;
        _cleanup_free_ char *first = NULL;

        put(f, ETC CONF, "[Node]\nName=n1\n[Queue]\nMemoryReserve=20%\n[History]\nKeepTime=1d\n");
        put(f, LIB CONF ".d/a.conf", "[Queue]\nMaxJobs=3\nKillGrace=5s\n");
        load_good(f);
        expect_merged(f, "schedgov.conf:4\nMemoryReserve=20%\n");
        first = strdup(f->merged);
        assert_non_null(first);
        assert_int_equal(unlink(path_of(f, LIB CONF ".d/a.conf")), 0);
        put(f, ETC CONF, first);
        load_good(f);
        assert_string_equal(f->s->name, "n1");
        assert_int_equal(f->s->memory_reserve_pm, 2000);
        assert_int_equal(f->s->max_jobs, 3);
        assert_int_equal(f->s->kill_grace_usec, 5000000);
        assert_true(f->s->history_usec == 86400ULL * 1000000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static void expect_name(const struct fixture *f, size_t i, const char *where, const char *name,
                        bool group)
{
        char full[512];

        assert_true(i < f->errors.n_names);
        assert_int_equal(sg_path_join(full, sizeof(full), f->root, where), 0);
        assert_string_equal(f->errors.names[i].where, full);
        assert_string_equal(f->errors.names[i].name, name);
        assert_int_equal(f->errors.names[i].group, group);
}

/* Users and groups that are named are told, with their lines: no patterns, no numbers, and none
 * that a later line takes back. */
static void test_names(void **state)
{
        struct fixture *f = *state;

        put(f, ETC "policy.d/a.policy",
            "[Match]\nUser=alice b*\nUser=1000 carol\nGroup=old\nGroup=\nGroup=lab [x]y\n"
            "[Class]\nName=a\n[Limits]\nDeviceAllow=/dev/null\nDeviceAllow=/dev/nvidia0 rw\n");
        put(f, LIB "policy.d/a.policy", "[Match]\nUser=hidden\n[Class]\nName=a\n");
        load_good(f);
        assert_int_equal(f->errors.n_names, 4);
        expect_name(f, 0, ETC "policy.d/a.policy:2", "alice", false);
        expect_name(f, 1, ETC "policy.d/a.policy:3", "carol", false);
        expect_name(f, 2, ETC "policy.d/a.policy:6", "lab", true);
        expect_name(f, 3, ETC "policy.d/a.policy:11", "/dev/nvidia0 rw", false);
        assert_true(f->errors.names[3].device);
        assert_false(f->errors.names[2].device);
        put(f, ETC "policy.d/a.policy", "[Match]\nUser=alice, bob\n[Class]\nName=a\n");
        expect_only(f, ETC "policy.d/a.policy:2", "without commas");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                T(test_nothing_there),
                T(test_main_file_precedence),
                T(test_home),
                T(test_dropins_by_name),
                T(test_masks),
                T(test_empty_assignment_resets),
                T(test_layout_of_text),
                T(test_policies_in_order),
                T(test_duplicate_class),
                T(test_missing_class_name),
                T(test_bad_lines),
                T(test_all_errors_collected),
                T(test_at_most_100_errors),
                T(test_long_lines),
                T(test_long_value_arrives_whole),
                T(test_binary_rubbish),
                T(test_not_regular),
                T(test_too_large),
                T(test_owner_and_mode),
                T(test_merged_reads_back),
                T(test_names),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
