/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.schedgov1.Job: what may be asked of a live job, by its owner or an administrator. */
#include "adopt/adopt.h"
#include "api/internal.h"
#include "edge/bus/answer.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

/* --- finding it */

/* Whether the call that is being handled may know of it. */
static bool visible(struct sg_manager *m, sd_bus *bus, const struct sg_live *l)
{
        sd_bus_message *call = sd_bus_get_current_message(bus);
        struct sg_client *c = call ? sg_api_client(m, call) : NULL;

        return c && sg_caller_may_see(m, &c->caller, l->job.uid);
}

/* Who may not see others' jobs can't tell those that live from those that have ended, or never
 * were; and whose an ended one was, only the store knows. */
static bool sees_all(struct sg_manager *m, sd_bus *bus)
{
        sd_bus_message *call = sd_bus_get_current_message(bus);
        struct sg_client *c = call ? sg_api_client(m, call) : NULL;

        return c && sg_caller_sees_all(m, &c->caller);
}

/* Who means a job from before the node got its name is told what it is called now. */
static int not_live(struct sg_manager *m, sd_bus *bus, const struct sg_job_key *key, const char *id,
                    sd_bus_error *error)
{
        const struct sg_live *other = sg_manager_find(m, key->n);
        char name[SG_JOB_ID_MAX];

        if (other && sg_life_is_shown(&other->life) && visible(m, bus, other)) {
                sg_job_id_format(name, &other->job.key, m->node.name);
                return sd_bus_error_setf(error, SG_ERROR_NO_SUCH_JOB,
                                         "there is no live job %s\nthere is job %s", id, name);
        }
        if (!sees_all(m, bus))
                return sd_bus_error_setf(error, SG_ERROR_NO_SUCH_JOB,
                                         "there is no job %s that is live", id);
        if (strcmp(key->origin, m->node.name) != 0)
                return sd_bus_error_setf(error, SG_ERROR_NO_SUCH_JOB, "there is no live job %s",
                                         id);
        return key->n <= m->jobs->last_n
                       ? sd_bus_error_setf(error, SG_ERROR_WRONG_STATE, "job %s has ended", id)
                       : sd_bus_error_setf(error, SG_ERROR_NO_SUCH_JOB, "there is no job %s", id);
}

int sg_api_find_job(sd_bus *bus, const char *path, const char *interface, void *userdata,
                    void **ret_found, sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        _cleanup_free_ char *id = NULL;
        struct sg_job_key key;
        struct sg_live *l;
        int r;

        (void)interface;
        r = sd_bus_path_decode(path, SG_BUS_JOB_PREFIX, &id);
        if (r <= 0 || !*id) /* the parent of them all is no job */
                return r < 0 ? r : 0;
        if (sg_job_id_parse(id, m->node.name, &key) < 0)
                return sd_bus_error_setf(error, SG_ERROR_INVALID, "'%s' is no job id", id);
        l = sg_manager_find_key(m, &key);
        if (!l || !visible(m, bus, l))
                return not_live(m, bus, &key, id, error);
        if (!sg_life_is_shown(&l->life))
                return sd_bus_error_setf(error, SG_ERROR_NO_SUCH_JOB, "there is no job %s", id);
        if (sg_life_has_ended(&l->life))
                return sd_bus_error_setf(error, SG_ERROR_WRONG_STATE, "job %s has ended", id);
        *ret_found = l;
        return 1;
}

int sg_api_list_job_paths(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes,
                          sd_bus_error *error)
{
        struct sg_manager *m = userdata;
        struct sg_live *l;
        char **nodes, id[SG_JOB_ID_MAX];
        size_t n = 0;

        (void)prefix;
        (void)error;
        nodes = calloc(m->jobs->n + 1, sizeof(*nodes));
        if (!nodes)
                return -ENOMEM;
        sg_list_foreach (l, &m->jobs->all, link) {
                if (!sg_life_is_shown(&l->life) || sg_life_is_closing(&l->life) ||
                    !visible(m, bus, l))
                        continue;
                sg_job_id_format(id, &l->job.key, m->node.name);
                if (sd_bus_path_encode(SG_BUS_JOB_PREFIX, id, &nodes[n]) < 0)
                        break;
                n++;
        }
        *ret_nodes = nodes;
        return 0;
}

/* --- checks */

static int wrong_state(struct sg_live *l, const char *wanted, sd_bus_error *error)
{
        return sd_bus_error_setf(error, SG_ERROR_WRONG_STATE, "job %" PRIu64 " is %s, not %s",
                                 l->job.key.n, sg_job_state_to_string(l->job.state), wanted);
}

int sg_api_busy(const struct sg_live *l, sd_bus_error *error)
{
        return sd_bus_error_setf(error, SG_ERROR_BUSY,
                                 "another change of job %" PRIu64 " is under way: try again",
                                 l->job.key.n);
}

/* --- methods */

static int stop(sd_bus_message *call, struct sg_live *l, enum sg_job_intent intent,
                const char *what)
{
        struct sg_client *c = sg_api_client(l->manager, call);
        char reason[128], name[24];
        int r;

        r = sg_waiter_add(l, c, call, true);
        if (r < 0)
                return r;
        (void)snprintf(name, sizeof(name), "uid %u", c->caller.uid);
        (void)snprintf(reason, sizeof(reason), "%s by %s%s", what,
                       c->caller.uid == l->job.uid ? l->job.user
                       : c->caller.uid == 0        ? "root"
                                                   : name,
                       l->job.state == SG_JOB_QUEUED ? " before it started" : "");
        sg_live_stop(l, intent, reason);
        return 1;
}

static int job_cancel(sd_bus_message *call, struct sg_live *l, sd_bus_error *error)
{
        int r = sg_api_check_adopted(l, SG_ADOPTED_GOVERNED, "cancelled", error);

        return r < 0 ? r : stop(call, l, SG_INTENT_CANCEL, "cancelled");
}

static int job_requeue(sd_bus_message *call, struct sg_live *l, sd_bus_error *error)
{
        if (l->job.state == SG_JOB_QUEUED)
                return wrong_state(l, "running", error);
        if (l->job.adopted)
                return sd_bus_error_setf(error, SG_ERROR_WRONG_STATE,
                                         "job %" PRIu64
                                         " was started by others: it can't be started again from "
                                         "here",
                                         l->job.key.n);
        if (l->job.foreground)
                return sd_bus_error_setf(error, SG_ERROR_WRONG_STATE,
                                         "job %" PRIu64
                                         " runs on a terminal: it can't be started again from here",
                                         l->job.key.n);
        return stop(call, l, SG_INTENT_REQUEUE, "requeued");
}

static int job_hold(sd_bus_message *call, struct sg_live *l, sd_bus_error *error)
{
        if (!sg_life_may_hold(&l->life, &l->job))
                return wrong_state(l, "queued", error);
        sg_live_hold(l, true, sd_bus_message_ref(call));
        return 1;
}

static int job_release(sd_bus_message *call, struct sg_live *l, sd_bus_error *error)
{
        /* (if it was asked to be held before, it is about to be) */
        if (!sg_life_may_hold(&l->life, &l->job) || (!l->job.hold && l->life.asked == 0))
                return sd_bus_error_setf(error, SG_ERROR_WRONG_STATE, "job %" PRIu64 " is not held",
                                         l->job.key.n);
        sg_live_hold(l, false, sd_bus_message_ref(call));
        return 1;
}

static int set_frozen(sd_bus_message *call, struct sg_live *l, bool frozen, sd_bus_error *error)
{
        int r = sg_api_check_adopted(l, SG_ADOPTED_GOVERNED, frozen ? "suspended" : "resumed",
                                     error);

        if (r < 0)
                return r;
        if (frozen && l->job.state == SG_JOB_RUNNING && l->job.intent != SG_INTENT_NONE)
                return sd_bus_error_setf(error, SG_ERROR_WRONG_STATE,
                                         "job %" PRIu64 " is being ended", l->job.key.n);
        if (!sg_life_may_freeze(&l->life, &l->job, SG_FREEZE_USER, frozen))
                return wrong_state(l, frozen ? "running" : "suspended", error);
        if (!l->groups.scope)
                return sd_bus_error_setf(error, SG_ERROR_WRONG_STATE,
                                         "job %" PRIu64 " has no group", l->job.key.n);
        if (l->job.adopted && l->life.asked > 0) /* systemd doesn't do them one after the other */
                return sg_api_busy(l, error);
        sg_live_freeze(l, SG_FREEZE_USER, frozen, sd_bus_message_ref(call));
        return 1;
}

static int job_suspend(sd_bus_message *call, struct sg_live *l, sd_bus_error *error)
{
        return set_frozen(call, l, true, error);
}

static int job_resume(sd_bus_message *call, struct sg_live *l, sd_bus_error *error)
{
        return set_frozen(call, l, false, error);
}

/* As kill(2) would let the job's user, on whose behalf it is: who manages all jobs may more. */
static int signal_as_asked(struct sg_live *l, int sig, const uid_t *as)
{
        return as ? sg_scope_signal_as(l->groups.scope, sig, *as)
                  : sg_scope_signal(l->groups.scope, sig);
}

struct signalling {
        sd_bus_message *call;
        uint64_t n;
};

static void on_adopted_signalled(const char *why, void *userdata)
{
        struct signalling *s = userdata;

        if (why)
                (void)sd_bus_reply_method_errorf(s->call, SG_ERROR_INVALID,
                                                 "cannot signal job %" PRIu64 ": %s", s->n, why);
        else
                (void)sd_bus_reply_method_return(s->call, NULL);
        sd_bus_message_unref(s->call);
        free(s);
}

static int signal_adopted(struct sg_live *l, sd_bus_message *call, int sig, const uid_t *as,
                          sd_bus_error *error)
{
        _cleanup_(sg_answer_deinit) struct sg_answer refusal = {.kind = SG_ANSWER_NONE};
        struct signalling *s = malloc(sizeof(*s));
        int r;

        if (!s)
                return -ENOMEM;
        *s = (struct signalling){sd_bus_message_ref(call), l->job.key.n};
        r = sg_adopted_signal(l, sig, as, &refusal, on_adopted_signalled, s);
        if (r >= 0)
                return r;
        sd_bus_message_unref(s->call);
        free(s);
        return sg_bus_refuse(error, &refusal, r);
}

static int job_signal(sd_bus_message *call, struct sg_live *l, sd_bus_error *error)
{
        const struct sg_client *c = sg_api_client(l->manager, call);
        const uid_t owner = (uid_t)l->job.uid;
        const uid_t *as = c && sg_caller_is_admin(l->manager, &c->caller) ? NULL : &owner;
        int sig, r;

        r = sg_api_check_adopted(l, SG_ADOPTED_GOVERNED, "signalled", error);
        if (r >= 0)
                r = sd_bus_message_read(call, "i", &sig);
        if (r < 0)
                return r;
        if (sig < 1 || sig > SIGRTMAX)
                return sd_bus_error_setf(error, SG_ERROR_INVALID, "%d is no signal", sig);
        if (!l->groups.scope || l->job.pid == 0)
                return wrong_state(l, "running", error);
        if (l->job.adopted)
                return signal_adopted(l, call, sig, as, error);
        r = signal_as_asked(l, sig, as);
        if (r < 0)
                return sd_bus_error_setf(error, SG_ERROR_INVALID,
                                         "cannot signal job %" PRIu64 ": %s", l->job.key.n,
                                         strerror(-r));
        return sd_bus_reply_method_return(call, NULL);
}

static int job_set(sd_bus_message *call, struct sg_live *l, sd_bus_error *error)
{
        return sg_api_set(call, l, error);
}

/* --- who may */

#define AUTHORIZED(verb)                                                                           \
        static int method_##verb(sd_bus_message *call, void *userdata, sd_bus_error *error)        \
        {                                                                                          \
                struct sg_live *l = userdata;                                                      \
                int r = sg_authorize_job(l->manager, call, &l->job, #verb, error);                 \
                                                                                                   \
                return r > 0 ? job_##verb(call, l, error) : sg_unauthorized(r);                    \
        }

AUTHORIZED(cancel)
AUTHORIZED(hold)
AUTHORIZED(release)
AUTHORIZED(suspend)
AUTHORIZED(resume)
AUTHORIZED(requeue)
AUTHORIZED(signal)
AUTHORIZED(set)

/* --- properties */

#define GETTER(name, type, expression)                                                             \
        static int get_##name(sd_bus *bus, const char *path, const char *interface,                \
                              const char *property, sd_bus_message *reply, void *userdata,         \
                              sd_bus_error *error)                                                 \
        {                                                                                          \
                const struct sg_live *l = userdata;                                                \
                                                                                                   \
                (void)bus;                                                                         \
                (void)path;                                                                        \
                (void)interface;                                                                   \
                (void)property;                                                                    \
                (void)error;                                                                       \
                return sd_bus_message_append(reply, type, expression);                             \
        }

GETTER(name, "s", l->job.name)
GETTER(class, "s", l->job.class)
GETTER(user, "s", l->job.user)
GETTER(uid, "u", (uint32_t)l->job.uid)
GETTER(state, "s", sg_job_state_to_string(l->job.state))
GETTER(reason, "s", l->job.reason ?: "")
GETTER(pid, "i", (int32_t)l->job.pid)
GETTER(submitted, "t", l->job.submitted_usec)
GETTER(started, "t", l->job.started_usec)
GETTER(priority, "i", (int32_t)l->job.priority)
GETTER(attempt, "t", l->job.key.attempt)
GETTER(cpu_weight, "t", l->job.limits.cpu_weight)
GETTER(cpu_quota, "t", l->job.limits.cpu_quota_pm)
GETTER(memory_high, "t", l->job.limits.memory_high)
GETTER(memory_max, "t", l->job.limits.memory_max)
GETTER(tasks_max, "t", l->job.limits.tasks_max)
GETTER(threads, "s", sg_threads_to_string(l->job.limits.threads))

static int get_id(sd_bus *bus, const char *path, const char *interface, const char *property,
                  sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const struct sg_live *l = userdata;
        char id[SG_JOB_ID_MAX];

        (void)bus;
        (void)path;
        (void)interface;
        (void)property;
        (void)error;
        sg_job_id_format(id, &l->job.key, l->manager->node.name);
        return sd_bus_message_append(reply, "s", id);
}

#define PROPERTY(name, type, getter, flags) SD_BUS_PROPERTY(name, type, get_##getter, 0, flags)
#define METHOD(name, in, out, handler)                                                             \
        SD_BUS_METHOD(name, in, out, method_##handler, SD_BUS_VTABLE_UNPRIVILEGED)
#define CHANGES SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE

const sd_bus_vtable sg_job_vtable[] = {
        SD_BUS_VTABLE_START(0),
        METHOD("Cancel", NULL, NULL, cancel),
        METHOD("Hold", NULL, NULL, hold),
        METHOD("Release", NULL, NULL, release),
        METHOD("Suspend", NULL, NULL, suspend),
        METHOD("Resume", NULL, NULL, resume),
        METHOD("Requeue", NULL, NULL, requeue),
        METHOD("Signal", "i", NULL, signal),
        METHOD("Set", "a{sv}", "as", set),
        PROPERTY("Id", "s", id, SD_BUS_VTABLE_PROPERTY_CONST),
        PROPERTY("Name", "s", name, 0),
        PROPERTY("Class", "s", class, 0),
        PROPERTY("User", "s", user, SD_BUS_VTABLE_PROPERTY_CONST),
        PROPERTY("Uid", "u", uid, SD_BUS_VTABLE_PROPERTY_CONST),
        PROPERTY("State", "s", state, CHANGES),
        PROPERTY("Reason", "s", reason, CHANGES),
        PROPERTY("Pid", "i", pid, CHANGES),
        PROPERTY("Submitted", "t", submitted, SD_BUS_VTABLE_PROPERTY_CONST),
        PROPERTY("Started", "t", started, CHANGES),
        PROPERTY("Priority", "i", priority, 0),
        PROPERTY("Attempt", "t", attempt, CHANGES),
        PROPERTY("CPUWeight", "t", cpu_weight, 0),
        PROPERTY("CPUQuota", "t", cpu_quota, 0),
        PROPERTY("MemoryHigh", "t", memory_high, 0),
        PROPERTY("MemoryMax", "t", memory_max, 0),
        PROPERTY("TasksMax", "t", tasks_max, 0),
        PROPERTY("Threads", "s", threads, 0),
        SD_BUS_VTABLE_END,
};
