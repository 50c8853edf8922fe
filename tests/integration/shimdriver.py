# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon's and the store's side of the shim: attempt directories, the gate, exit records.

Everything happens in a temporary state directory with real processes. A Bench owns them all and
takes them away again.
"""
import ctypes
import fcntl
import contextlib
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import traceback

from expect import same

BUILD = os.environ.get("SG_BUILD", "build/release")
SHIM = os.path.abspath(os.path.join(BUILD, "schedgov-shim"))
IN_GUEST = "VM_NODE" in os.environ  # emulated
INSTRUMENTED = os.path.basename(os.path.normpath(BUILD)) in ("asan", "tsan", "cov")
UNLIMITED = 2**64 - 1
READY, GO, STARTED, ENDED, TIMEOUT, PLACE, SEEN, OVER = range(1, 9)
NONE, SETUP, CREDENTIALS, WORKDIR, OUTPUT, EXEC = range(6)
UNIFIED, CPU, CPUACCT, CPUSET, MEMORY, PIDS, DEVICES, FREEZER, BLKIO = range(9)

TAGS = {name: i + 1 for i, name in enumerate(
    "uid gid group umask rlimit arg env script workdir output error on_end".split())}
TAGS.update({name: i + 64 for i, name in enumerate(
    "group_dir env_force env_default log log_max log_keep cpu_affinity awaits_place script_file".split())})


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def encode(fields):
    out = b""
    for name, values in fields.items():
        for value in values if isinstance(values, list) else [values]:
            if value is None:
                continue
            if isinstance(value, int):
                value = struct.pack("<Q", value)
            elif isinstance(value, str):
                value = value.encode()
            elif isinstance(value, tuple):
                value = struct.pack("<QQQ", *value)
            out += struct.pack("<HI", TAGS[name], len(value)) + value
    return out


class Exit:
    """An exit record, checked."""
    FORMAT = "=8siiIiQQQQQQQiI"
    NAMES = ("magic code signal stage error started ended cpu_usec memory_peak oom_kills "
             "io_read io_write pid main_oom_killed").split()

    def __init__(self, data):
        assert len(data) == 256, f"record of {len(data)} bytes"
        assert struct.unpack("=I", data[252:])[0] == crc32c(data[:252]), "bad CRC"
        size = struct.calcsize(self.FORMAT)
        for name, value in zip(self.NAMES, struct.unpack(self.FORMAT, data[:size])):
            setattr(self, name, value)
        same(self.magic, b"sgexit1\0", "magic of the exit record")
        same(data[size:252].strip(b"\0"), b"", "rest of the exit record")

    def __repr__(self):
        return " ".join(f"{n}={getattr(self, n)}" for n in self.NAMES[1:])


def wait_for(condition, what, seconds=20):
    """Polls: for what happens in other processes' files, where nothing can be waited on. A guest's
    CPUs are needed for that to happen: there looking takes a third of the time at most."""
    end = time.monotonic() + seconds
    while True:
        begun = time.monotonic()
        value = condition()
        if value:
            return value
        now = time.monotonic()
        if now > end:
            raise AssertionError(f"no {what} after {seconds} s")
        time.sleep(max(0.02, 2 * (now - begun)) if IN_GUEST else 0.002)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def lock_holder(path):
    """The pid that F_GETLK tells, 0 = nobody."""
    with open(path, "r+b") as f:
        query = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack("hhqqi4x", fcntl.fcntl(f, fcntl.F_GETLK, query))
    return 0 if kind == fcntl.F_UNLCK else pid


class Gate:
    def __init__(self, end):
        self.end = end
        self.end.settimeout(20)

    def receive(self):
        data = self.end.recv(4096)
        self.more = data[8:]
        return struct.unpack("=Ii", data[:8]) if data else (None, None)

    def expect(self, kind):
        got, pid = self.receive()
        assert got == kind, f"message {got} instead of {kind}"
        return pid

    def expect_end(self):
        """OVER and ENDED; the job's pid."""
        pid = self.expect(OVER)
        same(self.expect(ENDED), pid, "pid of ENDED, that of OVER")
        return pid

    def send(self, kind, more=b""):
        self.end.send(struct.pack("=Ii", kind, 0) + more)

    def go(self):
        self.send(GO)

    def close(self):
        self.end.close()


class Attempt:
    """One attempt directory and, after start(), its shim."""

    def __init__(self, bench, fields, name=None):
        bench.count += 1
        self.bench, self.shim, self.gate = bench, None, None
        self.name = name or f"{bench.count}-host-1"
        self.dir = f"{bench.state}/jobs/{self.name}"
        self.log = fields.get("log") or f"{bench.state}/logs/{bench.count}.log"
        os.mkdir(self.dir)
        spec = {"uid": os.getuid(), "gid": os.getgid(), "umask": 0o22, "workdir": bench.work,
                "env": ["PATH=/usr/local/bin:/usr/bin:/bin"], "log": self.log}
        spec.update(fields)
        self.write("spec", encode(spec))
        self.write("exit.tmp", b"\0" * 256)
        self.write("lock", b"")

    def path(self, name):
        return f"{self.dir}/{name}"

    def write(self, name, data):
        with open(os.open(self.path(name), os.O_WRONLY | os.O_CREAT, 0o600), "wb") as f:
            f.write(data)

    def start(self, prefix=()):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        os.set_inheritable(theirs.fileno(), True)
        self.gate = Gate(ours)

        # What a daemon blocks and ignores, neither the shim nor the job may inherit.
        def become_daemon(fd=theirs.fileno()):
            os.dup2(fd, 3)
            for sig in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGTERM, signal.SIGRTMIN):
                signal.signal(sig, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, range(1, signal.NSIG))

        self.shim = subprocess.Popen([*prefix, SHIM, self.dir], env=self.bench.shim_env,
                                     close_fds=False, preexec_fn=become_daemon,
                                     stdin=subprocess.DEVNULL, stderr=self.bench.stderr)
        theirs.close()
        self.bench.attempts.append(self)
        return self

    def run(self):
        """READY, GO and STARTED; the job's pid."""
        pid = self.gate.expect(READY)
        self.gate.go()
        same(self.gate.expect(STARTED), pid, "pid of STARTED, that of READY")
        return pid

    def wait(self, seconds=30):
        return self.shim.wait(seconds)

    def exit(self):
        assert self.wait() == 0, f"the shim's status is {self.shim.returncode}"
        return self.record()

    def record(self):
        with open(self.path("exit"), "rb") as f:
            return Exit(f.read())

    def fate(self):
        try:
            with open(self.path("fate")) as f:
                return f.read()
        except FileNotFoundError:
            return None

    def publish(self, fate):
        os.link(f"{self.bench.state}/fate.{fate}", self.path("fate"))

    def locked_by(self):
        return lock_holder(self.path("lock"))

    def output(self, suffix=""):
        with open(self.log + suffix, "rb") as f:
            return f.read()


class Bench:
    """A state directory, a place for users' files, and all processes started here."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="sg-shim-")
        os.chmod(self.top, 0o755)
        self.state, self.work = f"{self.top}/state", f"{self.top}/home"
        for directory in (self.state, f"{self.state}/jobs", f"{self.state}/logs", self.work):
            os.mkdir(directory)
        os.chmod(self.work, 0o1777)
        for fate in ("run", "void"):
            with open(f"{self.state}/fate.{fate}", "w") as f:
                f.write(fate)
        self.count, self.attempts, self.groups = 0, [], []
        self.shim_env = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
        self.stderr = open(f"{self.top}/stderr", "w+")

    def attempt(self, *argv, **fields):
        if argv:
            fields["arg"] = list(argv)
        return Attempt(self, fields)

    def run(self, *argv, **fields):
        """A job from its start to its end: the attempt and its record."""
        a = self.attempt(*argv, **fields).start()
        a.gate.expect(READY)
        a.gate.go()
        return a, a.exit()

    def shell(self, script, **fields):
        return self.run("/bin/sh", "-c", script, **fields)

    def complaints(self):
        self.stderr.seek(0)
        return self.stderr.read()

    def group(self, hier, root):
        """A scope with its two groups below our own group of a hierarchy."""
        path = f"{root}/sg-shim-test-{os.getpid()}-{len(self.groups)}"
        for directory in (path, f"{path}/keeper", f"{path}/job"):
            os.mkdir(directory)
            self.groups.insert(0, directory)
        return bytes([hier]) + path.encode()

    def close(self):
        for a in self.attempts:
            if a.shim.poll() is None:
                a.shim.kill()
                a.shim.wait()
            a.gate.close()
        for directory in self.groups:
            self.remove_group(directory)
        self.stderr.close()
        shutil.rmtree(self.top, ignore_errors=True)

    @staticmethod
    def remove_group(directory):
        def gone():
            with open(f"{directory}/cgroup.procs") as f:
                for pid in f.read().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
            try:
                os.rmdir(directory)
            except OSError:
                return False
            return True
        wait_for(gone, f"end of {directory}")


def own_group(controller):
    """The directory of our group in a v1 hierarchy, or of the v2 tree for ""."""
    with open("/proc/self/cgroup") as f:
        for line in f:
            number, names, path = line.rstrip("\n").split(":", 2)
            if controller in names.split(",") if controller else number == "0":
                with open("/proc/self/mounts") as mounts:
                    for mount in mounts:
                        _, where, kind, options = mount.split()[:4]
                        v1 = kind == "cgroup" and controller in options.split(",")
                        if v1 if controller else kind == "cgroup2":
                            return where + path.rstrip("/")
    return None


def unshare_mounts():
    """A mount namespace of our own, for file systems that a test fills or makes read-only."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x20000) != 0 or libc.mount(b"none", b"/", None, 0x44000, None) != 0:
        raise OSError(ctypes.get_errno(), "cannot make a mount namespace")


def mount_tmpfs(path, size, options=""):
    libc = ctypes.CDLL(None, use_errno=True)
    os.makedirs(path, exist_ok=True)
    if libc.mount(b"tmpfs", path.encode(), b"tmpfs", 0, f"size={size},mode=755{options}".encode()) != 0:
        raise OSError(ctypes.get_errno(), "cannot mount a tmpfs")


def umount(path):
    ctypes.CDLL(None).umount2(path.encode(), 2)


def main(tests, make=Bench):
    """Runs the tests, each on a bench of its own, and prints TAP. Arguments select by name."""
    selected = [t for t in tests if not sys.argv[1:] or t.__name__[5:] in sys.argv[1:]]
    failed = 0
    print(f"1..{len(selected)}", flush=True)
    for i, test in enumerate(selected, 1):
        bench = make()
        try:
            test(bench)
            verdict = "ok"
        except Exception:
            verdict = "not ok"
            failed += 1
            for line in (traceback.format_exc() + bench.complaints()).splitlines():
                print("# " + line)
        finally:
            bench.close()
        name = (test.__doc__ or test.__name__).splitlines()[0].rstrip(".")
        print(f"{verdict} {i} - {name}", flush=True)
    return 1 if failed else 0
