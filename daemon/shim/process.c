/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Small things that both modes need. */

#include "base/parse.h"
#include "shim/shim.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define BLOCK_SIZE 512 /* of ru_inblock and ru_oublock, whatever the disk's is */

int sg_process_fill_stdio(void)
{
        for (int fd = 0; fd <= STDERR_FILENO; fd++) {
                if (fcntl(fd, F_GETFD) >= 0)
                        continue;
                /* The lowest free number is this one: those below it are taken. */
                if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0)
                        return -errno;
        }
        return 0;
}

static int lock_whole(int fd, short type)
{
        const struct flock whole = {.l_type = type, .l_whence = SEEK_SET};

        if (fcntl(fd, F_SETLK, &whole) == 0)
                return 0;
        return errno == EACCES ? -EAGAIN : -errno;
}

int sg_process_lock(int fd)
{
        return lock_whole(fd, F_WRLCK);
}

int sg_process_lock_shared(int fd)
{
        return lock_whole(fd, F_RDLCK);
}

const char *sg_process_strerror(int error)
{
#ifdef __GLIBC__ /* whose strerror() brings the message catalogues into a static program */
        const char *s = strerrordesc_np(error);

        return s ? s : "unknown error";
#else
        return strerror(error);
#endif
}

#define LINE_PARTS 8

static void write_line(const char *const parts[LINE_PARTS])
{
        struct iovec iov[LINE_PARTS];

        for (size_t i = 0; i < LINE_PARTS; i++) {
                iov[i].iov_base = (void *)(parts[i] ? parts[i] : "");
                iov[i].iov_len = parts[i] ? strlen(parts[i]) : 0;
        }
        if (writev(STDERR_FILENO, iov, LINE_PARTS) < 0)
                return; /* nobody to tell */
}

void sg_process_complain(const char *what, const char *object, int error)
{
        write_line((const char *[LINE_PARTS]){"schedgov-shim: ", what, object ? " '" : NULL, object,
                                              object ? "'" : NULL, error ? ": " : NULL,
                                              error ? sg_process_strerror(error) : NULL, "\n"});
}

void sg_process_tell(const char *words)
{
        write_line((const char *[LINE_PARTS]){"schedctl: ", words, "\n"});
}

void sg_gate_send(int gate, enum sg_gate_kind kind, pid_t pid)
{
        const struct sg_gate_message m = {.kind = kind, .pid = pid};

        if (gate >= 0)
                (void)send(gate, &m, sizeof(m), MSG_NOSIGNAL | MSG_DONTWAIT);
}

int sg_gate_wait_place(int gate, char *buf, size_t size)
{
        struct sg_gate_message m;
        struct iovec parts[] = {{&m, sizeof(m)}, {buf, size - 1}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t n;

        for (;;) {
                n = recvmsg(gate, &message, 0);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return 0;
                if ((size_t)n >= sizeof(m) && m.kind == SG_GATE_PLACE &&
                    !(message.msg_flags & MSG_TRUNC)) {
                        buf[(size_t)n - sizeof(m)] = '\0';
                        return 1;
                }
        }
}

int sg_gate_wait(int gate, enum sg_gate_kind kind)
{
        for (;;) {
                struct sg_gate_message m;
                ssize_t n = recv(gate, &m, sizeof(m), 0);

                if (n < 0 && errno == EINTR)
                        continue;
                /* ECONNRESET is how a daemon looks that died with our READY unread. */
                if (n <= 0)
                        return 0;
                if (n == sizeof(m) && m.kind == kind)
                        return 1;
        }
}

int sg_gate_wait_seen(int gate, int msec, struct sg_verdict *ret)
{
        struct pollfd fd = {.fd = gate, .events = POLLIN};
        struct {
                struct sg_gate_message m;
                char words[sizeof(ret->words)];
        } got;
        ssize_t n;

        while (gate >= 0 && poll(&fd, 1, msec) > 0) {
                n = recv(gate, &got, sizeof(got) - 1, MSG_DONTWAIT);
                if (n < (ssize_t)sizeof(got.m))
                        break;
                if (got.m.kind == SG_GATE_TIMEOUT)
                        ret->timeout = true;
                if (got.m.kind != SG_GATE_SEEN)
                        continue;
                got.words[(size_t)n - sizeof(got.m)] = '\0';
                (void)strcpy(ret->words, got.words); /* of the same size */
                return 1;
        }
        return 0;
}

void sg_exit_set_status(struct sg_exit *e, int wait_status)
{
        if (WIFEXITED(wait_status)) {
                e->exit_code = WEXITSTATUS(wait_status);
                e->signal = 0;
        } else {
                e->exit_code = -1;
                e->signal = WTERMSIG(wait_status);
        }
}

static uint64_t timeval_usec(const struct timeval *tv)
{
        return (uint64_t)tv->tv_sec * 1000000 + (uint64_t)tv->tv_usec;
}

void sg_exit_set_rusage(struct sg_exit *e)
{
        struct rusage ru;

        if (getrusage(RUSAGE_CHILDREN, &ru) < 0)
                return;
        if (e->cpu_usec == SG_UNLIMITED)
                e->cpu_usec = timeval_usec(&ru.ru_utime) + timeval_usec(&ru.ru_stime);
        if (e->io_read_bytes == SG_UNLIMITED)
                e->io_read_bytes = (uint64_t)ru.ru_inblock * BLOCK_SIZE;
        if (e->io_write_bytes == SG_UNLIMITED)
                e->io_write_bytes = (uint64_t)ru.ru_oublock * BLOCK_SIZE;
}
