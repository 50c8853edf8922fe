/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/users.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/time-util.h"
#include "edge/common/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

/* A remembered name; an account may be renamed or made anew, so not for ever. */
#define CACHE_SEC 300

/* Children at the same time; those who hang are gone after the patience. */
#define CHILDREN_MAX 16
#define FRAME_MAX 512

uint64_t sg_users_patience_usec = 5 * SG_USEC_PER_SEC;

struct entry {
        struct sg_list link;
        uid_t uid;
        time_t since;
        char name[SG_USER_NAME_MAX];
};

struct waiter {
        struct sg_list link;
        sg_users_cb cb;
        void *userdata;
};

/* One child per uid, however many ask for it meanwhile. */
struct lookup {
        struct sg_list link; /* from the question to the end of the child */
        struct sg_list waiters;
        struct sg_users *users;
        uid_t uid;
        struct sg_worker *worker;
        bool begun, over;
};

struct sg_users {
        sd_event *event;
        struct sg_list cache, lookups;
};

static void begin_lookups(struct sg_users *u);

int sg_users_new(struct sg_users **ret, sd_event *event)
{
        struct sg_users *u = calloc(1, sizeof(*u));

        if (!u)
                return -ENOMEM;
        u->event = sd_event_ref(event);
        sg_list_init(&u->cache);
        sg_list_init(&u->lookups);
        *ret = u;
        return 0;
}

/* The child is killed by now; it is waited for only if the daemon itself ends. */
static void lookup_free(struct lookup *l)
{
        struct waiter *w, *next;

        sg_worker_free(l->worker);
        sg_list_foreach_safe (w, next, &l->waiters, link)
                free(w);
        sg_list_remove(&l->link);
        free(l);
}

struct sg_users *sg_users_free(struct sg_users *u)
{
        struct lookup *l, *next_lookup;
        struct entry *e, *next_entry;

        if (!u)
                return NULL;
        sg_list_foreach (l, &u->lookups, link)
                sg_worker_stop(l->worker);
        sg_list_foreach_safe (l, next_lookup, &u->lookups, link)
                lookup_free(l);
        sg_list_foreach_safe (e, next_entry, &u->cache, link)
                free(e);
        sd_event_unref(u->event);
        free(u);
        return NULL;
}

static time_t now_sec(void)
{
        struct timespec ts;

        (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
        return ts.tv_sec;
}

static const char *cache_get(struct sg_users *u, uid_t uid)
{
        struct entry *e, *next;

        sg_list_foreach_safe (e, next, &u->cache, link) {
                if (now_sec() - e->since > CACHE_SEC) {
                        sg_list_remove(&e->link);
                        free(e);
                } else if (e->uid == uid) {
                        return e->name;
                }
        }
        return NULL;
}

static void cache_put(struct sg_users *u, uid_t uid, const char *name)
{
        struct entry *e = calloc(1, sizeof(*e));

        if (!e)
                return;
        e->uid = uid;
        e->since = now_sec();
        strncpy(e->name, name, sizeof(e->name) - 1);
        sg_list_append(&u->cache, &e->link);
}

/* A name that isn't a regular file's, such as a FIFO that nobody writes to, is left to NSS: its
 * child may hang. */
static FILE *open_file(const char *path)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        struct stat st;
        FILE *f;

        if (fd < 0 || fstat(fd, &st) < 0)
                return NULL;
        if (!S_ISREG(st.st_mode)) {
                errno = EINVAL;
                return NULL;
        }
        f = fdopen(fd, "r");
        if (f)
                (void)TAKE_FD(fd);
        return f;
}

static int find_local(uid_t uid, char name[SG_USER_NAME_MAX])
{
        _cleanup_fclose_ FILE *f = open_file("/etc/passwd");
        char buf[4096];
        struct passwd pw, *found;

        if (!f)
                return -errno;
        while (fgetpwent_r(f, &pw, buf, sizeof(buf), &found) == 0)
                if (found->pw_uid == uid && strlen(found->pw_name) < SG_USER_NAME_MAX) {
                        strcpy(name, found->pw_name);
                        return 0;
                }
        return -ENOENT;
}

/* --- in a child */

static int answer(const uint8_t *data, size_t size, struct sg_record *out)
{
        struct passwd *pw;
        uid_t uid;

        if (size != sizeof(uid))
                return -EBADMSG;
        memcpy(&uid, data, sizeof(uid));
        pw = getpwuid(uid);
        sg_record_append(out, pw ? pw->pw_name : "", pw ? strlen(pw->pw_name) + 1 : 1);
        return 0;
}

static int child_main(int fd, void *userdata)
{
        (void)userdata;
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* it may hang */
        return sg_worker_serve(fd, FRAME_MAX, answer);
}

/* --- the daemon */

static void on_buried(int status, void *userdata)
{
        struct lookup *l = userdata;
        struct sg_users *u = l->users;

        (void)status;
        lookup_free(l);
        begin_lookups(u);
}

static const struct sg_worker_kind lookup_kind = {
        .name = "schedgov-users",
        .title = "who looks up a user's name",
        .frame_max = FRAME_MAX,
        .main = child_main,
        .buried = on_buried,
};

/* A callback that asks for the same uid again begins a new lookup. */
static void finish(struct lookup *l, int result, const char *name)
{
        l->over = true;
        while (!sg_list_empty(&l->waiters)) {
                struct waiter *w = sg_list_entry(l->waiters.next, struct waiter, link);
                sg_users_cb cb = w->cb;
                void *userdata = w->userdata;

                sg_list_remove(&w->link);
                free(w);
                cb(result, name, userdata);
        }
        if (l->begun)
                sg_worker_stop(l->worker);
        else
                lookup_free(l);
}

/* A child that has died knows of nobody. */
static void on_answer(int result, const uint8_t *data, size_t size, void *userdata)
{
        struct lookup *l = userdata;
        char name[SG_USER_NAME_MAX];
        bool found = result >= 0 && size > 1 && size <= sizeof(name);

        if (found)
                (void)snprintf(name, sizeof(name), "%.*s", (int)size, (const char *)data);
        else
                (void)snprintf(name, sizeof(name), "%u", l->uid);
        if (result == -ETIMEDOUT) {
                finish(l, result, name);
                return;
        }
        cache_put(l->users, l->uid, name);
        finish(l, 0, name);
}

/* Dead children count until they are gone: one that hangs in the kernel can't be killed. */
static struct lookup *next_lookup(struct sg_users *u)
{
        struct lookup *l, *next = NULL;
        unsigned n = 0;

        sg_list_foreach (l, &u->lookups, link) {
                n += l->begun;
                if (!next && !l->begun && !l->over)
                        next = l;
        }
        return n < CHILDREN_MAX ? next : NULL;
}

/* Lookups for which there is no child yet wait, and their time runs. */
static void begin_lookups(struct sg_users *u)
{
        struct lookup *l;

        while ((l = next_lookup(u))) {
                char name[SG_USER_NAME_MAX];
                int r = sg_worker_start(l->worker, -1);

                l->begun = r >= 0;
                if (r >= 0)
                        continue;
                (void)snprintf(name, sizeof(name), "%u", l->uid);
                finish(l, r, name);
        }
}

static int lookup_new(struct sg_users *u, uid_t uid, struct lookup **ret)
{
        struct lookup *l = calloc(1, sizeof(*l));
        int r;

        if (!l)
                return -ENOMEM;
        l->users = u;
        l->uid = uid;
        sg_list_init(&l->waiters);
        sg_list_append(&u->lookups, &l->link);
        r = sg_worker_new(&l->worker, &lookup_kind, l);
        if (r >= 0)
                r = sg_worker_attach(l->worker, u->event);
        if (r >= 0)
                r = sg_worker_ask(l->worker, &uid, sizeof(uid), sg_users_patience_usec, on_answer,
                                  l);
        if (r < 0) {
                lookup_free(l);
                return r;
        }
        *ret = l;
        return 0;
}

static struct lookup *find_lookup(struct sg_users *u, uid_t uid)
{
        struct lookup *l;

        sg_list_foreach (l, &u->lookups, link)
                if (l->uid == uid && !l->over)
                        return l;
        return NULL;
}

static int lookup_in_child(struct sg_users *u, uid_t uid, sg_users_cb cb, void *userdata)
{
        struct waiter *w = calloc(1, sizeof(*w));
        struct lookup *l = find_lookup(u, uid);
        int r = w ? 0 : -ENOMEM;

        if (r >= 0 && !l)
                r = lookup_new(u, uid, &l);
        if (r < 0) {
                free(w);
                return r;
        }
        w->cb = cb;
        w->userdata = userdata;
        sg_list_append(&l->waiters, &w->link);
        begin_lookups(u);
        return 0;
}

int sg_users_lookup(struct sg_users *u, uid_t uid, sg_users_cb cb, void *userdata)
{
        const char *known = cache_get(u, uid);
        char name[SG_USER_NAME_MAX];

        if (known) {
                cb(0, known, userdata);
                return 0;
        }
        if (find_local(uid, name) == 0) {
                cache_put(u, uid, name);
                cb(0, name, userdata);
                return 0;
        }
        return lookup_in_child(u, uid, cb, userdata);
}

static struct waiter *find_waiter(struct lookup *l, sg_users_cb cb, void *userdata)
{
        struct waiter *w;

        sg_list_foreach (w, &l->waiters, link)
                if (w->cb == cb && w->userdata == userdata)
                        return w;
        return NULL;
}

void sg_users_cancel(struct sg_users *u, sg_users_cb cb, void *userdata)
{
        struct lookup *l, *next;

        sg_list_foreach_safe (l, next, &u->lookups, link) {
                struct waiter *w = find_waiter(l, cb, userdata);

                if (!w)
                        continue;
                sg_list_remove(&w->link);
                free(w);
                if (sg_list_empty(&l->waiters) && !l->over)
                        finish(l, -ECANCELED, "");
        }
}

void sg_users_explain(char buf[SG_USERS_WHY_MAX], uid_t uid, int error)
{
        if (error == -ETIMEDOUT)
                (void)snprintf(buf, SG_USERS_WHY_MAX,
                               "cannot tell the name of user %u: the directory service hasn't "
                               "answered within %u s; try again",
                               uid, (unsigned)(sg_users_patience_usec / SG_USEC_PER_SEC));
        else
                (void)snprintf(buf, SG_USERS_WHY_MAX,
                               "cannot tell the name of user %u: %s; try again", uid,
                               strerror(-error));
}

/* Groups */

static bool in_list(const gid_t *gids, size_t n, gid_t gid)
{
        for (size_t i = 0; i < n; i++)
                if (gids[i] == gid)
                        return true;
        return false;
}

static int add_local_names(FILE *f, const gid_t *gids, size_t n, char **names, size_t max)
{
        struct group gr, *found;
        char buf[65536];
        size_t k = 0;

        while (k < max && fgetgrent_r(f, &gr, buf, sizeof(buf), &found) == 0) {
                if (!in_list(gids, n, found->gr_gid))
                        continue;
                names[k] = strdup(found->gr_name);
                if (!names[k++])
                        return -ENOMEM;
        }
        return 0;
}

int sg_users_group_names(const gid_t *gids, size_t n, char ***ret)
{
        _cleanup_fclose_ FILE *f = open_file("/etc/group");
        char **names;
        int r = 0;

        names = calloc(2 * n + 1, sizeof(*names));
        if (!names)
                return -ENOMEM;
        for (size_t i = 0; i < n && r >= 0; i++)
                if (asprintf(&names[i], "%u", gids[i]) < 0) {
                        names[i] = NULL;
                        r = -ENOMEM;
                }
        if (f && r >= 0)
                r = add_local_names(f, gids, n, names + n, n);
        if (r < 0) {
                sg_strv_free(names);
                return r;
        }
        *ret = names;
        return 0;
}

int sg_users_find_group(const char *name, gid_t *ret)
{
        _cleanup_fclose_ FILE *f = open_file("/etc/group");
        char buf[65536];
        struct group gr, *found;

        if (!f)
                return -errno;
        while (fgetgrent_r(f, &gr, buf, sizeof(buf), &found) == 0)
                if (strcmp(found->gr_name, name) == 0) {
                        *ret = found->gr_gid;
                        return 0;
                }
        return -ENOENT;
}
