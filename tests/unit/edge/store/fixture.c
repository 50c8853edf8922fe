/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* See fixture.h. */
#include "tests/unit/edge/store/fixture.h"

char root[PATH_MAX - 64], state_dir[PATH_MAX];

int set_up(void **state)
{
        const char *tmp = getenv("TMPDIR");

        (void)state;
        (void)snprintf(root, sizeof(root), "%s/sg-test-store.XXXXXX", tmp ? tmp : "/tmp");
        if (!mkdtemp(root))
                return -1;
        return sg_path_join(state_dir, sizeof(state_dir), root, "state");
}

int tear_down(void **state)
{
        (void)state;
        return sg_remove_tree(AT_FDCWD, root);
}

struct sg_store *open_store(void)
{
        struct sg_store *s = NULL;
        char *why = NULL;
        int r = sg_store_open(&s, state_dir, &why);

        if (r < 0)
                print_error("sg_store_open: %s (%s)\n", strerror(-r), why ? why : "-");
        assert_int_equal(r, 0);
        return s;
}

void expect_refusal(int error, const char *word)
{
        _cleanup_free_ char *why = NULL;
        struct sg_store *s = NULL;

        assert_int_equal(sg_store_open(&s, state_dir, &why), error);
        assert_null(s);
        assert_non_null(why);
        if (!strstr(why, word))
                print_error("\"%s\" doesn't say \"%s\"\n", why, word);
        assert_non_null(strstr(why, word));
        assert_null(strchr(why, '\n'));
}

void make_job(struct sg_job *job, uint64_t n)
{
        sg_job_init(job);
        (void)snprintf(job->key.origin, sizeof(job->key.origin), HOME);
        (void)snprintf(job->name, sizeof(job->name), "name%u", (unsigned)n);
        (void)snprintf(job->class, sizeof(job->class), "default");
        (void)snprintf(job->user, sizeof(job->user), "user");
        job->key.n = n;
        job->uid = 1000;
        job->submitted_usec = 1000000 + n;
}

void answer_reset(struct answer *a)
{
        sg_job_deinit(&a->job);
        *a = (struct answer){.result = -ECANCELED};
        sg_job_init(&a->job);
}

void on_done(int result, const struct sg_job *job, void *userdata)
{
        struct answer *a = userdata;

        a->calls++;
        a->result = result;
        if (job)
                assert_int_equal(sg_job_copy(&a->job, job), 0);
}

void on_row(int result, const struct sg_job *job, void *userdata)
{
        struct answer *a = userdata;

        assert_int_equal(result, 0);
        if (a->rows < SG_ELEMENTSOF(a->seen)) {
                a->seen[a->rows] = job->key.n;
                a->sizes[a->rows] = job->spec_bytes;
        }
        a->rows++;
        assert_int_equal(sg_job_copy(&a->job, job), 0);
}

void on_attempt(int result, const struct sg_attempt_info *info, void *userdata)
{
        struct answer *a = userdata;

        a->calls++;
        a->result = result;
        if (info)
                a->info = *info;
}

int submit_n(struct sg_store *s, const struct sg_job *job, uint64_t count, const char *token,
             const char *spec, size_t spec_size)
{
        struct answer a = {.calls = 0};
        char tasks[48];

        (void)snprintf(tasks, sizeof(tasks), "%d-%d", (int)job->array_index,
                       (int)job->array_index + (int)count - 1);
        sg_job_init(&a.job);
        sg_store_submit(s, job, count > 1 ? tasks : NULL, token, spec, spec_size, on_done, &a);
        (void)sg_store_flush(s);
        assert_int_equal(a.calls, 1);
        sg_job_deinit(&a.job);
        return a.result;
}

int submit(struct sg_store *s, uint64_t n)
{
        struct sg_job job;

        make_job(&job, n);
        return submit_n(s, &job, 1, NULL, NULL, 0);
}

int write_job(struct sg_store *s, write_call call, const struct sg_job *job)
{
        struct answer a = {.calls = 0};

        call(s, job, on_done, &a);
        (void)sg_store_flush(s);
        assert_int_equal(a.calls, 1);
        return a.result;
}

int start(struct sg_store *s, const struct sg_job *job, const struct sg_record *launch)
{
        struct answer a = {.calls = 0};

        sg_store_start(s, job, launch ? launch->data : NULL, launch ? launch->size : 0, on_done,
                       &a);
        (void)sg_store_flush(s);
        assert_int_equal(a.calls, 1);
        return a.result;
}

int inspect(struct sg_store *s, const struct sg_job_key *key, enum sg_publish publish,
            struct sg_attempt_info *ret)
{
        struct answer a = {.calls = 0};

        sg_store_inspect(s, key, publish, on_attempt, &a);
        (void)sg_store_flush(s);
        assert_int_equal(a.calls, 1);
        *ret = a.info;
        return a.result;
}

void get(struct sg_store *s, uint64_t n, struct answer *a)
{
        struct sg_store_query q = {.n = n, .origin = HOME, .uid = SG_UNLIMITED, .limit = 1};

        answer_reset(a);
        sg_store_list(s, &q, on_row, on_done, a);
        (void)sg_store_flush(s);
        assert_int_equal(a->calls, 1);
        assert_int_equal(a->result, 0);
}

void load(struct sg_store *s, struct answer *a, uint64_t *ret_last)
{
        answer_reset(a);
        assert_int_equal(sg_store_load(s, ret_last, on_row, a), 0);
}

bool exists(const char *name)
{
        char path[PATH_MAX];

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, name), 0);
        return access(path, F_OK) == 0;
}

void kill_writer(struct sg_store *s)
{
        assert_int_equal(kill(sg_store_pid(s), SIGKILL), 0);
}

void expect_mode(const char *name, mode_t mode)
{
        char path[PATH_MAX];
        struct stat st;

        assert_int_equal(sg_path_join(path, sizeof(path), state_dir, name), 0);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, mode);
}

void make_starting(struct sg_job *job, uint64_t n, uint64_t attempt)
{
        make_job(job, n);
        job->state = SG_JOB_STARTING;
        job->key.attempt = attempt;
        (void)snprintf(job->boot_id, sizeof(job->boot_id), "boot");
}
