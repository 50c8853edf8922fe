# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the path-* tests share: the kernel's side of a job, other users, hand-made bus messages."""
import contextlib
import os
import socket
import struct
import subprocess

from expect import same
from harness import BUILD, own_group, until

QUICK = {"etc/schedgov/schedgov.conf": "[Queue]\nKillGrace=300ms\n"}
FOREVER = "while :; do sleep 0.05; done"


def group(g, n, controller, attempt=1):
    """The directory of job n in one hierarchy ("" = the v2 tree)."""
    for path in g.groups():
        if os.path.basename(path).startswith(f"schedgov-{n}-") and \
           path.endswith(f"-{attempt}") and path.startswith(own_group(controller) + "/"):
            return path
    return None


def kernel(g, n, controller, name):
    """One file of a job's group, as text. On v1, caps sit in `job`, the weight beside it."""
    with open(f"{group(g, n, controller)}/{name}", encoding="ascii") as f:
        return f.read().strip()


def pids_of(g, n):
    return [int(p) for p in kernel(g, n, "", "job/cgroup.procs").split()]


def text(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def wait_text(path, wanted, what=None):
    """Until the file holds that; then all of it."""
    def found():
        try:
            content = text(path)
        except FileNotFoundError:
            return None
        return content if wanted in content else None
    return until(found, what or f"{wanted!r} in {path}")


def wait_file(path):
    return until(lambda: os.path.exists(path), path)


def fill(g, count, script=FOREVER, *options):
    """Occupies the node with jobs that run until they are cancelled."""
    jobs = [g.shell(script, *options) for _ in range(count)]
    for n in jobs:
        g.wait_state(n, "running")
    return jobs


def refused(g, *args, status=125, **kwargs):
    """A call that must fail in one clear line; that line."""
    result = g.ctl(*args, expect=status, **kwargs)
    lines = result.stderr.splitlines()
    assert len(lines) in (1, 2) and lines[0].startswith("schedctl: "), result.stderr
    return result.stderr


# --- other users: numbers are enough, no accounts are needed ---

class User:
    """Runs schedctl as somebody else: uid = gid, with supplementary groups."""

    def __init__(self, g, uid, groups=()):
        self.g, self.uid, self.groups = g, uid, [uid, *groups]

    def command(self, *argv):
        return ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}",
                f"--groups={','.join(map(str, self.groups))}", "--", *argv]

    def ctl(self, *args, expect=0, before="", **kwargs):
        """`before` is shell code that runs first: ulimit, umask."""
        command = self.command("sh", "-c", f'{before}\nexec "$0" "$@"', f"{BUILD}/schedctl", *args)
        result = subprocess.run(command, env=self.g.env, text=True, stdin=subprocess.DEVNULL,
                                capture_output=True, cwd=self.g.work, check=False, **kwargs)
        if expect is not None:
            assert result.returncode == expect, \
                f"{args}: {result.returncode}\n{result.stdout}{result.stderr}"
        return result

    def submit(self, *args, **kwargs):
        numbers = [int(n) for n in self.ctl("submit", *args, **kwargs).stdout.split()]
        return numbers[0] if len(numbers) == 1 else numbers

    def shell(self, script, *options, **kwargs):
        return self.submit(*options, "--", "sh", "-c", script, **kwargs)

    def can_read(self, path):
        return subprocess.run(self.command("cat", path), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# --- the bus, by hand: what schedctl would never send ---

class RawBus:
    """A connection on which any bytes can be sent."""

    def __init__(self, path, authenticate=True):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(path)
        self.serial = 0
        if authenticate:
            uid = str(os.geteuid()).encode().hex().encode()
            self.socket.sendall(b"\0AUTH EXTERNAL " + uid + b"\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n")
            answer = b""
            while answer.count(b"\r\n") < 2:
                piece = self.socket.recv(4096)
                assert piece, f"closed while authenticating, after {answer}"
                answer += piece
            assert answer.startswith(b"OK "), answer

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def call(self, member, signature="", body=b"", job=None, fds=(), announced=None):
        """Sends a call to the manager, or to a job; all of it in little endian. `announced`: so long the body is said to be."""
        self.serial += 1
        path, interface = "/org/schedgov1", "Manager"
        if job is not None:
            path, interface = f"{path}/job/_{ord(str(job)[0]):x}{str(job)[1:]}", "Job"
        fields = b""
        for code, kind, value in ((1, b"o", path), (2, b"s", f"org.schedgov1.{interface}"),
                                  (3, b"s", member), (8, b"g", signature)):
            if code == 8 and not signature:
                continue
            fields += b"\0" * (-len(fields) % 8) + bytes([code, 1]) + kind + b"\0"
            fields += bytes([len(value)]) if kind == b"g" else struct.pack("<I", len(value))
            fields += value.encode() + b"\0"
        if fds:
            fields += b"\0" * (-len(fields) % 8) + b"\x09\1u\0" + struct.pack("<I", len(fds))
        size = len(body) if announced is None else announced
        header = struct.pack("<cBBBIII", b"l", 1, 0, 1, size, self.serial, len(fields))
        data = header + fields + b"\0" * (-(len(header) + len(fields)) % 8) + body
        if fds:
            same(socket.send_fds(self.socket, [data], fds), len(data), "bytes of a call that were sent")
        else:
            self.socket.sendall(data)

    def reply(self):
        """Whether it was a return (not an error), and its bytes; (None, b"") when closed."""
        try:
            header = self.exactly(16)
            size, fields = struct.unpack_from("<I", header, 4)[0], \
                struct.unpack_from("<I", header, 12)[0]
            rest = self.exactly(fields + -fields % 8 + size)
        except (ConnectionError, EOFError):
            return None, b""
        return header[1] == 2, rest

    def exactly(self, size):
        data = b""
        while len(data) < size:
            piece = self.socket.recv(size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return data


def pack_string(s):
    return struct.pack("<I", len(s)) + s + b"\0"


class U32(int):
    """A number that is u on the bus, where others are t."""


def pack_options(options):
    """a{sv} with values of type s, t, u or b, at the start of a body."""
    entries = b""
    for key, value in options.items():
        entries += b"\0" * (-(len(entries)) % 8) + pack_string(key.encode())
        if isinstance(value, bool):
            entries += b"\1b\0"
            entries += b"\0" * (-len(entries) % 4) + struct.pack("<I", value)
        elif isinstance(value, U32):
            entries += b"\1u\0"
            entries += b"\0" * (-len(entries) % 4) + struct.pack("<I", value)
        elif isinstance(value, int):
            entries += b"\1t\0"
            entries += b"\0" * (-len(entries) % 8) + struct.pack("<Q", value)
        else:
            entries += b"\1s\0"
            entries += b"\0" * (-len(entries) % 4) + pack_string(value)
    return struct.pack("<I", len(entries)) + b"\0" * 4 + entries


def pack_submit(options, argv, script=b"", environ=b""):
    body = pack_options(options)
    for block in (argv, script, environ):
        body += b"\0" * (-len(body) % 4) + struct.pack("<I", len(block)) + block
    return body


def connected(g, client):
    """Waits until the daemon has accepted a client: it keeps a pidfd of each."""
    def known():
        for fd in os.listdir(f"/proc/{g.daemon.pid}/fdinfo"):
            try:
                if f"\nPid:\t{client.pid}\n" in text(f"/proc/{g.daemon.pid}/fdinfo/{fd}"):
                    return True
            except FileNotFoundError:
                pass
        return False
    until(known, "connection of the client")
    return client


def rss_kib(pid, field="RssAnon"):
    for line in text(f"/proc/{pid}/status").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise AssertionError(f"no {field} of {pid}")


@contextlib.contextmanager
def acting_as(uid):
    """Who connects is who we are at that moment."""
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


def connection(g, uid):
    """One of that user's."""
    with acting_as(uid):
        return RawBus(g.socket)
