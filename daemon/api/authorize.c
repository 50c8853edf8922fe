/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who may do what: decide() below, and nowhere else. Root, the daemon's own user and group schedgov
 * may do everything and nobody else is asked about them. For all others polkit, where there is one,
 * has the word; org.schedgov1(5) says what follows when there is none, or it doesn't answer.
 *
 * While polkit is asked the call is kept; then it is handled again from its start, and finds the
 * answer here.
 */
#include "api/internal.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/bus/polkit.h"
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A call may look something up in the store before it comes for its answer. */
#define KEPT_USEC (30 * SG_USEC_PER_SEC)
/* What polkit says of users' own jobs is asked for once in this time, so that a submission does not
 * cost two more switches of processes. A change of its rules is obeyed as late as that. */
#define FRESH_USEC (5 * SG_USEC_PER_SEC)
#define KNOWN_MAX 64U

struct kept {
        struct sg_list link;
        struct sg_authorizer *authorizer;
        struct sg_call *call;
        struct sg_owed owed, bytes;
        struct sg_client *client;
        const char *action;
        uid_t uid;
        bool interactive;
        struct sg_polkit_question *question;
        struct kept *asker; /* it is another's question that we wait for */
        struct sg_polkit_answer answer;
        uint64_t answered_usec; /* 0: not yet */
};

/* What was last said of a user's own jobs. */
struct known {
        bool used;
        uid_t uid;
        enum sg_polkit_verdict verdict;
        uint64_t asked_usec;
};

struct sg_authorizer {
        sd_event *event;     /* borrowed */
        struct sg_list kept; /* calls, with all that they carry */
        sd_event_source *sweep_timer;
        struct known known[KNOWN_MAX];
};

/* A wish: something to be done, to a job or to the node. */
struct wish {
        const char *action, *verb;
        const struct sg_job *job; /* NULL: a new one of the caller's own, or the node */
};

int sg_authorizer_new(struct sg_authorizer **ret, sd_event *event)
{
        struct sg_authorizer *a = calloc(1, sizeof(*a));

        if (!a)
                return -ENOMEM;
        a->event = event;
        sg_list_init(&a->kept);
        *ret = a;
        return 0;
}

/* Whoever waits for the same answer has to ask for it anew. */
static void kept_free(struct kept *k)
{
        struct kept *other, *next;

        sg_list_remove(&k->link);
        sg_api_paid(&k->owed);
        sg_api_paid(&k->bytes);
        if (k->question)
                sg_list_foreach_safe (other, next, &k->authorizer->kept, link)
                        if (other->asker == k) {
                                (void)sg_call_again(other->call);
                                kept_free(other);
                        }
        sg_polkit_cancel(k->question);
        sg_call_unref(k->call);
        free(k);
}

struct sg_authorizer *sg_authorizer_free(struct sg_authorizer *a)
{
        if (!a)
                return NULL;
        while (!sg_list_empty(&a->kept))
                kept_free(sg_list_entry(a->kept.next, struct kept, link));
        sd_event_source_disable_unref(a->sweep_timer);
        free(a);
        return NULL;
}

static struct kept *find_kept(struct sg_authorizer *a, const struct sg_client *c,
                              const struct sg_call *call)
{
        struct kept *k;

        sg_list_foreach (k, &a->kept, link)
                if (k->client == c && (!call || sg_call_is_same(k->call, call)))
                        return k;
        return NULL;
}

void sg_authorizer_forget(struct sg_authorizer *a, const struct sg_client *c)
{
        struct kept *k;

        while ((k = find_kept(a, c, NULL)))
                kept_free(k);
}

/* What is known of own jobs */

static struct known *find_known(struct sg_authorizer *a, uid_t uid)
{
        for (size_t i = 0; i < KNOWN_MAX; i++)
                if (a->known[i].used && a->known[i].uid == uid)
                        return &a->known[i];
        return NULL;
}

static void learn(struct sg_authorizer *a, uid_t uid, enum sg_polkit_verdict verdict)
{
        struct known *known = find_known(a, uid), *oldest = &a->known[0];

        for (size_t i = 0; !known && i < KNOWN_MAX; i++)
                if (!a->known[i].used)
                        known = &a->known[i];
                else if (a->known[i].asked_usec < oldest->asked_usec)
                        oldest = &a->known[i];
        *(known ?: oldest) = (struct known){true, uid, verdict, sg_now_monotonic_usec()};
}

/* Polkit has given no answer: the last one holds, for as long as an answer would. */
static enum sg_polkit_verdict recall(struct sg_authorizer *a, uid_t uid)
{
        struct known *known = find_known(a, uid);

        if (!known)
                return SG_POLKIT_SILENT;
        known->asked_usec = sg_now_monotonic_usec();
        return known->verdict;
}

/* Calls that are kept */

static int on_sweep(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_authorizer *a = userdata;
        uint64_t now = sg_now_monotonic_usec();
        struct kept *k, *next;
        bool more = false;

        (void)usec;
        sg_list_foreach_safe (k, next, &a->kept, link) {
                if (k->answered_usec == 0)
                        continue;
                if (k->answered_usec + KEPT_USEC <= now)
                        kept_free(k);
                else
                        more = true;
        }
        if (more) {
                (void)sd_event_source_set_time_relative(source, KEPT_USEC);
                (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        }
        return 0;
}

/* An answer that its call never comes for, as its job has ended meanwhile, isn't kept for ever. */
static void arm_sweep(struct sg_authorizer *a)
{
        int enabled = SD_EVENT_OFF;

        if (!a->sweep_timer) {
                (void)sd_event_add_time_relative(a->event, &a->sweep_timer, CLOCK_MONOTONIC,
                                                 KEPT_USEC, 0, on_sweep, a);
                return;
        }
        (void)sd_event_source_get_enabled(a->sweep_timer, &enabled);
        if (enabled == SD_EVENT_OFF) {
                (void)sd_event_source_set_time_relative(a->sweep_timer, KEPT_USEC);
                (void)sd_event_source_set_enabled(a->sweep_timer, SD_EVENT_ONESHOT);
        }
}

static void answer_one(struct kept *k, struct sg_polkit_answer answer)
{
        k->asker = NULL;
        k->answer = answer;
        k->answered_usec = sg_now_monotonic_usec();
        if (sg_call_again(k->call) >= 0)
                return;
        sg_call_fail(k->call, -ENOMEM);
        kept_free(k);
}

static void on_verdict(struct sg_polkit_answer answer, void *userdata)
{
        struct kept *k = userdata, *other, *next;
        struct sg_authorizer *a = k->authorizer;

        k->question = NULL;
        if (strcmp(k->action, SG_ACTION_OWN_JOBS) == 0) {
                if (answer.verdict == SG_POLKIT_SILENT)
                        answer.verdict = recall(a, k->uid);
                else if (answer.lasting || answer.verdict == SG_POLKIT_ABSENT)
                        learn(a, k->uid, answer.verdict);
        }
        arm_sweep(a);
        sg_list_foreach_safe (other, next, &a->kept, link)
                if (other->asker == k)
                        answer_one(other, answer);
        answer_one(k, answer);
}

/* A user who submits a hundred jobs at once is asked about once. */
static struct kept *find_asker(struct sg_authorizer *a, const struct kept *k)
{
        struct kept *other;

        if (strcmp(k->action, SG_ACTION_OWN_JOBS) != 0)
                return NULL;
        sg_list_foreach (other, &a->kept, link)
                if (other->question && other->uid == k->uid && other->action == k->action &&
                    other->interactive == k->interactive)
                        return other;
        return NULL;
}

static int ask(struct sg_manager *m, sd_bus *bus, struct kept *k, const struct wish *wish)
{
        struct sg_polkit_request request = {.client = k->client,
                                            .action = k->action,
                                            .details = {.verb = wish->verb},
                                            .interactive = k->interactive};
        char id[SG_JOB_ID_MAX];

        if (wish->job) {
                sg_job_id_format(id, &wish->job->key, m->node.name);
                request.details.job = id;
                request.details.user = wish->job->user;
        }
        return sg_polkit_ask(&k->question, bus, &request, on_verdict, k);
}

static int keep(struct sg_call *call, sd_bus *bus, struct sg_client *c, const struct wish *wish)
{
        struct sg_authorizer *a = call->manager->authorizer;
        struct sg_owed owed = {0};
        struct kept *k;
        int r;

        r = sg_api_owe(call, SG_CHARGE_QUESTIONS, 1, &owed);
        if (r < 0)
                return r;
        k = calloc(1, sizeof(*k));
        if (!k) {
                sg_api_paid(&owed);
                return -ENOMEM;
        }
        *k = (struct kept){.authorizer = a,
                           .call = sg_call_ref(call),
                           .owed = owed,
                           .client = c,
                           .action = wish->action,
                           .uid = c->caller.uid,
                           .interactive = sg_call_may_prompt(call)};
        k->asker = find_asker(a, k);
        sg_list_append(&a->kept, &k->link);
        r = sg_api_owe(call, SG_CHARGE_REQUESTS, c->request_bytes, &k->bytes);
        if (r >= 0 && !k->asker)
                r = ask(call->manager, bus, k, wish);
        if (r < 0)
                kept_free(k);
        return r;
}

/* The decision */

/* 0: the call is kept until it can be given. */
static int find_verdict(struct sg_call *call, struct sg_client *c, const struct wish *wish,
                        enum sg_polkit_verdict *ret)
{
        struct sg_authorizer *a = call->manager->authorizer;
        bool own = strcmp(wish->action, SG_ACTION_OWN_JOBS) == 0;
        struct known *known = own ? find_known(a, c->caller.uid) : NULL;
        struct kept *k = find_kept(a, c, call);
        sd_bus *bus = sg_bus_service_bus(call->manager->service);
        int r;

        if (k && k->answered_usec > 0 && strcmp(k->action, wish->action) != 0) {
                kept_free(k); /* whose job it is has changed meanwhile */
                k = NULL;
        }
        if (k && k->answered_usec > 0) {
                *ret = k->answer.verdict;
                kept_free(k);
                return 1;
        }
        if (!bus) {
                *ret = SG_POLKIT_ABSENT;
                return 1;
        }
        if (known && known->asked_usec + FRESH_USEC > sg_now_monotonic_usec()) {
                *ret = known->verdict;
                return 1;
        }
        r = keep(call, bus, c, wish);
        if (r == -ESRCH) { /* its process has gone, and can't be asked about */
                *ret = SG_POLKIT_SILENT;
                return 1;
        }
        return r;
}

/* "read the configuration" becomes "reading the configuration". */
static const char *gerund(const char *verb, char *buf, size_t size)
{
        static const char *const doubled[] = {"run", "set", "submit", "cancel", "signal"};
        int n = (int)strcspn(verb, " ");
        const char *end = "";

        for (size_t i = 0; i < SG_ELEMENTSOF(doubled); i++)
                if (strlen(doubled[i]) == (size_t)n && strncmp(verb, doubled[i], (size_t)n) == 0)
                        end = &doubled[i][n - 1];
        (void)snprintf(buf, size, "%.*s%sing%s", n - (n > 0 && verb[n - 1] == 'e'), verb, end,
                       verb + n);
        return buf;
}

static int refuse(const struct wish *wish, enum sg_polkit_verdict verdict, struct sg_answer *a)
{
        bool own = strcmp(wish->action, SG_ACTION_OWN_JOBS) == 0;
        char doing[64];

        if (verdict == SG_POLKIT_ASK)
                return sg_refuse(a, SG_ANSWER_AUTHENTICATE, wish->action,
                                 "Permission denied: %s%s needs the polkit action %s\n"
                                 "retry in a terminal to authenticate",
                                 gerund(wish->verb, doing, sizeof(doing)),
                                 wish->job ? " the job" : "", wish->action);
        if (own && verdict == SG_POLKIT_SILENT)
                return sg_refuse(a, SG_ANSWER_BUSY, wish->action,
                                 "polkit doesn't say whether you may %s\n"
                                 "check that polkit.service works",
                                 wish->verb);
        if (own)
                return sg_refuse(a, SG_ANSWER_DENIED, wish->action,
                                 "Permission denied: a polkit rule denies you %s", wish->action);
        if (wish->job)
                return sg_refuse_job(a, SG_ANSWER_NOT_YOURS, wish->job->key.n,
                                     "job %" PRIu64 " is %s's: only its owner or root may %s it"
                                     "\nso may members of group schedgov, and users whom "
                                     "polkit allows %s",
                                     wish->job->key.n, wish->job->user, wish->verb, wish->action);
        return sg_refuse(a, SG_ANSWER_DENIED, wish->action,
                         "only root and members of group schedgov may %s\n"
                         "so may users whom polkit allows %s",
                         wish->verb, wish->action);
}

static int decide(struct sg_call *call, const struct wish *wish, struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(call);
        enum sg_polkit_verdict verdict = SG_POLKIT_NO;
        int r;

        if (!c)
                return -ENOTCONN;
        if (sg_caller_is_admin(call->manager, &c->caller))
                return 1;
        r = find_verdict(call, c, wish, &verdict);
        if (r == -EBUSY)
                return sg_refuse(a, SG_ANSWER_BUSY, NULL, "too many requests at once; try again");
        if (r <= 0)
                return r;
        /* Where nobody is there to ask, it is as it always was. */
        if (verdict == SG_POLKIT_YES ||
            (verdict == SG_POLKIT_ABSENT && strcmp(wish->action, SG_ACTION_OWN_JOBS) == 0))
                return 1;
        return refuse(wish, verdict, a);
}

int sg_authorize_submit(struct sg_call *call, const char *verb, struct sg_answer *a)
{
        return decide(call, &(struct wish){.action = SG_ACTION_OWN_JOBS, .verb = verb}, a);
}

int sg_authorize_job(struct sg_call *call, const struct sg_job *job, const char *verb,
                     struct sg_answer *a)
{
        struct sg_client *c = sg_call_client(call);
        struct wish wish = {.verb = verb, .job = job};

        wish.action = c && c->caller.uid == job->uid ? SG_ACTION_OWN_JOBS : SG_ACTION_JOBS;
        return decide(call, &wish, a);
}

int sg_authorize_node(struct sg_call *call, const char *verb, struct sg_answer *a)
{
        return decide(call, &(struct wish){.action = SG_ACTION_NODE, .verb = verb}, a);
}
