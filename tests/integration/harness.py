# SPDX-License-Identifier: LGPL-2.1-or-later
"""A governor of a test's own: schedgovd on a temporary state directory, and schedctl to talk to it.

Whatever a test does to it, close() leaves no process, no control group and no file behind. Nothing
here sleeps for luck: what happens elsewhere is polled for, with a bound.
"""
import json
import os
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

import shimdriver
from shimdriver import IN_GUEST, alive, crc32c, own_group, wait_for

BUILD = os.path.abspath(os.environ.get("SG_BUILD", "build/release"))
FAULT_BUILD = os.path.abspath(os.environ.get("SG_FAULT_BUILD", "build/debug"))
VARIANT = os.path.basename(BUILD)
INSTRUMENTED = VARIANT in ("asan", "tsan", "cov")
PATIENCE = 90 if IN_GUEST else 60 if INSTRUMENTED else 30  # seconds for anything that must happen
FINAL = {"exited", "killed", "oom", "timeout", "failed", "lost"}
CONTROLLERS = ("", "cpu", "cpuacct", "cpuset", "memory", "pids", "devices", "freezer", "blkio")


class Refused(AssertionError):
    """schedctl ended with another status than expected."""

    def __init__(self, args, result):
        super().__init__(f"schedctl {' '.join(args)}: status {result.returncode}\n"
                         f"{result.stdout}{result.stderr}")
        self.status, self.stdout, self.stderr = result.returncode, result.stdout, result.stderr


class Governor:
    """`config` maps paths below the configuration's root (etc/schedgov/…) to their text."""

    def __init__(self, build=BUILD, config=None, options=(), start=True):
        self.build, self.options = build, list(options)
        self.prefix = []  # a command that becomes the daemon
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="sg-test-"))
        os.chmod(self.top, 0o755)
        self.state, self.work = f"{self.top}/state", f"{self.top}/work"
        self.socket, self.root = f"{self.state}/bus", f"{self.top}/root"
        os.mkdir(self.work)
        os.chmod(self.work, 0o1777)
        for path, text in (config or {}).items():
            self.configure(path, text)
        self.log = open(f"{self.top}/daemon.log", "w+", encoding="utf-8", errors="replace")
        # Whatever descends from us can be told by it, in groups or not.
        self.env = {**os.environ, "SG_TEST_TOP": self.top, "SCHEDGOV_SOCKET": self.socket,
                    "NO_COLOR": "1"}
        self.daemon, self.clients = None, []
        if start:
            try:
                self.start()
            except BaseException:
                self.close()
                raise

    def configure(self, path, text):
        """Writes a configuration file; a running daemon reads it at SIGHUP or `config reload`."""
        full = f"{self.root}/{path}"
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(text)

    # --- the daemon ---

    def launch(self):
        """Starts the daemon without waiting for it to be ready."""
        command = [*self.prefix, f"{self.build}/schedgovd", "--standalone", "--state-dir", self.state]
        if os.path.isdir(self.root):
            command += ["--config-root", self.root]
        self.daemon = subprocess.Popen(command + self.options, env=self.env, cwd=self.top,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=self.log)

    def ready(self, patience=PATIENCE):
        """Waits for the line that says so; False when the daemon has ended instead."""
        with self.daemon.stdout as pipe:
            if not select.select([pipe], [], [], patience)[0]:
                raise AssertionError(f"schedgovd isn't ready after {patience} s")
            return b"ready" in os.read(pipe.fileno(), 4096)

    def start(self):
        self.launch()
        if not self.ready():
            raise AssertionError(f"schedgovd ended: {self.daemon.wait(PATIENCE)}")
        return self

    def kill(self):
        """kill -9 of the daemon alone."""
        self.daemon.kill()
        return self.daemon.wait(PATIENCE)

    def stop(self):
        """SIGTERM, and the exit status."""
        self.daemon.terminate()
        return self.daemon.wait(PATIENCE)

    def restart(self):
        if self.daemon.poll() is None:
            self.kill()
        return self.start()

    def running(self):
        return self.daemon is not None and self.daemon.poll() is None

    def store_pid(self):
        return self.child_pid("schedgov-store")

    def reader_pid(self):
        return self.child_pid("schedgov-reader")

    def child_pid(self, name):
        """The daemon's child of that name, 0 = none. Not one of children(): that list may leave some
        out while others end (proc(5)), and they are killed by what is said here."""
        return next((pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
                     if comm(pid) == name and parent(pid) == self.daemon.pid), 0)

    def children(self):
        try:
            path = f"/proc/{self.daemon.pid}/task/{self.daemon.pid}/children"
            with open(path, encoding="ascii") as f:
                return [int(pid) for pid in f.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            return []

    def zombies(self):
        """Children that have ended and that the daemon doesn't know of."""
        return [pid for pid in self.children() if not alive(pid)]

    def complaints(self):
        self.log.flush()
        with open(f"{self.top}/daemon.log", encoding="utf-8", errors="replace") as f:
            return f.read()

    # --- schedctl ---

    def ctl(self, *args, expect=0, stdin=None, env=None, timeout=PATIENCE, user=None, cwd=None):
        """Runs schedctl; `expect` is its exit status, None for any. Text in, text out."""
        result = subprocess.run([f"{self.build}/schedctl", *args], env={**self.env, **(env or {})},
                                input=stdin if stdin is not None else "", text=True, user=user,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                                cwd=cwd or self.work, check=False)
        if expect is not None and result.returncode != expect:
            raise Refused(args, result)
        return result

    def popen(self, *args, **kwargs):
        """schedctl beside us; ended by close() if need be."""
        kwargs.setdefault("stdin", subprocess.DEVNULL)
        kwargs.setdefault("stdout", subprocess.PIPE)
        kwargs.setdefault("stderr", subprocess.PIPE)
        kwargs.setdefault("cwd", self.work)
        client = subprocess.Popen([f"{self.build}/schedctl", *args], env=self.env, text=True,
                                  **kwargs)
        self.clients.append(client)
        return client

    def submit(self, *args, **kwargs):
        """The number of the new job; of an array, a list of them."""
        numbers = [int(n) for n in self.ctl("submit", *args, **kwargs).stdout.split()]
        return numbers[0] if len(numbers) == 1 else numbers

    def shell(self, script, *options, **kwargs):
        """Submits `sh -c script`."""
        return self.submit(*options, "--", "sh", "-c", script, **kwargs)

    def wait(self, *jobs, timeout=PATIENCE):
        """Waits for jobs; the status that `schedctl wait` gives."""
        return self.ctl("wait", *map(str, jobs), expect=None, timeout=timeout).returncode

    def job(self, n):
        """The job's document."""
        return json.loads(self.ctl("status", str(n), "--json").stdout)

    def jobs(self):
        """All that the governor knows, live and finished: {number: document}."""
        rows = json.loads(self.ctl("list", "--all", "--json").stdout)["jobs"]
        return {int(row["id"].partition("@")[0]): row for row in rows}

    def wait_state(self, n, *states, patience=PATIENCE):
        """Waits until the job is in one of the states; its document."""
        def reached():
            job = self.job(n)
            if job["state"] in states:
                return job
            assert job["state"] not in FINAL, f"job {n} is {job['state']}: {job['reason']}"
            return None
        return wait_for(reached, f"{'/'.join(states)} of job {n}", patience)

    # --- faults ---

    def arm(self, point, who="self"):
        """A fault point strikes once: see lib/base/fault.h. Only FAULT_BUILD has them."""
        with open(f"{self.state}/fault.tmp", "w", encoding="ascii") as f:
            f.write(f"{point} {who}\n")
        os.rename(f"{self.state}/fault.tmp", f"{self.state}/fault")

    def armed(self):
        return os.path.exists(f"{self.state}/fault")

    # --- what there is of it ---

    def attempts(self):
        """Names of the attempts' directories, without those that wait to be used again."""
        return sorted(n for n in os.listdir(f"{self.state}/jobs") if n[0] != ".")

    def group_bases(self):
        """Our directory in each hierarchy, if it exists. The daemon names it by its state
        directory."""
        name = f"schedgov-{crc32c(self.state.encode()):08x}"
        own = {own_group(c) for c in CONTROLLERS} - {None}
        return [base for base in (f"{o}/{name}" for o in own) if os.path.isdir(base)]

    def groups(self):
        """Directories of jobs' groups, in all hierarchies."""
        found = []
        for base in self.group_bases():
            for directory, names, _ in os.walk(base):
                found += [f"{directory}/{n}" for n in names if re.match(r"schedgov-\d", n)]
        return sorted(found)

    def processes(self):
        """{pid: command} of all that descends from this governor and its clients."""
        found = {}
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                with open(f"/proc/{name}/cmdline", "rb") as f:
                    command = f.read()
                with open(f"/proc/{name}/environ", "rb") as f:
                    environ = f.read()
            except OSError:
                continue
            # A job whose user sent no environment has its allocation's path.
            if self.top.encode() in command or self.top.encode() in environ:
                if alive(int(name)):
                    found[int(name)] = command.replace(b"\0", b" ").decode(errors="replace")
        return found

    def query(self, sql, *args):
        """Reads the database; only while no daemon writes is what it says the last word."""
        db = sqlite3.connect(f"file:{self.state}/schedgov.db?mode=ro", uri=True, timeout=10)
        try:
            return db.execute(sql, args).fetchall()
        finally:
            db.close()

    # --- the end ---

    def end_processes(self):
        def all_gone():
            left = self.processes()
            for pid in left:
                kill_quietly(pid)
            return not left
        wait_for(all_gone, "end of all processes", PATIENCE)

    def remove_groups(self):
        """Kills what is in them, frozen or not."""
        for base in self.group_bases():
            for directory, _, _ in os.walk(base):
                write_quietly(f"{directory}/freezer.state", "THAWED")
                write_quietly(f"{directory}/cgroup.freeze", "0")
            wait_for(lambda b=base: remove_tree(b), f"end of {base}", PATIENCE)

    def close(self):
        try:
            if self.running():
                self.kill()
            for client in self.clients:
                client.kill()
                client.wait(PATIENCE)
                for pipe in (client.stdout, client.stderr):
                    if pipe:
                        pipe.close()
            self.remove_groups()
            self.end_processes()
            self.remove_groups()
        finally:
            self.log.close()
            shutil.rmtree(self.top, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()


def failing(call, *only):
    """A prefix for the daemon: strace(1) makes its system calls fail, as inject= says."""
    name = call.partition(":")[0]
    return ["strace", "-D", "-qq", "-o", "/dev/null", *only, "-e", f"trace={name}", "-e",
            f"inject={call}"]


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
            return f.read().strip()
    except OSError:
        return ""


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
            return int(f.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def connected(client):
    """Whether a client has reached the daemon: a restart from then on is a lost connection to it."""
    inodes = set()
    try:
        for fd in os.listdir(f"/proc/{client.pid}/fd"):
            inodes.add(os.readlink(f"/proc/{client.pid}/fd/{fd}")[len("socket:["):-1])
    except FileNotFoundError:
        return False
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as f:
        return any(line.split()[5] == "03" and line.split()[6] in inodes for line in f)


def kill_quietly(pid, sig=signal.SIGKILL):
    try:
        os.kill(pid, sig)
    except ProcessLookupError:
        pass


def write_quietly(path, text):
    try:
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
    except OSError:
        pass


def remove_tree(base):
    """True when the groups are gone; else kills what keeps them."""
    for directory, _, _ in os.walk(base, topdown=False):
        try:
            with open(f"{directory}/cgroup.procs", encoding="ascii") as f:
                for pid in f.read().split():
                    if int(pid) not in (0, os.getpid()):
                        kill_quietly(int(pid))
            os.rmdir(directory)
        except OSError:
            pass
    return not os.path.exists(base)


def until(condition, what, patience=PATIENCE):
    """wait_for with the patience of this variant."""
    return wait_for(condition, what, patience)


def main(tests, make=Governor):
    """Runs tests, each with what `make` gives; TAP. Arguments select tests by name."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # past close(), by SystemExit
    return shimdriver.main(tests, make)
