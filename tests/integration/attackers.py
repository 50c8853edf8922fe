# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ways in which one user could take the governor away from the others: one class each, see siegedriver.Attack."""
import contextlib
import json
import os
import select
import socket
import stat
import struct
import time

from hungdisk import HungDisk
from pathdriver import RawBus, U32, pack_options, pack_string, pack_submit
from siegedriver import ATTACKERS, Attack, NAMELESS, NOTIFY

MIB = 1 << 20
FOREVER = b"sleep\0" b"100000\0"


def submit(attack, options, argv=FOREVER, environ=b""):
    """The number of a new job, 0 = it was refused."""
    answer = attack.ask("Submit", "a{sv}ayayay", pack_submit(options, argv, environ=environ))
    return struct.unpack("<QQ", answer[-16:])[0] if answer else 0


def state_of(s):
    """(whether the other side has closed it, whether there is something to read), without reading."""
    poll = select.poll()
    poll.register(s, select.POLLIN | select.POLLRDHUP)
    events = poll.poll(0)
    bits = events[0][1] if events else 0
    return bool(bits & (select.POLLHUP | select.POLLRDHUP | select.POLLERR)), bool(bits & select.POLLIN)


def still_open(connections, socket_of=lambda c: c.socket):
    """Those that the daemon has kept; the others are closed."""
    kept = []
    for c in connections:
        if state_of(socket_of(c))[0]:
            c.close()
        else:
            kept.append(c)
    return kept


class Hoard(Attack):
    """bytes at rest: held jobs with 7 MiB of environment each"""
    PAUSE = 0
    ENVIRON = b"".join(b"X%d=%s\0" % (i, b"x" * 100_000) for i in range(70))

    def act(self):
        submit(self, {"hold": True}, environ=self.ENVIRON)


class FdBus(RawBus):
    """Keeps the descriptors that come with answers."""

    def __init__(self, path):
        self.fds = []
        super().__init__(path)

    def exactly(self, size):
        data = b""
        while len(data) < size:
            piece, fds, _, _ = socket.recv_fds(self.socket, size - len(data), 8)
            if not piece:
                raise EOFError
            data, self.fds = data + piece, self.fds + fds
        return data


class Grow(Attack):
    """descriptors: what is handed out for `run` is written to without an end"""
    MORE = bytes(MIB)

    def begin(self):
        self.bus = FdBus(self.g.socket)
        body = pack_options({}) + struct.pack("<I", 6) + b"sleep\0"
        body += b"\0" * (-len(body) % 4) + struct.pack("<I", 0)
        self.bus.call("Run", "a{sv}ayh", body, fds=[os.pidfd_open(os.getpid())])
        granted, answer = self.bus.reply()
        assert granted, answer
        self.bus.call("Attach", "t", answer[-8:])
        self.bus.reply()

    def act(self):
        for fd in self.bus.fds if self.bus else ():
            info = os.fstat(fd)
            if stat.S_ISREG(info.st_mode):
                with contextlib.suppress(OSError):
                    os.pwrite(fd, self.MORE, info.st_size)

    def check(self):
        large = [(path, size) for path, size in sizes(f"{self.g.state}/jobs") if size > MIB]
        assert not large, f"files of attempts: {large}"


def sizes(directory):
    for where, _, names in os.walk(directory):
        for name in names:
            with contextlib.suppress(OSError):
                yield f"{where}/{name}", os.stat(f"{where}/{name}").st_size


class Unfinished(Attack):
    """messages that don't end: connections with 100 MiB, of which the last byte never comes"""
    CONNECTIONS, SIZE, PIECE = 5, 100 * MIB, bytes(MIB)

    def begin(self):
        self.sent = {}

    def act(self):
        while len(self.sent) < self.CONNECTIONS:
            bus = RawBus(self.g.socket)
            self.sent[bus] = 0
            bus.call("Submit", "a{sv}ayayay", announced=self.SIZE)
        for bus in list(self.sent):
            if self.sent[bus] + 2 * MIB > self.SIZE:
                continue
            try:
                self.sent[bus] += bus.socket.send(self.PIECE, socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass
            except OSError:
                bus.close()
                del self.sent[bus]


class Deaf(Attack):
    """answers that nobody reads, of 300 jobs each"""
    CONNECTIONS = 60

    def begin(self):
        self.asking, self.full = [RawBus(self.g.socket) for _ in range(self.CONNECTIONS)], []
        submit(self, {"hold": True, "name": b"deaf" * 12, "array_first": U32(1), "array_last": U32(300)})

    def act(self):
        self.full = still_open(self.full)
        self.asking = still_open(self.asking)
        if len(self.asking) + len(self.full) < self.CONNECTIONS:
            self.asking.append(RawBus(self.g.socket))
        for bus in list(self.asking):
            bus.socket.settimeout(0.02)
            try:
                bus.call("DescribeJobs", "a{sv}s", pack_options({}) + pack_string(b""))
            except TimeoutError:  # no more of it is read, and what was asked for is there to be held
                self.asking.remove(bus)
                self.full.append(bus)


class Idle(Attack):
    """connections: as many as all of them get, and nothing on them"""
    UIDS, CONNECTIONS, PAUSE = ATTACKERS, 250, 0.1

    def begin(self):
        self.held = []

    def act(self):
        self.held = still_open(self.held)
        while len(self.held) < self.CONNECTIONS:
            bus = RawBus(self.g.socket, authenticate=False)
            self.held.append(bus)
            bus.socket.settimeout(1)
            bus.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\nBEGIN\r\n")


class Nameless(Attack):
    """names: submissions of a user whom only a directory service knows that doesn't answer"""
    UIDS, CONNECTIONS = (NAMELESS,), 60
    ENVIRON = b"".join(b"X%d=%s\0" % (i, b"x" * 100_000) for i in range(17))

    def begin(self):
        self.asking = []

    def act(self):
        self.asking = still_open(self.asking)
        if len(self.asking) < self.CONNECTIONS:
            self.asking.append(RawBus(self.g.socket))
            for _ in range(4):
                self.submit(self.asking[-1])
        for bus in self.asking:
            if state_of(bus.socket)[1]:
                bus.reply()
                self.submit(bus)

    def submit(self, bus):
        bus.socket.settimeout(1)
        bus.call("Submit", "a{sv}ayayay", pack_submit({"hold": True}, FOREVER, environ=self.ENVIRON))


class Flood(Attack):
    """reports: from a process in no job, to every socket that there is, and from a job to its own"""
    PAUSE = 0.001
    JOB = NOTIFY + 'while (1) { send(S, "STATUS=noise", 0x40) for 1 .. 50; select(undef, undef, undef, .002); }'

    def prepare(self):
        pid = self.fifth.document(self.fifth.steady)["pid"]
        with open(f"/proc/{pid}/environ", "rb") as f:
            variables = dict(v.split(b"=", 1) for v in f.read().split(b"\0") if b"=" in v)
        self.targets = [variables[b"NOTIFY_SOCKET"].decode()]

    def begin(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        submit(self, {}, b"perl\0-e\0" + self.JOB.encode() + b"\0")

    def act(self):
        for target in self.targets:
            with contextlib.suppress(OSError):
                for _ in range(100):
                    self.socket.sendto(b"STATUS=noise", target)


class Scribble(Attack):
    """logs: written to by their user, past the size at which they are rotated"""
    MORE = b"x" * (MIB // 4)

    def prepare(self):
        self.node = json.loads(self.g.ctl("status", "--json").stdout)["node"]

    def begin(self):
        self.n = submit(self, {}, b"sh\0-c\0echo begun; sleep 100000\0")

    def act(self):
        with open(f"{self.g.state}/logs/{self.n}-{self.node}.log", "ab") as f:
            f.write(self.MORE)

    def check(self):
        large = [(path, size) for path, size in sizes(f"{self.g.state}/logs") if size > 4 * MIB]
        assert not large, f"logs: {large}"


class Stuck(Attack):
    """starts that don't end: output to a FIFO that nobody reads, and a directory on a disk that hangs"""
    JOBS, PAUSE = 60, 0.5

    def prepare(self):
        self.fifo = f"{self.g.work}/fifo-{self.uid}"
        os.mkfifo(self.fifo)
        os.chmod(self.fifo, 0o666)
        self.disk = HungDisk(f"{self.g.work}/hung-start")

    def begin(self):
        for i in range(self.JOBS):
            if i % 2:
                submit(self, {"output": self.fifo.encode()})
            else:
                submit(self, {"workdir": f"{self.disk.path}/there".encode()})

    def lift(self):
        self.disk.close()
        os.unlink(self.fifo)
        os.rmdir(self.disk.path)


class Retry(Attack):
    """retries of what fails at once"""
    JOBS, PAUSE = 10, 0.5

    def begin(self):
        self.begun = time.monotonic()
        for _ in range(self.JOBS):
            submit(self, {"retry": U32(1000), "name": b"retried"}, b"false\0")

    def check(self):
        attempts = [job["attempt"] for job in self.g.jobs().values() if job["name"] == "retried"]
        assert attempts and max(attempts) <= 12, attempts


class Slow(Attack):
    """HTTP: connections that begin a request, more of them than there are places"""
    CONNECTIONS = 300

    def begin(self):
        self.slow = []

    def act(self):
        self.slow = still_open(self.slow, lambda s: s)
        while len(self.slow) < self.CONNECTIONS:
            s = socket.create_connection(("127.0.0.1", self.g.port), timeout=1)
            self.slow.append(s)
            s.send(b"GET /metrics HT")


class Hung(Attack):
    """progress files on a disk that hangs"""
    JOBS, PAUSE = 8, 0.5

    def prepare(self):
        self.disk = HungDisk(f"{self.g.work}/hung-file")

    def begin(self):
        for i in range(self.JOBS):
            submit(self, {"progress": f"file:{self.disk.path}/{i}".encode()})

    def lift(self):
        self.disk.close()
        os.rmdir(self.disk.path)


# In turns for the four users; that of connections comes last, as it leaves none to the others.
ATTACKS = (Hoard, Deaf, Grow, Retry, Unfinished, Flood, Scribble, Stuck, Slow, Hung, Nameless, Idle)
