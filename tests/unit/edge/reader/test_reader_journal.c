/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The journal of units, in journal files that systemd-journal-remote writes. */

#include "tests/unit/edge/reader/fixture.h"

#define WRITER "/lib/systemd/systemd-journal-remote"
#define INVOCATION_A "0000000000000000000000000000000a"
#define INVOCATION_B "0000000000000000000000000000000b"
#define BEGIN (1700000000 * SG_USEC_PER_SEC)

static const char *journal_file = "system.journal";

/* One after the other, as journald does: each entry is a microsecond later. */
static void say(const char *unit, const char *invocation, const char *message)
{
        static uint64_t when = BEGIN;
        char command[PATH_MAX + 128];
        FILE *f;

        (void)snprintf(command, sizeof(command), WRITER " -o %s - 2>/dev/null", in(journal_file));
        f = popen(command, "we");
        assert_non_null(f);
        when++;
        (void)fprintf(f,
                      "__REALTIME_TIMESTAMP=%llu\n__MONOTONIC_TIMESTAMP=%llu\n"
                      "_BOOT_ID=0123456789abcdef0123456789abcdef\n"
                      "_MACHINE_ID=fedcba9876543210fedcba9876543210\n"
                      "_SYSTEMD_UNIT=%s\n_SYSTEMD_INVOCATION_ID=%s\nMESSAGE=%s\n\n",
                      (unsigned long long)when, (unsigned long long)when, unit, invocation,
                      message);
        if (pclose(f) != 0)
                fail_msg("%s: is systemd-journal-remote installed?", WRITER);
}

/* --- units */

struct listener {
        struct sg_journal_unit unit;
        char text[1024];
};

static void on_message(const char *text, size_t n, void *userdata)
{
        struct listener *l = userdata;
        size_t size = strlen(l->text);

        (void)snprintf(l->text + size, sizeof(l->text) - size, "%.*s;", (int)n, text);
}

static void listen_to(struct sg_journal *j, struct listener *l, const char *unit,
                      const char *invocation)
{
        *l = (struct listener){
                .unit = {.unit = (char *)unit, .since_usec = BEGIN, .message = on_message}};
        l->unit.userdata = l;
        (void)snprintf(l->unit.invocation, sizeof(l->unit.invocation), "%s", invocation);
        sg_journal_add(j, &l->unit);
}

static void expect(struct sg_journal *j, struct listener *l, const char *text)
{
        assert_int_equal(sg_journal_look(j), 0);
        assert_string_equal(l->text, text);
        l->text[0] = 0;
}

static struct sg_journal *open_journal(void)
{
        struct sg_journal *j = NULL;

        assert_int_equal(sg_journal_new(&j, root), 0);
        return j;
}

static void test_unit(void **state)
{
        struct sg_journal *j = open_journal();
        struct listener a;

        (void)state;
        say("a.service", INVOCATION_A, "one");
        say("b.service", INVOCATION_B, "other");
        say("a.service", INVOCATION_A, "two");
        listen_to(j, &a, "a.service", "");
        expect(j, &a, "one;two;");
        expect(j, &a, "");
        say("b.service", INVOCATION_B, "other");
        expect(j, &a, "");
        say("a.service", INVOCATION_A, "three");
        expect(j, &a, "three;");
        sg_journal_remove(j, &a.unit);
        sg_journal_free(j);
}

/* Of a unit's name only this life; of what came before the job nothing. */
static void test_invocation(void **state)
{
        struct sg_journal *j = open_journal();
        struct listener a, late;

        (void)state;
        say("a.service", INVOCATION_B, "an earlier life");
        say("a.service", INVOCATION_A, "one");
        listen_to(j, &a, "a.service", INVOCATION_A);
        listen_to(j, &late, "a.service", INVOCATION_B);
        late.unit.since_usec = BEGIN + 1000 * SG_USEC_PER_SEC;
        expect(j, &a, "one;");
        assert_string_equal(late.text, "");
        sg_journal_remove(j, &a.unit);
        sg_journal_remove(j, &late.unit);
        sg_journal_free(j);
}

/* Units that come and go: none of the others loses a line, or hears one twice. */
static void test_several(void **state)
{
        struct sg_journal *j = open_journal();
        struct listener a, b, c;

        (void)state;
        say("a.service", INVOCATION_A, "a1");
        say("b.service", INVOCATION_B, "b1");
        listen_to(j, &a, "a.service", "");
        expect(j, &a, "a1;");
        say("a.service", INVOCATION_A, "a2");
        say("b.service", INVOCATION_B, "b2");
        say("a.service", INVOCATION_A, "a3");
        listen_to(j, &b, "b.service", INVOCATION_B);
        expect(j, &b, "b1;b2;");
        expect(j, &a, "a2;a3;");
        listen_to(j, &c, "c.service", "");
        expect(j, &c, "");
        say("c.service", INVOCATION_A, "c1");
        say("b.service", INVOCATION_B, "b3");
        expect(j, &c, "c1;");
        expect(j, &b, "b3;");
        sg_journal_remove(j, &a.unit);
        say("a.service", INVOCATION_A, "a4");
        say("b.service", INVOCATION_B, "b4");
        expect(j, &b, "b4;");
        sg_journal_remove(j, &b.unit);
        sg_journal_remove(j, &c.unit); /* closes the journal */
        say("b.service", INVOCATION_B, "b5");
        listen_to(j, &b, "b.service", "");
        expect(j, &b, "b1;b2;b3;b4;b5;");
        assert_string_equal(a.text, "");
        sg_journal_remove(j, &b.unit);
        sg_journal_free(j);
}

/* journald begins another file now and then, and takes old ones away. */
static void test_files_of_the_journal(void **state)
{
        struct sg_journal *j = open_journal();
        struct listener a;

        (void)state;
        say("a.service", INVOCATION_A, "one");
        listen_to(j, &a, "a.service", "");
        expect(j, &a, "one;");
        assert_int_equal(rename(in("system.journal"), in("system@1.journal")), 0);
        say("a.service", INVOCATION_A, "two");
        expect(j, &a, "two;");
        assert_int_equal(unlink(in("system@1.journal")), 0);
        expect(j, &a, "");
        say("a.service", INVOCATION_A, "three");
        expect(j, &a, "three;");
        sg_journal_remove(j, &a.unit);
        sg_journal_free(j);
}

static void test_no_journal(void **state)
{
        struct sg_journal *j = NULL;
        struct listener a;

        (void)state;
        assert_int_equal(sg_journal_new(&j, in("missing")), 0);
        assert_int_equal(sg_journal_look(j), 0); /* nobody asked */
        listen_to(j, &a, "a.service", "");
        assert_int_equal(sg_journal_look(j), -ENOENT);
        assert_int_equal(mkdir(in("missing"), 0700), 0);
        expect(j, &a, ""); /* it is there now, and empty */
        journal_file = "missing/system.journal";
        say("a.service", INVOCATION_A, "one");
        journal_file = "system.journal";
        expect(j, &a, "one;");
        sg_journal_remove(j, &a.unit);
        sg_journal_free(j);
}

/* --- the whole */

static void test_reader(void **state)
{
        (void)state;
        say("a.service", INVOCATION_A, "Epoch 2/5");
        say("a.service", INVOCATION_A, "12/100 [==>...........] - ETA: 3s - loss: 0.5");
        start_reader(root);
        follow(1, (struct sg_follow){.unit = "a.service", .invocation = INVOCATION_A});
        follow(2, (struct sg_follow){.unit = "b.service",
                                     .pattern = "at (?<step>\\d+), l=(?<loss>.*)"});
        sg_job_reader_set_interval(reader, INTERVAL);
        wait_until(heard[1].calls > 0);
        assert_int_equal(heard[1].report.step, 12);
        assert_near(heard[1].report.eval, 0.5, 0);
        assert_string_equal(heard[1].source, "journal");
        say("b.service", INVOCATION_B, "at 7, l=0.25");
        wait_until(heard[2].report.step == 7);
        sg_job_reader_set_interval(reader, 0);
        say("b.service", INVOCATION_B, "at 9, l=0.125");
        assert_int_equal(finish(2), 0); /* looks once more */
        wait_until(heard[2].n_finished == 1);
        assert_int_equal(heard[2].report.step, 9);
        assert_near(heard[2].report.eval, 0.125, 0);
        assert_int_equal(heard[1].n_trouble + heard[2].n_trouble, 0);
}

static void test_reader_without_journal(void **state)
{
        (void)state;
        start_reader(in("missing"));
        follow(1, (struct sg_follow){.unit = "a.service"});
        sg_job_reader_set_interval(reader, INTERVAL);
        wait_until(heard[1].n_trouble == 1);
        assert_non_null(strstr(heard[1].trouble, "cannot read the journal"));
        assert_int_equal(sg_job_reader_restarts(reader), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(test_unit, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_invocation, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_several, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_files_of_the_journal, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_no_journal, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_reader, set_up, tear_down),
                cmocka_unit_test_setup_teardown(test_reader_without_journal, set_up, tear_down),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
