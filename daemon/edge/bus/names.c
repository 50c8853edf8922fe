/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/names.h"
#include "base/list.h"
#include "base/time-util.h"
#include "edge/bus/users.h"
#include "edge/common/worker.h"
#include <errno.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#define FRAME_MAX 8192 /* a line of a policy file fits */

struct sg_names {
        sd_event *event;
        struct sg_list searches;
};

/* Has a child of its own, and lives until that is gone. */
struct search {
        struct sg_list link;
        struct sg_worker *worker;
        size_t n, n_answered;
        sg_names_cb done;
        void *userdata;
        int results[];
};

static void search_free(struct search *s)
{
        sg_list_remove(&s->link);
        sg_worker_free(s->worker);
        free(s);
}

/* In the child */

/* How getpwnam(3) says that it has found nobody, and not that it couldn't look. */
static bool is_nobody(int error)
{
        return error == 0 || error == ENOENT || error == ESRCH;
}

static int answer(const uint8_t *data, size_t size, struct sg_record *out)
{
        uint8_t known;

        if (size == 0 || data[size - 1] != '\0')
                return -EBADMSG;
        errno = 0;
        known = getpwnam((const char *)data) != NULL;
        if (!known && !is_nobody(errno))
                return -errno;
        sg_record_append(out, &known, sizeof(known));
        return 0;
}

static int child_main(int fd, void *userdata)
{
        (void)userdata;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* it may hang */
        return sg_worker_serve(fd, FRAME_MAX, answer);
}

/* The daemon */

static void on_buried(int status, void *userdata)
{
        (void)status;
        search_free(userdata);
}

static const struct sg_worker_kind kind = {
        .name = "schedgov-names",
        .title = "who looks for users by their names",
        .frame_max = FRAME_MAX,
        .main = child_main,
        .buried = on_buried,
};

/* Answers come in the order of the questions. */
static void on_answer(int result, const uint8_t *data, size_t size, void *userdata)
{
        struct search *s = userdata;

        s->results[s->n_answered++] = result < 0 ? result : size == 1 && data[0] != 0;
        if (s->n_answered < s->n)
                return;
        s->done(s->results, s->n, s->userdata);
        sg_worker_stop(s->worker);
}

static int begin(struct sg_names *names, struct search *s, const char *const *list)
{
        int r = sg_worker_new(&s->worker, &kind, s);

        if (r >= 0)
                r = sg_worker_attach(s->worker, names->event);
        for (size_t i = 0; r >= 0 && i < s->n; i++)
                r = sg_worker_ask(s->worker, list[i], strlen(list[i]) + 1, sg_users_patience_usec,
                                  on_answer, s);
        return r < 0 ? r : sg_worker_start(s->worker, -1);
}

int sg_names_find(struct sg_names *names, const char *const *list, size_t n, sg_names_cb done,
                  void *userdata)
{
        struct search *s = calloc(1, sizeof(*s) + n * sizeof(s->results[0]));
        int r;

        if (!s)
                return -ENOMEM;
        s->n = n;
        s->done = done;
        s->userdata = userdata;
        sg_list_append(&names->searches, &s->link);
        r = begin(names, s, list);
        if (r < 0)
                search_free(s);
        return r;
}

/* The object */

int sg_names_new(struct sg_names **ret, sd_event *event)
{
        struct sg_names *s = calloc(1, sizeof(*s));

        if (!s)
                return -ENOMEM;
        s->event = sd_event_ref(event);
        sg_list_init(&s->searches);
        *ret = s;
        return 0;
}

struct sg_names *sg_names_free(struct sg_names *names)
{
        struct search *s, *next;

        if (!names)
                return NULL;
        sg_list_foreach_safe (s, next, &names->searches, link) {
                sg_worker_stop(s->worker);
                while (s->n_answered < s->n)
                        on_answer(-ECANCELED, NULL, 0, s);
        }
        sg_list_foreach_safe (s, next, &names->searches, link)
                search_free(s);
        sd_event_unref(names->event);
        free(names);
        return NULL;
}
