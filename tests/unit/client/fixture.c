/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See fixture.h. */
#include "tests/unit/client/fixture.h"

#ifdef __SANITIZE_THREAD__
/* A child of a process of several threads ends without having joined its parent's. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
        return "report_thread_leaks=0";
}
#endif

const struct sg_job_key key = {.origin = "host", .n = 3, .attempt = 1};

int job_go, job_says;

enum sg_notify_who lookup(const struct sg_notify_sender *sender, struct sg_job_key *ret,
                          void *userdata)
{
        (void)sender;
        (void)userdata;
        *ret = key;
        return SG_NOTIFY_JOB;
}

void on_message(const struct sg_job_key *k, const struct sg_notify *message, void *userdata)
{
        struct fixture *f = userdata;

        (void)k;
        f->messages++;
        sg_report_merge(&f->report, &message->report);
        if (message->has_status)
                strcpy(f->status, message->status);
        f->checkpointed = f->checkpointed || message->checkpointed;
        assert_int_equal(message->n_bad, 0);
}

void publish(struct fixture *f, uint64_t quota_pm, const char *cpus)
{
        struct sg_cpuset set;

        assert_int_equal(sg_parse_cpuset(cpus, &set), 0);
        sg_allocation_decide(&f->now, &(struct sg_allocation_input){.node = &set,
                                                                    .quota_pm = quota_pm,
                                                                    .gpus = "GPU-1",
                                                                    .deadline_usec = 1234567890});
        assert_int_equal(sg_allocations_publish(f->allocations, &key, &f->now), 1);
}

int setup(void **state)
{
        struct fixture *f = calloc(1, sizeof(*f));
        struct sg_notify_socket_options o = {.lookup = lookup, .on_message = on_message};

        assert_non_null(f);
        *state = f;
        sg_log_set_level(LOG_EMERG);
        strcpy(f->dir, "/tmp/sg-client-XXXXXX");
        assert_non_null(mkdtemp(f->dir));
        assert_int_equal(sg_path_join(f->path, sizeof(f->path), f->dir, "notify"), 0);
        assert_int_equal(sg_path_join(f->root, sizeof(f->root), f->dir, "a"), 0);
        o.path = f->path;
        o.userdata = f;
        assert_int_equal(sd_event_new(&f->event), 0);
        assert_int_equal(sg_notify_socket_new(&f->socket, f->event, &o), 0);
        assert_int_equal(sg_allocations_open(&f->allocations, f->root), 0);
        assert_int_equal(
                sg_allocations_path(f->allocations, &key, f->allocation, sizeof(f->allocation)), 0);
        publish(f, 15000, "0-3");
        return 0;
}

int teardown(void **state)
{
        struct fixture *f = *state;

        f->socket = sg_notify_socket_free(f->socket);
        f->allocations = sg_allocations_close(f->allocations);
        sd_event_unref(f->event);
        assert_int_equal(sg_remove_tree(AT_FDCWD, f->dir), 0);
        free(f);
        return 0;
}

void wait_for_go(void)
{
        char c = 'x';

        expect(write(job_says, &c, 1) == 1);
        expect(read(job_go, &c, 1) == 1);
}

struct job start(struct fixture *f, void (*body)(void))
{
        int go[2], says[2];
        struct job j;

        assert_return_code(pipe2(go, O_CLOEXEC), errno);
        assert_return_code(pipe2(says, O_CLOEXEC), errno);
        j.pid = fork();
        if (j.pid == 0) {
                (void)setenv("NOTIFY_SOCKET", f->path, 1);
                (void)setenv("SCHEDGOV_ALLOCATION", f->allocation, 1);
                job_go = go[0];
                job_says = says[1];
                (void)close(go[1]);
                body();
                exit(0);
        }
        assert_return_code(j.pid, errno);
        (void)close(go[0]);
        (void)close(says[1]);
        j.go = go[1];
        j.says = says[0];
        return j;
}

bool step(struct fixture *f, uint64_t end)
{
        assert_true(sg_now_monotonic_usec() < end);
        assert_return_code(sd_event_run(f->event, 5 * SG_USEC_PER_MSEC), 0);
        return true;
}

void await(struct fixture *f, struct job *j)
{
        struct pollfd p = {.fd = j->says, .events = POLLIN};
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        char c;

        while (poll(&p, 1, 0) == 0)
                (void)step(f, end);
        assert_int_equal(read(j->says, &c, 1), 1);
}

void let_go(struct job *j)
{
        assert_int_equal(write(j->go, "x", 1), 1);
}

void finish(struct fixture *f, struct job *j)
{
        uint64_t end = sg_now_monotonic_usec() + PATIENCE_USEC;
        int status;

        while (waitpid(j->pid, &status, WNOHANG) == 0)
                (void)step(f, end);
        (void)close(j->go);
        (void)close(j->says);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
}

void run(struct fixture *f, void (*body)(void))
{
        struct job j = start(f, body);

        finish(f, &j);
}
