/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/edge/common/worker_fixture.h"

unsigned count_fds(void)
{
        _cleanup_closedir_ DIR *d = opendir("/proc/self/fd");
        unsigned n = 0;

        assert_non_null(d);
        while (readdir(d))
                n++;
        return n;
}

/* --- children */

/* "echo TEXT", "hang", "die", "close", "large", "torn", "nonsense", "fds" */
int answer(const uint8_t *data, size_t size, struct sg_record *out)
{
        char text[FRAME_MAX + 1] = "";
        static uint8_t zeros[2 * FRAME_MAX];

        memcpy(text, data, size);
        if (strncmp(text, "echo ", 5) == 0)
                sg_record_append(out, data + 5, size - 5);
        else if (strcmp(text, "hang") == 0)
                pause();
        else if (strcmp(text, "die") == 0)
                (void)raise(SIGKILL);
        else if (strcmp(text, "large") == 0)
                sg_record_append(out, zeros, sizeof(zeros));
        else if (strcmp(text, "fds") == 0)
                sg_record_append(out, text, (size_t)sprintf(text, "%u", count_fds()));
        else
                return -EBADMSG;
        return 0;
}

int serve(int fd, void *userdata)
{
        (void)userdata;
        return sg_worker_serve(fd, FRAME_MAX, answer);
}

/* Answers with more than is agreed upon. */
int serve_large(int fd, void *userdata)
{
        (void)userdata;
        return sg_worker_serve(fd, 4 * FRAME_MAX, answer);
}

int say(int fd, void *userdata)
{
        (void)userdata;
        assert_int_equal(sg_frame_send(fd, "word", 4, FRAME_MAX), 0);
        (void)pause();
        return 0;
}

int say_half(int fd, void *userdata)
{
        const uint32_t length = 100;

        (void)userdata;
        (void)!write(fd, &length, sizeof(length));
        (void)!write(fd, "half", 4);
        return 0;
}

int close_and_live(int fd, void *userdata)
{
        (void)userdata;
        (void)close(fd);
        (void)pause();
        return 0;
}

int exit_with_seven(int fd, void *userdata)
{
        (void)fd;
        (void)userdata;
        return 7;
}

int stop_reading(int fd, void *userdata)
{
        (void)fd;
        (void)userdata;
        (void)raise(SIGSTOP);
        return serve(fd, userdata);
}

/* --- what is heard */

int on_prepare(void *userdata)
{
        struct bench *b = userdata;

        if (b->prepared < SG_ELEMENTSOF(b->born_usec))
                b->born_usec[b->prepared] = sg_now_monotonic_usec();
        b->prepared++;
        return 0;
}

int on_frame(const uint8_t *data, size_t size, void *userdata)
{
        struct bench *b = userdata;

        b->frames++;
        (void)snprintf(b->last, sizeof(b->last), "%.*s", (int)size, (const char *)data);
        if (b->free_it)
                b->worker = sg_worker_free(b->worker);
        return b->frame_result;
}

void on_started(void *userdata)
{
        ((struct bench *)userdata)->starts++;
}

void on_dead(pid_t pid, int error, void *userdata)
{
        struct bench *b = userdata;

        assert_true(pid > 0);
        b->deaths++;
        b->death = error;
}

void on_buried(int status, void *userdata)
{
        struct bench *b = userdata;

        b->burials++;
        b->status = status;
        if (b->free_it)
                b->worker = sg_worker_free(b->worker);
}

void on_answer(int result, const uint8_t *data, size_t size, void *userdata)
{
        struct bench *b = userdata;

        if (result < 0) {
                assert_null(data);
                b->failures++;
                b->error = result;
        } else {
                b->answers++;
                (void)snprintf(b->last, sizeof(b->last), "%.*s", (int)size, (const char *)data);
        }
        if (b->free_it)
                b->worker = sg_worker_free(b->worker);
}

struct sg_worker_kind kind;

int setup(void **state)
{
        struct bench *b = calloc(1, sizeof(*b));

        assert_non_null(b);
        kind = (struct sg_worker_kind){
                .name = "schedgov-test",
                .title = "a test's worker",
                .frame_max = FRAME_MAX,
                .main = serve,
                .prepare = on_prepare,
                .started = on_started,
                .dead = on_dead,
                .buried = on_buried,
        };
        sg_log_set_level(LOG_CRIT);
        assert_int_equal(sd_event_new(&b->event), 0);
        *state = b;
        return 0;
}

int teardown(void **state)
{
        struct bench *b = *state;

        sg_worker_free(b->worker);
        assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
        assert_int_equal(errno, ECHILD);
        sd_event_unref(b->event);
        free(b);
        return 0;
}

void make(struct bench *b)
{
        assert_int_equal(sg_worker_new(&b->worker, &kind, b), 0);
        assert_int_equal(sg_worker_attach(b->worker, b->event), 0);
}

void start(struct bench *b)
{
        make(b);
        assert_int_equal(sg_worker_start(b->worker, -1), 0);
        assert_true(sg_worker_is_running(b->worker));
        assert_true(sg_worker_is_one(sg_worker_pid(b->worker)));
}

void ask_within(struct bench *b, const char *question, uint64_t usec)
{
        assert_int_equal(sg_worker_ask(b->worker, question, strlen(question), usec, on_answer, b),
                         0);
}

void ask(struct bench *b, const char *question)
{
        ask_within(b, question, PATIENCE_USEC);
}
