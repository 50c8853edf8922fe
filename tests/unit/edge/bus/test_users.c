/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of users and groups, from files of this test's own in a mount namespace. A user behind a
 * line that is too long for the quick look is one that only NSS knows; a fifo in the place of
 * nsswitch.conf is a lookup that hangs.
 */
#include "base/file.h"
#include "base/time-util.h"
#include "edge/bus/users.h"
#include "tests/unit/test.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWERS_MAX 64
#define CHILDREN_MAX 16
#define SHORT_PATIENCE (300 * SG_USEC_PER_MSEC)
#define LONG_NAME "a-name-of-more-than-thirty-two-characters"

struct fixture {
        sd_event *event;
        struct sg_users *users;
        unsigned n, failed; /* answers, and those of them that are none */
        int error;
        char answers[ANSWERS_MAX][SG_USER_NAME_MAX];
};

static void on_name(int result, const char *name, void *userdata)
{
        struct fixture *f = userdata;

        assert_in_range(f->n, 0, ANSWERS_MAX - 1);
        if (result < 0) {
                f->failed++;
                f->error = result;
        }
        strcpy(f->answers[f->n++], name);
}

static void write_etc(const char *name, const char *text)
{
        char path[64];

        (void)snprintf(path, sizeof(path), "/etc/%s", name);
        assert_int_equal(sg_write_file_atomic(AT_FDCWD, path, text, strlen(text), 0644), 0);
}

static void write_passwd(const char *known)
{
        _cleanup_free_ char *text = NULL;
        char gecos[8192];

        memset(gecos, 'x', sizeof(gecos) - 1);
        gecos[sizeof(gecos) - 1] = 0;
        assert_true(asprintf(&text,
                             "root:x:0:0::/:/bin/sh\n%s:x:70000:70000::/:/bin/sh\n"
                             "%s:x:70003:70000::/:/bin/sh\n"
                             "long:x:70001:70001:%s:/:/bin/sh\nfar:x:70002:70002::/:/bin/sh\n",
                             known, LONG_NAME, gecos) > 0);
        write_etc("passwd", text);
}

static int group_setup(void **state)
{
        (void)state;
        if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
            mount("tmpfs", "/etc", "tmpfs", 0, "mode=0755") < 0)
                return -1;
        write_etc("nsswitch.conf", "passwd: files\n");
        write_etc("group",
                  "root:x:0:\nwheel:x:500:near\nstaff:x:501:\nsudo:x:500:\nstaff2:x:502:\n");
        return 0;
}

static int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));

        assert_non_null(f);
        write_passwd("near");
        sg_users_patience_usec = 60 * SG_USEC_PER_SEC; /* on a machine under load, too */
        assert_int_equal(sd_event_new(&f->event), 0);
        assert_int_equal(sg_users_new(&f->users, f->event), 0);
        *state = f;
        return 0;
}

static int teardown(void **state)
{
        struct fixture *f = *state;

        sg_users_free(f->users);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
        assert_int_equal(errno, ECHILD);
        sd_event_unref(f->event);
        free(f);
        return 0;
}

static void ask(struct fixture *f, uid_t uid)
{
        assert_int_equal(sg_users_lookup(f->users, uid, on_name, f), 0);
}

static void wait_for(struct fixture *f, unsigned n)
{
        while (f->n < n)
                assert_true(sd_event_run(f->event, 10000000) > 0);
        assert_int_equal(f->n, n);
}

static void test_local(void **state)
{
        struct fixture *f = *state;

        ask(f, 0);
        ask(f, 70000);
        assert_int_equal(f->n, 2); /* at once */
        assert_string_equal(f->answers[0], "root");
        assert_string_equal(f->answers[1], "near");
}

static void test_only_nss_knows(void **state)
{
        struct fixture *f = *state;

        ask(f, 70002);
        assert_int_equal(f->n, 0);
        wait_for(f, 1);
        assert_string_equal(f->answers[0], "far");
        ask(f, 70002);
        assert_int_equal(f->n, 2);
        assert_string_equal(f->answers[1], "far");
}

static void test_nobody_knows(void **state)
{
        struct fixture *f = *state;

        ask(f, 4000000);
        assert_int_equal(f->n, 0);
        wait_for(f, 1);
        assert_string_equal(f->answers[0], "4000000");
        ask(f, 4000000);
        assert_int_equal(f->n, 2);
        ask(f, 70003); /* nor can a name of that length be kept */
        wait_for(f, 3);
        assert_string_equal(f->answers[2], "70003");
}

static void test_cache(void **state)
{
        struct fixture *f = *state;

        ask(f, 70000);
        write_passwd("renamed");
        ask(f, 70000);
        assert_string_equal(f->answers[1], "near");
        sg_users_free(f->users);
        assert_int_equal(sg_users_new(&f->users, f->event), 0);
        ask(f, 70000);
        assert_string_equal(f->answers[2], "renamed");
}

static bool has(char *const *names, const char *name)
{
        for (; *names; names++)
                if (strcmp(*names, name) == 0)
                        return true;
        return false;
}

static unsigned count_children(void)
{
        _cleanup_free_ char *text = NULL;
        unsigned n = 0;

        assert_int_equal(sg_read_file(AT_FDCWD, "/proc/thread-self/children", 65536, &text, NULL),
                         0);
        for (const char *p = text; *p; p++)
                n += *p == ' ';
        return n;
}

static void test_many_ask_for_one(void **state)
{
        struct fixture *f = *state;
        unsigned far = 0;

        for (int i = 0; i < 4; i++)
                ask(f, 70002);
        assert_int_equal(count_children(), 1);
        ask(f, 70001);
        assert_int_equal(count_children(), 2);
        wait_for(f, 5);
        for (int i = 0; i < 5; i++)
                far += strcmp(f->answers[i], "far") == 0;
        assert_int_equal(far, 4);
}

static void hang(void)
{
        sg_users_patience_usec = SHORT_PATIENCE;
        assert_int_equal(unlink("/etc/nsswitch.conf"), 0);
        assert_int_equal(mkfifo("/etc/nsswitch.conf", 0644), 0);
}

static void unhang(void)
{
        sg_users_patience_usec = 60 * SG_USEC_PER_SEC;
        assert_int_equal(unlink("/etc/nsswitch.conf"), 0);
        write_etc("nsswitch.conf", "passwd: files\n");
}

/* A lookup that hangs holds up nobody, and ends with us. */
static void test_hung(void **state)
{
        struct fixture *f = *state;

        hang();
        ask(f, 70002);
        ask(f, 70000);
        assert_int_equal(f->n, 1);
        assert_string_equal(f->answers[0], "near");
        while (sd_event_run(f->event, 0) > 0)
                ;
        assert_int_equal(f->n, 1);
        f->users = sg_users_free(f->users);
        assert_int_equal(f->n, 1); /* and is never answered */
        unhang();
}

static void wait_for_no_child(struct fixture *f)
{
        uint64_t end = sg_now_monotonic_usec() + 20 * SG_USEC_PER_SEC;

        while (count_children() > 0) {
                assert_true(sg_now_monotonic_usec() < end);
                assert_true(sd_event_run(f->event, 10000) >= 0);
        }
}

/* Its time is limited. All who wait for it hear why, nothing is remembered, its child is gone. */
static void test_patience(void **state)
{
        struct fixture *f = *state;
        char why[SG_USERS_WHY_MAX];
        uint64_t begin = sg_now_monotonic_usec();

        hang();
        ask(f, 70002);
        ask(f, 70002);
        assert_int_equal(count_children(), 1);
        wait_for(f, 2);
        assert_true(sg_now_monotonic_usec() - begin >= SHORT_PATIENCE);
        assert_int_equal(f->failed, 2);
        assert_int_equal(f->error, -ETIMEDOUT);
        assert_string_equal(f->answers[0], "70002");
        wait_for_no_child(f);
        unhang();
        ask(f, 70002);
        assert_int_equal(f->n, 2);
        wait_for(f, 3);
        assert_int_equal(f->failed, 2);
        assert_string_equal(f->answers[2], "far");
        sg_users_explain(why, 70002, -ETIMEDOUT);
        assert_non_null(strstr(why, "user 70002"));
        assert_non_null(strstr(why, "; try again"));
        assert_null(strchr(why, '\n'));
}

/* Those that are one too many wait for the others, but no longer than for themselves. */
static void test_many_hang(void **state)
{
        struct fixture *f = *state;
        enum { MANY = 40 };

        hang();
        for (unsigned i = 0; i < MANY; i++) {
                ask(f, 80000 + i);
                assert_true(count_children() <= CHILDREN_MAX);
        }
        assert_int_equal(count_children(), CHILDREN_MAX);
        wait_for(f, MANY);
        assert_int_equal(f->failed, MANY);
        wait_for_no_child(f);
        unhang();
}

static void test_many_at_once(void **state)
{
        struct fixture *f = *state;
        enum { MANY = 40 };

        for (unsigned i = 0; i < MANY; i++)
                ask(f, 80000 + i);
        wait_for(f, MANY);
        assert_int_equal(f->failed, 0);
}

static void on_failed_ask_again(int result, const char *name, void *userdata)
{
        struct fixture *f = userdata;

        (void)name;
        assert_int_equal(result, -ETIMEDOUT);
        assert_int_equal(sg_users_lookup(f->users, 70002, on_name, f), 0);
}

static unsigned n_asked_in_vain;

static void on_name_in_vain(int result, const char *name, void *userdata)
{
        (void)result;
        (void)name;
        (void)userdata;
        n_asked_in_vain++;
}

/* A look-up is for those who still want it, and given up with the last of them. */
static void test_cancel(void **state)
{
        struct fixture *f = *state;

        hang();
        sg_users_patience_usec = 60 * SG_USEC_PER_SEC;
        assert_int_equal(sg_users_lookup(f->users, 70002, on_name_in_vain, f), 0);
        assert_int_equal(sg_users_lookup(f->users, 70002, on_name_in_vain, NULL), 0);
        assert_int_equal(count_children(), 1);
        sg_users_cancel(f->users, on_name, f); /* who has asked for nothing */
        sg_users_cancel(f->users, on_name_in_vain, f);
        assert_int_equal(count_children(), 1);
        sg_users_cancel(f->users, on_name_in_vain, NULL);
        wait_for_no_child(f);
        unhang();
        ask(f, 70002);
        wait_for(f, 1);
        assert_string_equal(f->answers[0], "far");
        assert_int_equal(n_asked_in_vain, 0);
}

/* Those that wait for a child of their own go as well. */
static void test_cancel_before_it_began(void **state)
{
        struct fixture *f = *state;

        hang();
        sg_users_patience_usec = 60 * SG_USEC_PER_SEC;
        for (unsigned i = 0; i < CHILDREN_MAX + 4; i++)
                assert_int_equal(sg_users_lookup(f->users, 80000 + i, on_name_in_vain, NULL), 0);
        assert_int_equal(count_children(), CHILDREN_MAX);
        sg_users_cancel(f->users, on_name_in_vain, NULL);
        wait_for_no_child(f);
        assert_int_equal(n_asked_in_vain, 0);
        unhang();
}

/* Who asks again from the callback isn't told the same. */
static void test_ask_again(void **state)
{
        struct fixture *f = *state;

        hang();
        assert_int_equal(sg_users_lookup(f->users, 70002, on_failed_ask_again, f), 0);
        wait_for(f, 1);
        assert_int_equal(f->failed, 1);
        unhang();
}

/* A FIFO isn't read by the daemon, which would wait for who writes to it. */
static void test_no_files(void **state)
{
        static const gid_t gid = 500;
        struct fixture *f = *state;
        char **names;
        gid_t found;

        sg_users_patience_usec = SHORT_PATIENCE;
        assert_int_equal(unlink("/etc/passwd"), 0);
        assert_int_equal(mkfifo("/etc/passwd", 0644), 0);
        ask(f, 70000);
        assert_int_equal(f->n, 0);
        wait_for(f, 1);
        assert_int_equal(f->failed, 1);
        assert_int_equal(unlink("/etc/passwd"), 0);
        assert_int_equal(rename("/etc/group", "/etc/group.old"), 0);
        assert_int_equal(mkfifo("/etc/group", 0644), 0);
        assert_int_equal(sg_users_group_names(&gid, 1, &names), 0);
        assert_true(has(names, "500"));
        assert_false(has(names, "wheel"));
        assert_int_equal(sg_users_find_group("wheel", &found), -EINVAL);
        sg_strv_free(names);
        assert_int_equal(rename("/etc/group.old", "/etc/group"), 0);
}

static void test_groups(void **state)
{
        static const gid_t gids[] = {500, 502, 77777};
        char **names;

        (void)state;
        assert_int_equal(sg_users_group_names(gids, SG_ELEMENTSOF(gids), &names), 0);
        assert_true(has(names, "500"));
        assert_true(has(names, "wheel"));
        assert_true(has(names, "sudo"));
        assert_true(has(names, "502"));
        assert_true(has(names, "staff2"));
        assert_true(has(names, "77777"));
        assert_false(has(names, "staff"));
        assert_false(has(names, "root"));
        sg_strv_free(names);
        assert_int_equal(sg_users_group_names(NULL, 0, &names), 0);
        assert_null(names[0]);
        sg_strv_free(names);
        sg_strv_free(NULL);
}

static void test_find_group(void **state)
{
        gid_t gid = 7;

        (void)state;
        assert_int_equal(sg_users_find_group("staff2", &gid), 0);
        assert_int_equal(gid, 502);
        assert_int_equal(sg_users_find_group("staff3", &gid), -ENOENT);
        assert_int_equal(sg_users_find_group("500", &gid), -ENOENT);
        assert_int_equal(gid, 502);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(test_local),
                TEST(test_only_nss_knows),
                TEST(test_nobody_knows),
                TEST(test_cache),
                TEST(test_many_ask_for_one),
                TEST(test_hung),
                TEST(test_patience),
                TEST(test_many_hang),
                TEST(test_many_at_once),
                TEST(test_ask_again),
                TEST(test_no_files),
                TEST(test_groups),
                TEST(test_find_group),
                TEST(test_cancel),
                TEST(test_cancel_before_it_began),
        };

        return cmocka_run_group_tests(tests, group_setup, NULL);
}
