# SPDX-License-Identifier: LGPL-2.1-or-later
"""The governor as it is installed in a guest, for tests: the interface is that of harness.Governor.

Each test gets a working directory of its own and leaves no job behind. What systemd and the kernel
say about a job is read from them, not from the governor.
"""
import contextlib
import fcntl
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "integration"))

import harness  # noqa: E402
from harness import FINAL, PATIENCE, until  # noqa: E402
from shimdriver import lock_holder  # noqa: E402

CGROUPS = "/sys/fs/cgroup"
SLICE = f"{CGROUPS}/schedgov.slice"
STATE = "/var/lib/schedgov"
SERVICE = "schedgovd.service"
BURN = f"{harness.BUILD}/tests/workloads/burn"
OVER = {"inactive", "failed"}


def run(*argv, check=True, **kwargs):
    """A command's standard output."""
    result = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            stdin=subprocess.DEVNULL, check=False, timeout=PATIENCE, **kwargs)
    assert not check or result.returncode == 0, \
        f"{' '.join(argv)}: {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout.strip()


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().strip()


def keys(path):
    """A file of lines "key value"."""
    return {k: int(v) for k, v in (line.split() for line in read(path).splitlines())}


def gained_cpu(groups, seconds, fits=lambda *_: True):
    """What each group gets of the CPU time, in microseconds, over so many seconds of it in all, and on until
    that fits: what the host keeps from a guest is charged to whoever ran, and made up for afterwards. A wrong
    weight never fits."""
    seen = []

    def used():
        return [keys(f"{group}/cpu.stat")["usage_usec"] for group in groups]
    base = used()

    def enough():
        seen[:] = [now - then for now, then in zip(used(), base)]
        time.sleep(0.1)  # looking costs CPU time, too
        return list(seen) if sum(seen) >= seconds * 1e6 and fits(*seen) else None
    try:
        return until(enough, f"{seconds} s of CPU time that fit")
    except AssertionError as error:
        raise AssertionError(f"{error}: {seen}") from None


class Node(harness.Governor):
    """`config` maps paths below / to their text; they are removed again."""

    def __init__(self, config=None):
        self.build, self.state, self.root = "/usr/bin", STATE, ""
        self.socket = "/run/schedgov/bus"
        self.env = {**os.environ, "NO_COLOR": "1"}
        self.clients, self.written = [], list(config or {})
        self.top = self.work = tempfile.mkdtemp(prefix="test-", dir="/var/tmp")
        os.chmod(self.work, 0o1777)
        self.since = run("date", "+%s.%N")
        for path, text in (config or {}).items():
            self.configure(path, text)
        run("systemctl", "reset-failed", SERVICE, check=False)
        run("systemctl", "reload-or-restart" if config else "start", SERVICE)

    # --- the daemon ---

    @property
    def pid(self):
        return int(run("systemctl", "show", "-P", "MainPID", SERVICE))

    def running(self):
        return run("systemctl", "is-active", SERVICE, check=False) == "active"

    def kill(self):
        """kill -9; systemd starts the next one."""
        run("systemctl", "kill", "--kill-whom=main", "--signal=KILL", SERVICE)

    def replaced(self, old):
        """Waits for the daemon that comes after this one."""
        until(lambda: self.running() and self.pid not in (0, old), "next daemon")

    def kill_and_wait(self):
        old = self.pid
        self.kill()
        self.replaced(old)

    def restart(self):
        run("systemctl", "restart", SERVICE)

    def stop(self):
        run("systemctl", "stop", SERVICE)

    def start(self):
        run("systemctl", "start", SERVICE)

    def complaints(self):
        return run("journalctl", "--no-pager", "-o", "short-monotonic", f"--since=@{self.since}",
                   "-n", "60", check=False)

    def set(self, n, *values):
        self.ctl("set", str(n), *values)

    # --- a job's unit and groups ---

    def unit(self, n):
        job = self.job(n)
        return f"schedgov-{n}-{job['node']}-{job['attempt']}.scope"

    def property(self, n, *names):
        """Values of the unit's properties, as `systemctl show` prints them."""
        lines = run("systemctl", "show", self.unit(n), *(f"--property={name}" for name in names))
        values = dict(line.split("=", 1) for line in lines.splitlines())
        return values[names[0]] if len(names) == 1 else [values[name] for name in names]

    def group(self, n):
        """The scope's directory, None = there is none."""
        for directory, names, _ in os.walk(SLICE):
            for name in names:
                if re.fullmatch(rf"schedgov-{n}-.*\.scope", name):
                    return f"{directory}/{name}"
        return None

    def pids(self, n):
        return [int(p) for p in read(f"{self.group(n)}/job/cgroup.procs").split()]

    def keeper(self, n):
        return int(read(f"{self.group(n)}/keeper/cgroup.procs"))

    def lock_holder(self, job):
        """The keeper that holds the lock of an attempt, 0 = nobody."""
        name = f"{job['id'].partition('@')[0]}-{job['node']}-{job['attempt']}"
        return lock_holder(f"{self.state}/jobs/{name}/lock")

    def output(self, n):
        return self.ctl("logs", str(n)).stdout

    def groups(self):
        found = []
        for directory, names, _ in os.walk(SLICE):
            found += [f"{directory}/{name}" for name in names if name.endswith(".scope")]
        return sorted(found)

    def processes(self):
        """Shims, and what is in groups of jobs."""
        found = {}
        for group in self.groups():
            for directory, _, _ in os.walk(group):
                with contextlib.suppress(OSError):
                    found.update({int(p): group for p in
                                  read(f"{directory}/cgroup.procs").split()})
        return found

    # --- the end ---

    def close(self):
        for client in self.clients:
            client.kill()
            client.wait(PATIENCE)
        self.start()
        for n, job in self.jobs().items():
            if job["state"] not in FINAL:
                self.ctl("cancel", str(n), expect=None)
        until(lambda: all(j["state"] in FINAL for j in self.jobs().values()), "end of all jobs")
        until(lambda: not self.groups(), "end of all groups of jobs")
        for path in self.written:
            os.unlink(f"/{path}")
        if self.written:
            run("systemctl", "reload", SERVICE)
        shutil.rmtree(self.work, ignore_errors=True)


def schedgov_units():
    """{unit: active state} of those that systemd has loaded for jobs and classes."""
    lines = run("systemctl", "list-units", "--all", "--plain", "--no-legend", "schedgov*")
    rows = [line.split() for line in lines.splitlines()]
    return {row[0]: row[2] for row in rows
            if row[0].endswith((".scope", ".slice")) and row[0] != "schedgov.slice"}


def wait_passed_on():
    """Until the harness has what was printed: its agent has read it, and waits for more. (To write
    to the port is to wait, busily, until the host has it.)"""
    sys.stdout.flush()
    agent = int(run("pgrep", "-xo", "agent"))

    def idle():
        unread = struct.unpack("i", fcntl.ioctl(1, termios.FIONREAD, b"\0" * 4))[0]
        return unread == 0 and read(f"/proc/{agent}/stat").rpartition(")")[2].split()[0] == "S"
    until(idle, "passing on of the output")


def main(tests, make=Node):
    return harness.main(tests, make)
