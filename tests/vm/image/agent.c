/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The harness's hand in the guest: runs one command at a time for whoever is on the other side of a
 * virtio-serial port. Both directions carry frames of one type byte, a little-endian u32 length and
 * that many bytes.
 *
 *   to us     'R' run      strings, each ended by NUL: directory, number of arguments, arguments,
 * environment 'S' signal   one byte: to the command's session leader's process group from us   'H'
 * hello    once per boot 'o' 'e'      what the command wrote to stdout, stderr 'X' exit     one
 * byte: its status, 128 + signal if one ended it
 *
 * Every command has a session of its own. When the other side hangs up, its group is killed. What
 * it leaves in the background goes on, and what that writes until the command's exit is all that is
 * waited for. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT_NAME "vm-agent"
#define REQUEST_MAX (16U << 20)

struct command {
        pid_t pid;  /* 0 = none runs */
        int out[2]; /* read ends of its stdout and stderr, -1 = closed */
};

static int port;

static _Noreturn void die(const char *what)
{
        perror(what);
        exit(1);
}

/* Waits while nobody has the port open on the other side: reads then give 0. */
static void port_read(void *data, size_t size)
{
        for (char *p = data; size > 0;) {
                ssize_t n = read(port, p, size);

                if (n > 0) {
                        p += n;
                        size -= (size_t)n;
                } else if (n == 0 || errno == EAGAIN || errno == EINTR) {
                        usleep(10000);
                } else {
                        die("read from the port");
                }
        }
}

static void port_write(const void *data, size_t size)
{
        for (const char *p = data; size > 0;) {
                ssize_t n = write(port, p, size);

                if (n > 0) {
                        p += n;
                        size -= (size_t)n;
                } else if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE) {
                        die("write to the port");
                } else {
                        usleep(10000);
                }
        }
}

static void send_frame(char type, const void *data, uint32_t size)
{
        char head[5] = {type};

        memcpy(head + 1, &size, sizeof(size));
        port_write(head, sizeof(head));
        port_write(data, size);
}

/* The port's device is named after its place on the bus; sysfs has its name. */
static int open_port(void)
{
        DIR *dir = opendir("/sys/class/virtio-ports");
        struct dirent *entry;
        int fd = -1;

        while (dir && fd < 0 && (entry = readdir(dir))) {
                char path[512], name[64] = "";
                FILE *f;

                (void)snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name",
                               entry->d_name);
                f = fopen(path, "re");
                if (!f)
                        continue;
                if (fgets(name, sizeof(name), f) &&
                    strncmp(name, PORT_NAME "\n", sizeof(name)) == 0) {
                        (void)snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
                        fd = open(path, O_RDWR | O_CLOEXEC);
                }
                (void)fclose(f);
        }
        if (dir)
                (void)closedir(dir);
        return fd;
}

static _Noreturn void become(const char *directory, char **argv, char **env, const int out[2])
{
        sigset_t none;
        int adj, null;

        sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)setsid();
        adj = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        if (adj < 0 || write(adj, "0", 1) != 1)
                die("oom_score_adj");
        null = open("/dev/null", O_RDONLY | O_CLOEXEC);
        if (null < 0 || dup2(null, 0) < 0 || dup2(out[0], 1) < 0 || dup2(out[1], 2) < 0)
                die("standard streams");
        for (; *env; env++)
                (void)putenv(*env);
        if (chdir(directory) < 0)
                die(directory);
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(errno == ENOENT ? 127 : 126);
}

/* Splits the request in place: NULL-terminated arguments, then the environment. */
static char **parse(char *data, uint32_t size, char **ret_directory, char ***ret_env)
{
        size_t count = 0, n = 0, argc;
        char **all, *p;

        if (size == 0 || data[size - 1] != 0)
                return NULL;
        for (p = data; p < data + size; p += strlen(p) + 1)
                count++;
        all = calloc(count + 2, sizeof(*all));
        if (!all || count < 3)
                return NULL;
        *ret_directory = data;
        p = data + strlen(data) + 1;
        argc = strtoul(p, NULL, 10);
        if (argc == 0 || argc > count - 2)
                return NULL;
        for (p += strlen(p) + 1; p < data + size; p += strlen(p) + 1) {
                if (n == argc)
                        n++; /* the NULL that ends the arguments */
                all[n++] = p;
        }
        *ret_env = all + argc + 1;
        return all;
}

static void start(struct command *c, char *data, uint32_t size)
{
        int out[2], err[2];
        char *directory, **argv, **env;

        argv = parse(data, size, &directory, &env);
        if (!argv)
                die("bad request");
        if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
                die("pipe2");
        c->pid = fork();
        if (c->pid < 0)
                die("fork");
        if (c->pid == 0)
                become(directory, argv, env, (int[]){out[1], err[1]});
        (void)close(out[1]);
        (void)close(err[1]);
        c->out[0] = out[0];
        c->out[1] = err[0];
        free(argv);
}

static void request(struct command *c)
{
        char type, *data;
        uint32_t size;

        port_read(&type, 1);
        port_read(&size, sizeof(size));
        data = size <= REQUEST_MAX ? malloc(size + 1) : NULL;
        if (!data)
                die("request");
        port_read(data, size);
        if (type == 'R' && c->pid == 0)
                start(c, data, size);
        else if (type == 'S' && size == 1 && c->pid > 0)
                (void)kill(-c->pid, data[0]);
        free(data);
}

/* Forwards what there is; false at the end. */
static bool forward(int fd, char type)
{
        static char buffer[65536];
        ssize_t n = read(fd, buffer, sizeof(buffer));

        if (n <= 0)
                return false;
        send_frame(type, buffer, (uint32_t)n);
        return true;
}

static void finish(struct command *c, int status)
{
        unsigned char code;

        /* Non-blocking: what it left in the background may hold the pipes open. */
        for (int i = 0; i < 2; i++) {
                if (c->out[i] < 0)
                        continue;
                (void)fcntl(c->out[i], F_SETFL, O_NONBLOCK);
                while (forward(c->out[i], i == 0 ? 'o' : 'e'))
                        ;
                (void)close(c->out[i]);
                c->out[i] = -1;
        }
        code = (unsigned char)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        c->pid = 0;
        send_frame('X', &code, 1);
}

/* Orphans of commands come to systemd, not to us: our only children are the commands. */
static void reap(struct command *c, int signals)
{
        struct signalfd_siginfo info;
        int status;

        (void)!read(signals, &info, sizeof(info));
        if (c->pid > 0 && waitpid(c->pid, &status, WNOHANG) == c->pid)
                finish(c, status);
}

static void loop(int signals)
{
        struct command c = {.out = {-1, -1}};

        for (;;) {
                struct pollfd fds[] = {{port, POLLIN, 0},
                                       {signals, POLLIN, 0},
                                       {c.out[0], POLLIN, 0},
                                       {c.out[1], POLLIN, 0}};

                if (poll(fds, 4, -1) < 0 && errno != EINTR)
                        die("poll");
                for (int i = 0; i < 2; i++) {
                        if (fds[2 + i].revents && !forward(c.out[i], i == 0 ? 'o' : 'e')) {
                                (void)close(c.out[i]);
                                c.out[i] = -1;
                        }
                }
                if (fds[1].revents)
                        reap(&c, signals);
                if (fds[0].revents & POLLIN)
                        request(&c);
                else if (fds[0].revents & POLLHUP) {
                        if (c.pid > 0)
                                (void)kill(-c.pid, SIGKILL);
                        usleep(20000); /* the hang-up stays until somebody comes */
                }
        }
}

int main(void)
{
        sigset_t mask;
        int signals;

        for (int i = 0; (port = open_port()) < 0; i++) {
                if (i == 600)
                        die("no port " PORT_NAME);
                usleep(50000);
        }
        sigemptyset(&mask);
        sigaddset(&mask, SIGCHLD);
        if (sigprocmask(SIG_BLOCK, &mask, NULL) < 0)
                die("sigprocmask");
        signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
        if (signals < 0)
                die("signalfd");
        (void)signal(SIGPIPE, SIG_IGN);
        send_frame('H', "", 0);
        loop(signals);
}
