/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the job is told: the allocation and wishes for a checkpoint, from two files in a directory
 * of its own. What they say is found by looking at them; inotify only says when it is worth a look,
 * so that nothing is lost when its events are, or when a fork shares them.
 */
#include "client/allocation-text.h"
#include "client/client-internal.h"
#include "client/follow.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct sgc_follow allocation_file = SGC_FOLLOW_INIT, checkpoint_file = SGC_FOLLOW_INIT;
static char directory[PATH_MAX], checkpoint_path[PATH_MAX];
static struct sgc_allocation current;
static bool known; /* current holds something */
static _Atomic uint64_t threads;

static struct {
        schedgov_allocation_fn allocation;
        schedgov_checkpoint_fn checkpoint;
        void *allocation_data, *checkpoint_data;
        bool allocation_told;
        struct schedgov_allocation told;
        uint64_t checkpoint_told; /* its id */
} callbacks;

static int events = -1;
static pid_t events_owner;

static void before_fork(void)
{
        (void)pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
        (void)pthread_mutex_unlock(&lock);
}

static void begin(void)
{
        const char *path = sgc_allocation_path(), *slash = path ? strrchr(path, '/') : NULL;

        (void)pthread_atfork(before_fork, after_fork, after_fork);
        if (!slash || strlen(path) + sizeof("/checkpoint") > sizeof(directory))
                return;
        memcpy(directory, path, (size_t)(slash - path));
        memcpy(checkpoint_path, path, (size_t)(slash - path));
        strcpy(checkpoint_path + (slash - path), "/checkpoint");
        allocation_file.path = path;
        checkpoint_file.path = checkpoint_path;
}

static bool enter(void)
{
        (void)pthread_once(&once, begin);
        if (!allocation_file.path)
                return false;
        (void)pthread_mutex_lock(&lock);
        return true;
}

static void leave(void)
{
        (void)pthread_mutex_unlock(&lock);
}

/* --- the allocation --- */

/* A text that makes no sense, or none, changes nothing. */
static void refresh(void)
{
        char text[SGC_TEXT_MAX];
        ssize_t n;

        if (!sgc_follow_changed(&allocation_file))
                return;
        n = sgc_follow_read(&allocation_file, text, sizeof(text));
        if (n < 0 || sgc_allocation_parse(text, (size_t)n, &current) < 0)
                return;
        known = true;
        atomic_store(&threads, current.threads);
}

static void fill(struct schedgov_allocation *a)
{
        *a = (struct schedgov_allocation){
                .seq = current.seq,
                .cpus = (double)current.cpus_pm / 10000.0,
                .threads = current.threads,
                .deadline_usec = current.deadline_usec,
        };
}

/* An older program knows the beginning only; what a newer one has beyond it is 0. */
SGC_API int schedgov_allocation_get(struct schedgov_allocation *ret, size_t size)
{
        struct schedgov_allocation a = {0};
        int result = 0;

        if (enter()) {
                refresh();
                if (known)
                        fill(&a);
                result = known;
                leave();
        }
        memset(ret, 0, size);
        memcpy(ret, &a, size < sizeof(a) ? size : sizeof(a));
        return result;
}

SGC_API unsigned schedgov_threads(unsigned otherwise)
{
        uint64_t n;

        (void)pthread_once(&once, begin);
        if (sgc_follow_changed(&allocation_file) && enter()) {
                refresh();
                leave();
        }
        n = atomic_load(&threads);
        return n > 0 ? (unsigned)n : otherwise;
}

static int copy_list(char *buf, size_t size, const char *list)
{
        int n = 0;

        if (size > 0)
                *buf = '\0';
        if (enter()) {
                refresh();
                n = snprintf(buf, size, "%s", known ? list : "");
                leave();
        }
        return n;
}

SGC_API int schedgov_cpu_list(char *buf, size_t size)
{
        return copy_list(buf, size, current.cpu_list);
}

SGC_API int schedgov_gpus(char *buf, size_t size)
{
        return copy_list(buf, size, current.gpus);
}

/* --- callbacks --- */

SGC_API void schedgov_on_allocation(schedgov_allocation_fn fn, void *userdata)
{
        if (!enter())
                return;
        callbacks.allocation = fn;
        callbacks.allocation_data = userdata;
        callbacks.allocation_told = false;
        leave();
}

SGC_API void schedgov_on_checkpoint(schedgov_checkpoint_fn fn, void *userdata)
{
        if (!enter())
                return;
        callbacks.checkpoint = fn;
        callbacks.checkpoint_data = userdata;
        leave();
}

/* Both are called with the lock: whether there is something to call back for, which counts as told
 * from then on. */
static bool next_allocation(struct schedgov_allocation *ret)
{
        struct schedgov_allocation a;

        refresh();
        if (!callbacks.allocation || !known)
                return false;
        fill(&a);
        if (callbacks.allocation_told && memcmp(&a, &callbacks.told, sizeof(a)) == 0)
                return false;
        callbacks.allocation_told = true;
        callbacks.told = *ret = a;
        return true;
}

static bool next_checkpoint(struct sgc_checkpoint *ret)
{
        char text[SGC_TEXT_MAX];
        ssize_t n;

        if (!callbacks.checkpoint || !sgc_follow_changed(&checkpoint_file))
                return false;
        n = sgc_follow_read(&checkpoint_file, text, sizeof(text));
        if (n < 0 || sgc_checkpoint_parse(text, (size_t)n, ret) < 0 ||
            ret->id == callbacks.checkpoint_told)
                return false;
        callbacks.checkpoint_told = ret->id;
        return true;
}

static bool events_are_ours(void)
{
        return events >= 0 && !sgc_is_other_process(events_owner);
}

static void drain(void)
{
        char buf[4096] __attribute__((aligned(__alignof__(struct inotify_event))));

        while (events_are_ours() && read(events, buf, sizeof(buf)) > 0)
                ;
}

/* The locks aren't held while the program is called: it may call us. */
SGC_API int schedgov_dispatch(void)
{
        struct schedgov_allocation allocation;
        struct sgc_checkpoint checkpoint;
        int saved = errno, n = 0;
        bool is_new;

        if (!enter())
                return 0;
        drain();
        sgc_follow_hurry(&allocation_file);
        sgc_follow_hurry(&checkpoint_file);
        is_new = next_allocation(&allocation);
        schedgov_allocation_fn on_allocation = callbacks.allocation;
        void *allocation_data = callbacks.allocation_data;
        bool is_asked = next_checkpoint(&checkpoint);
        schedgov_checkpoint_fn on_checkpoint = callbacks.checkpoint;
        void *checkpoint_data = callbacks.checkpoint_data;
        leave();
        errno = saved;

        if (is_new) {
                on_allocation(&allocation, allocation_data);
                n++;
        }
        if (is_asked) {
                on_checkpoint(checkpoint.id, checkpoint.why, checkpoint_data);
                n++;
        }
        return n;
}

static int new_events(void)
{
        int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

        if (fd < 0)
                return -errno;
        if (inotify_add_watch(fd, directory, IN_MOVED_TO | IN_CLOSE_WRITE | IN_ONLYDIR) < 0) {
                int error = -errno;

                (void)close(fd);
                return error;
        }
        return fd;
}

SGC_API int schedgov_fd(void)
{
        int saved = errno, fd;

        if (!enter())
                return -ENOENT;
        if (!events_are_ours()) {
                if (events >= 0)
                        (void)close(events); /* the parent has its own */
                events = new_events();
                events_owner = getpid();
        }
        fd = events;
        leave();
        errno = saved;
        return fd;
}
