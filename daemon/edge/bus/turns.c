/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Who is served next. Of the users who have sent something, it is the one whose last turn is
 * longest ago, and a turn is one piece of a message: a user who asks without an end, on however
 * many connections, delays another by the one piece that is being handled. A message for which
 * there is no room has no turn, nor has a client with too many unread answers; what they have sent
 * stays in their sockets.
 */
#include "base/cleanup.h"
#include "base/time-util.h"
#include "edge/bus/server-internal.h"
#include <errno.h>
#include <sys/ioctl.h>

/* Then all else in the loop has its turn: an event for each request would be most of its cost. */
#define IN_A_ROW_MAX 16U
#define IN_A_ROW_USEC (1 * SG_USEC_PER_MSEC)
/* In this time a message ends, or so much of it arrives: it may be that we are slow. */
#define MESSAGE_USEC (10 * SG_USEC_PER_SEC)
#define MESSAGE_PART (1024U * 1024)
/* A message that has to wait for room asks for it again after so long. */
#define RETRY_USEC (20 * SG_USEC_PER_MSEC)
/* A client that has read nothing for so long is given up where it keeps its user from being
 * answered. */
#define UNREAD_USEC (5 * SG_USEC_PER_SEC)

static void take_turns(struct sg_bus_server *s)
{
        (void)sd_event_source_set_enabled(s->turn, SD_EVENT_ONESHOT);
}

/* Listens for one event: a client that sends much isn't heard more often than it has turns. events
 * 0: only the end of the connection. */
static void listen_to(struct sg_peer *p, uint32_t events)
{
        (void)sd_event_source_set_io_events(p->socket, events);
        (void)sd_event_source_set_enabled(p->socket, SD_EVENT_ONESHOT);
}

static bool has_ended(int fd, uint32_t revents)
{
        int unread;

        return revents & EPOLLHUP && ioctl(fd, FIONREAD, &unread) == 0 && unread == 0;
}

/* Who has gone needs no turn: the place is free before somebody else asks for one. */
static int on_socket(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
        struct sg_peer *p = userdata;

        (void)source;
        if (p->waits || has_ended(fd, revents)) { /* what it wanted, nobody wants any more */
                sg_peer_drop(p);
                return 0;
        }
        p->ready = true;
        take_turns(p->server);
        return 0;
}

/* Whose turn it is */

static bool is_before(const struct sg_peer *a, const struct sg_peer *b)
{
        return a->user_served != b->user_served ? a->user_served < b->user_served
                                                : a->served < b->served;
}

static struct sg_peer *next_peer(struct sg_bus_server *s)
{
        struct sg_peer *found = NULL;
        struct sg_client *c;

        sg_list_foreach (c, &s->places.clients, link) {
                struct sg_peer *p = (struct sg_peer *)c;

                if (p->ready && !p->waits && (!found || is_before(p, found)))
                        found = p;
        }
        return found;
}

static void mark_served(struct sg_peer *p)
{
        struct sg_bus_server *s = p->server;
        struct sg_client *c;

        p->served = ++s->n_turns;
        sg_list_foreach (c, &s->places.clients, link)
                if (c->caller.uid == p->client.caller.uid)
                        ((struct sg_peer *)c)->user_served = s->n_turns;
}

/* Who has to wait */

static void drop_unfinished(struct sg_peer *p)
{
        sg_client_complain(&p->client, SG_CLIENT_UNFINISHED);
        sg_peer_drop(p);
}

/* The oldest unfinished message of the user who holds most of them. */
static struct sg_peer *find_unfinished(struct sg_bus_server *s, uid_t asks)
{
        struct sg_peer *found = NULL;
        struct sg_client *c;
        uint32_t largest;

        if (!sg_ledger_largest(s->ledger, SG_CHARGE_REQUESTS, &largest) || largest == asks)
                return NULL;
        sg_list_foreach (c, &s->places.clients, link) {
                struct sg_peer *p = (struct sg_peer *)c;

                if (c->caller.uid == largest && sg_intake_holds(p->intake) &&
                    (!found || sg_intake_since(p->intake) < sg_intake_since(found->intake)))
                        found = p;
        }
        return found;
}

/* The client of this user that has read nothing for longest. */
static struct sg_peer *find_unread(struct sg_bus_server *s, uid_t uid)
{
        uint64_t now = sg_now_monotonic_usec();
        struct sg_client *c, *found = NULL;

        sg_list_foreach (c, &s->places.clients, link)
                if (c->caller.uid == uid && c->unread > 0 &&
                    c->unread_since_usec + UNREAD_USEC < now &&
                    (!found || c->unread_since_usec < found->unread_since_usec))
                        found = c;
        return (struct sg_peer *)found;
}

/* There may be room for this user's messages now. A client that reads nothing is given up, if that
 * is in the way. */
static void retry_user(struct sg_bus_server *s, uid_t uid)
{
        struct sg_peer *unread;
        struct sg_client *c;
        bool full;

        sg_list_foreach (c, &s->places.clients, link)
                if (c->caller.uid == uid)
                        sg_client_settle(c);
        full = sg_ledger_left(s->ledger, uid, SG_CHARGE_ANSWERS) == 0;
        sg_list_foreach (c, &s->places.clients, link)
                if (c->caller.uid == uid) {
                        ((struct sg_peer *)c)->retried = s->n_retries;
                        ((struct sg_peer *)c)->waits &= full;
                }
        unread = full ? find_unread(s, uid) : NULL;
        if (!unread)
                return;
        sg_client_complain(&unread->client, SG_CLIENT_UNREAD);
        sg_peer_drop(unread);
}

static struct sg_peer *find_waiting(struct sg_bus_server *s, bool again)
{
        struct sg_client *c;

        sg_list_foreach (c, &s->places.clients, link) {
                struct sg_peer *p = (struct sg_peer *)c;

                if (p->waits && (again || p->retried != s->n_retries))
                        return p;
        }
        return NULL;
}

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_bus_server *s = userdata;
        struct sg_peer *p;

        (void)usec;
        s->n_retries++;
        while ((p = find_waiting(s, false)))
                retry_user(s, p->client.caller.uid);
        if (find_waiting(s, true)) {
                (void)sd_event_source_set_time_relative(source, RETRY_USEC);
                (void)sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
        }
        take_turns(s);
        return 0;
}

static void wait_for_room(struct sg_peer *p, int why)
{
        struct sg_bus_server *s = p->server;
        struct sg_peer *other =
                why == SG_LEDGER_FULL ? find_unfinished(s, p->client.caller.uid) : NULL;
        int enabled = SD_EVENT_OFF;

        if (other) { /* this one has another turn */
                drop_unfinished(other);
                return;
        }
        p->waits = true;
        p->message_timer = sd_event_source_disable_unref(p->message_timer);
        listen_to(p, 0);
        (void)sd_event_source_get_enabled(s->retry, &enabled);
        if (enabled == SD_EVENT_OFF) {
                (void)sd_event_source_set_time_relative(s->retry, RETRY_USEC);
                (void)sd_event_source_set_enabled(s->retry, SD_EVENT_ONESHOT);
        }
}

/* A turn */

static int on_message_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_peer *p = userdata;
        uint64_t passed = sg_intake_passed(p->intake);

        (void)usec;
        if (passed - p->passed < MESSAGE_PART) {
                drop_unfinished(p);
                return 0;
        }
        p->passed = passed;
        (void)sd_event_source_set_time_relative(source, MESSAGE_USEC);
        return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static void watch_message(struct sg_peer *p)
{
        if (sg_intake_is_between(p->intake)) {
                p->message_timer = sd_event_source_disable_unref(p->message_timer);
                return;
        }
        if (p->message_timer)
                return;
        p->passed = sg_intake_passed(p->intake);
        (void)sd_event_add_time_relative(p->server->event, &p->message_timer, CLOCK_MONOTONIC,
                                         MESSAGE_USEC, 0, on_message_timeout, p);
}

bool sg_peer_process(struct sg_peer *p)
{
        _cleanup_(sd_bus_unrefp) sd_bus *bus = sd_bus_ref(p->client.bus);
        struct sg_bus_server *s = p->server;
        int r;

        do
                r = sd_bus_process(bus, NULL);
        while (r > 0);
        if (!sg_bus_server_find(s, bus))
                return false;
        if (r < 0)
                sg_peer_drop(p);
        return r >= 0;
}

/* Where a message ends is seen here and by sd-bus. A client whose bytes the two understand
 * differently is dropped: by text that goes on behind its end, or by what sd-bus doesn't take for a
 * message. */
static void handle(struct sg_peer *p)
{
        uint64_t whole = sg_intake_n_whole(p->intake), heard = p->n_heard;

        p->client.request_bytes = sg_intake_size(p->intake);
        if (!sg_peer_process(p))
                return;
        p->client.request_bytes = 0;
        if ((sg_intake_has_begun(p->intake) && sd_bus_is_ready(p->client.bus) <= 0) ||
            p->n_heard - heard < whole - p->n_whole) {
                sg_peer_drop(p);
                return;
        }
        p->n_whole = whole;
        sg_client_settle(&p->client);
}

static void end(struct sg_peer *p, int error)
{
        if (error == -EMSGSIZE)
                sg_client_complain(&p->client, SG_CLIENT_OVERSIZED);
        sg_peer_drop(p);
}

static void serve(struct sg_peer *p)
{
        int r = SG_LEDGER_USER_FULL;

        mark_served(p);
        sg_client_settle(&p->client);
        if (!sg_intake_is_between(p->intake) ||
            sg_ledger_left(p->server->ledger, p->client.caller.uid, SG_CHARGE_ANSWERS) > 0)
                r = sg_intake_pass(p->intake);
        if (r < 0 && r != -EAGAIN) {
                end(p, r);
                return;
        }
        if (r > 0) {
                wait_for_room(p, r);
                return;
        }
        watch_message(p);
        if (r == 0) {
                handle(p);
                return;
        }
        p->ready = false;
        listen_to(p, EPOLLIN);
}

static int on_turn(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct sg_bus_server *s = userdata;
        uint64_t end = sg_now_monotonic_usec() + IN_A_ROW_USEC;
        struct sg_peer *p;

        (void)source;
        (void)usec;
        for (unsigned i = 0; i < IN_A_ROW_MAX && (p = next_peer(s)); i++) {
                serve(p);
                if (sg_now_monotonic_usec() >= end)
                        break;
        }
        if (next_peer(s))
                take_turns(s);
        return 0;
}

/* Life */

/* The next turn is always due, and comes behind all that was ready before it: a timer, as of two of
 * one priority the one is first that has been pending for longer, and sd-event (252) takes a
 * deferred source to have been pending ever since it was made. */
int sg_turns_init(struct sg_bus_server *s)
{
        int r = sd_event_add_time(s->event, &s->turn, CLOCK_MONOTONIC, 0, 0, on_turn, s);

        if (r >= 0)
                r = sd_event_source_set_enabled(s->turn, SD_EVENT_OFF);
        if (r >= 0)
                r = sd_event_add_time_relative(s->event, &s->retry, CLOCK_MONOTONIC, 0, 0, on_retry,
                                               s);
        return r;
}

void sg_turns_deinit(struct sg_bus_server *s)
{
        s->turn = sd_event_source_disable_unref(s->turn);
        s->retry = sd_event_source_disable_unref(s->retry);
}

/* Everybody who has sent something is known before anybody has a turn. */
int sg_turns_add(struct sg_peer *p)
{
        struct sg_bus_server *s = p->server;
        int r;

        p->served = p->user_served = s->n_turns;
        r = sd_event_add_io(s->event, &p->socket, p->client.fd, EPOLLIN, on_socket, p);
        if (r >= 0)
                r = sd_event_source_set_enabled(p->socket, SD_EVENT_ONESHOT);
        if (r >= 0)
                r = sd_event_source_set_priority(p->socket, SD_EVENT_PRIORITY_NORMAL - 1);
        return r;
}

void sg_turns_remove(struct sg_peer *p)
{
        p->socket = sd_event_source_disable_unref(p->socket);
        p->message_timer = sd_event_source_disable_unref(p->message_timer);
}
