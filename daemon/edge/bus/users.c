/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/users.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/time-util.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

/* A remembered name; an account may be renamed or made anew, so not for ever. */
#define CACHE_SEC 300

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
        struct sg_list link;
        struct sg_list waiters;
        struct sg_users *users;
        uid_t uid;
        pid_t child;
        sd_event_source *source;
};

struct sg_users {
        sd_event *event;
        struct sg_list cache, lookups;
};

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

static void lookup_free(struct lookup *l)
{
        struct waiter *w, *next;

        if (l->child > 0) {
                (void)kill(l->child, SIGKILL); /* has answered, or won't be asked any more */
                (void)waitpid(l->child, NULL, 0);
        }
        sd_event_source_disable_unref(l->source);
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

static int find_local(uid_t uid, char name[SG_USER_NAME_MAX])
{
        _cleanup_fclose_ FILE *f = fopen("/etc/passwd", "re");
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

static int on_answer(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct lookup *l = userdata;
        char name[SG_USER_NAME_MAX];
        struct waiter *w;
        ssize_t n;

        (void)source;
        (void)revents;
        n = read(fd, name, sizeof(name) - 1);
        if (n <= 0)
                n = snprintf(name, sizeof(name), "%u", l->uid);
        name[n] = 0;
        cache_put(l->users, l->uid, name);
        sg_list_foreach (w, &l->waiters, link)
                w->cb(0, name, w->userdata);
        lookup_free(l);
        return 0;
}

/* Keeps nothing of ours open but its answer: a hung lookup must not hold the state directory's
 * lock. */
static void child_main(uid_t uid, int fd)
{
        struct passwd *pw;

        if (fd > 3)
                (void)close_range(3, (unsigned)fd - 1, 0);
        (void)close_range((unsigned)fd + 1, ~0U, 0);
        pw = getpwuid(uid);

        if (pw && strlen(pw->pw_name) < SG_USER_NAME_MAX)
                (void)!write(fd, pw->pw_name, strlen(pw->pw_name));
        _exit(0);
}

static int lookup_start(struct lookup *l)
{
        int fds[2], r;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        l->child = fork();
        if (l->child == 0)
                child_main(l->uid, fds[1]);
        r = l->child < 0 ? -errno : 0;
        (void)sg_close(fds[1]);
        if (r >= 0)
                r = sd_event_add_io(l->users->event, &l->source, fds[0], EPOLLIN, on_answer, l);
        if (r < 0) {
                (void)sg_close(fds[0]);
                return r;
        }
        (void)sd_event_source_set_io_fd_own(l->source, 1);
        return 0;
}

static int lookup_get(struct sg_users *u, uid_t uid, struct lookup **ret)
{
        struct lookup *l;
        int r;

        sg_list_foreach (l, &u->lookups, link)
                if (l->uid == uid) {
                        *ret = l;
                        return 0;
                }
        l = calloc(1, sizeof(*l));
        if (!l)
                return -ENOMEM;
        l->users = u;
        l->uid = uid;
        sg_list_init(&l->waiters);
        sg_list_append(&u->lookups, &l->link);
        r = lookup_start(l);
        if (r < 0) {
                lookup_free(l);
                return r;
        }
        *ret = l;
        return 0;
}

static int lookup_in_child(struct sg_users *u, uid_t uid, sg_users_cb cb, void *userdata)
{
        struct waiter *w = calloc(1, sizeof(*w));
        struct lookup *l;
        int r;

        if (!w)
                return -ENOMEM;
        r = lookup_get(u, uid, &l);
        if (r < 0) {
                free(w);
                return r;
        }
        w->cb = cb;
        w->userdata = userdata;
        sg_list_append(&l->waiters, &w->link);
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
        _cleanup_fclose_ FILE *f = fopen("/etc/group", "re");
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
        _cleanup_fclose_ FILE *f = fopen("/etc/group", "re");
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
