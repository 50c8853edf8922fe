/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "edge/bus/intake.h"
#include "base/cleanup.h"
#include "base/time-util.h"
#include "proto/names.h"
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* The largest submission, and room for the rest of its message: who sends a little too much gets an
 * answer. */
#define MESSAGE_MAX (SG_SPEC_MAX + 1024U * 1024)
/* Messages up to this size aren't counted: there is one for each connection at most. */
#define SMALL_MAX 4096U
/* A job's environment is hardly ever larger. */
#define USUAL_MAX (256U * 1024)
/* The text of an authentication. */
#define TEXT_MAX 4096U
#define HEAD 16U
#define PIECE_MAX (32U * 1024)
/* Room for two pieces in the socket pair, as the kernel counts them; sd-bus takes each before the
 * next comes. */
#define PAIR_BYTES (128 * 1024)
/* Descriptors of one message; `run` sends one. */
#define FDS_MAX 2U

struct sg_intake {
        struct sg_ledger *ledger;
        uid_t uid;
        int fd, out;
        size_t text, matched; /* bytes so far; of them at the end, as in BEGIN */
        bool begun;           /* messages follow */
        uint8_t head[HEAD];
        size_t n_head; /* bytes that haven't gone on */
        bool admitted; /* the message whose head that is, or was */
        uint64_t size, left, charged, since_usec, n_whole, passed;
        int fds[FDS_MAX];
        size_t n_fds, n_all_fds; /* that haven't gone on; of this message */
};

int sg_intake_new(struct sg_intake **ret, struct sg_ledger *ledger, uid_t uid, int fd, int *ret_bus)
{
        struct sg_intake *i = calloc(1, sizeof(*i));
        int pair[2];

        if (!i)
                return -ENOMEM;
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0) {
                free(i);
                return -errno;
        }
        (void)setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &(int){PAIR_BYTES}, sizeof(int));
        i->ledger = ledger;
        i->uid = uid;
        i->fd = fd;
        i->out = pair[0];
        *ret_bus = pair[1];
        *ret = i;
        return 0;
}

static void close_fds(struct sg_intake *i)
{
        while (i->n_fds > 0)
                (void)sg_close(i->fds[--i->n_fds]);
}

static void give_back(struct sg_intake *i)
{
        sg_ledger_give(i->ledger, i->uid, SG_CHARGE_REQUESTS, i->charged);
        i->charged = 0;
}

struct sg_intake *sg_intake_free(struct sg_intake *i)
{
        if (!i)
                return NULL;
        give_back(i);
        close_fds(i);
        (void)sg_close(i->out);
        free(i);
        return NULL;
}

/* From the one socket, into the other */

static int outcome(ssize_t n)
{
        if (n > 0)
                return (int)n;
        if (n == 0)
                return -ECONNRESET;
        return errno == EINTR ? -EAGAIN : -errno;
}

static int keep_fds(struct sg_intake *i, struct msghdr *m)
{
        for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
                const int *fds = (const int *)(const void *)CMSG_DATA(c);
                size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

                if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
                        continue;
                for (size_t k = 0; k < n; k++)
                        if (i->n_all_fds < FDS_MAX) {
                                i->fds[i->n_fds++] = fds[k];
                                i->n_all_fds++;
                        } else {
                                m->msg_flags |= MSG_CTRUNC;
                                (void)sg_close(fds[k]);
                        }
        }
        return m->msg_flags & MSG_CTRUNC ? -EMSGSIZE : 0;
}

static int receive(struct sg_intake *i, void *buf, size_t size)
{
        _Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX * sizeof(int))];
        struct iovec iov = {buf, size};
        struct msghdr m = {.msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = control,
                           .msg_controllen = sizeof(control)};
        int r = outcome(recvmsg(i->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));

        if (r < 0)
                return r;
        return keep_fds(i, &m) < 0 ? -EMSGSIZE : r;
}

static int send_on(struct sg_intake *i, const void *data, size_t size)
{
        _Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX * sizeof(int))] = {0};
        struct iovec iov = {(void *)data, size};
        struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
        ssize_t n;

        if (i->n_fds > 0) {
                struct cmsghdr *c;

                m.msg_control = control;
                m.msg_controllen = CMSG_SPACE(i->n_fds * sizeof(int));
                c = CMSG_FIRSTHDR(&m);
                c->cmsg_level = SOL_SOCKET;
                c->cmsg_type = SCM_RIGHTS;
                c->cmsg_len = CMSG_LEN(i->n_fds * sizeof(int));
                memcpy(CMSG_DATA(c), i->fds, i->n_fds * sizeof(int));
        }
        n = sendmsg(i->out, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
        close_fds(i);
        if (n == (ssize_t)size)
                return 0;
        return n < 0 && errno != EAGAIN ? -errno : -ENOBUFS; /* sd-bus hasn't taken the last one */
}

/* Text */

/* Passes text on, up to the end of the line that ends it. Descriptors have no place in it. */
static int pass_text(struct sg_intake *i)
{
        static const char end[] = "BEGIN\r\n";
        char buf[512];
        int n = outcome(recv(i->fd, buf, sizeof(buf), MSG_DONTWAIT | MSG_PEEK)), k;

        if (n < 0)
                return n;
        for (k = 0; k < n && !i->begun; k++) {
                i->matched =
                        buf[k] == end[i->matched] ? i->matched + 1 : (size_t)(buf[k] == end[0]);
                i->begun = i->matched == sizeof(end) - 1;
        }
        i->text += (size_t)k;
        if (i->text > TEXT_MAX || recv(i->fd, buf, (size_t)k, MSG_DONTWAIT) != k)
                return -EPROTO;
        return send_on(i, buf, (size_t)k);
}

/* Messages */

static uint32_t number_at(const uint8_t head[HEAD], size_t place)
{
        uint32_t n;

        memcpy(&n, head + place, sizeof(n));
        return head[0] == 'l' ? le32toh(n) : be32toh(n);
}

/* The size of the whole message; 0: that is no head. */
static uint64_t size_of(const uint8_t head[HEAD])
{
        if ((head[0] != 'l' && head[0] != 'B') || head[3] != 1)
                return 0;
        return HEAD + (((uint64_t)number_at(head, 12) + 7) & ~7ULL) + number_at(head, 4);
}

static int read_head(struct sg_intake *i)
{
        while (i->n_head < HEAD) {
                int n = receive(i, i->head + i->n_head, HEAD - i->n_head);

                if (n < 0)
                        return n;
                if (i->n_head == 0)
                        i->since_usec = sg_now_monotonic_usec();
                i->n_head += (size_t)n;
        }
        return 0;
}

/* A request of usual size finds room whatever others hold. */
static int take_room(struct sg_intake *i, uint64_t size)
{
        int r = sg_ledger_take(i->ledger, i->uid, SG_CHARGE_REQUESTS, size);

        if (r == SG_LEDGER_FULL && size <= USUAL_MAX &&
            sg_ledger_held(i->ledger, i->uid, SG_CHARGE_REQUESTS) == 0)
                r = sg_ledger_book(i->ledger, i->uid, SG_CHARGE_REQUESTS, size);
        return r;
}

static int admit(struct sg_intake *i)
{
        uint64_t size = size_of(i->head);
        int r = 0;

        if (size == 0)
                return -EBADMSG;
        if (size > MESSAGE_MAX)
                return -EMSGSIZE;
        if (size > SMALL_MAX)
                r = take_room(i, size);
        if (r != 0)
                return r;
        i->charged = size > SMALL_MAX ? size : 0;
        i->size = size;
        i->left = size - HEAD;
        i->admitted = true;
        return 0;
}

static int pass_piece(struct sg_intake *i)
{
        static uint8_t buf[HEAD + PIECE_MAX]; /* one thread, and nothing stays in it */
        size_t n = i->n_head;
        int r = 0;

        memcpy(buf, i->head, n);
        if (i->left > 0)
                r = receive(i, buf + n, i->left < PIECE_MAX ? i->left : PIECE_MAX);
        if (r < 0)
                return r;
        i->left -= (uint64_t)r;
        i->passed += (uint64_t)r;
        i->n_head = 0;
        if (i->left == 0) {
                i->admitted = false;
                i->n_all_fds = 0;
                i->n_whole++;
                give_back(i);
        }
        return send_on(i, buf, n + (size_t)r);
}

int sg_intake_pass(struct sg_intake *i)
{
        int r = 0;

        if (!i->begun)
                return pass_text(i);
        if (!i->admitted) {
                r = read_head(i);
                if (r == 0)
                        r = admit(i);
        }
        return r == 0 ? pass_piece(i) : r;
}

uint64_t sg_intake_n_whole(const struct sg_intake *i)
{
        return i->n_whole;
}

bool sg_intake_has_begun(const struct sg_intake *i)
{
        return i->begun;
}

bool sg_intake_is_between(const struct sg_intake *i)
{
        return i->begun && !i->admitted && i->n_head == 0;
}

bool sg_intake_holds(const struct sg_intake *i)
{
        return i->charged > 0;
}

uint64_t sg_intake_size(const struct sg_intake *i)
{
        return i->size;
}

uint64_t sg_intake_passed(const struct sg_intake *i)
{
        return i->passed;
}

uint64_t sg_intake_since(const struct sg_intake *i)
{
        return i->since_usec;
}
