# SPDX-License-Identifier: LGPL-2.1-or-later
"""One run: a script in one or more fresh guests at once, from the stage to the exit status.

Each node has a thread; the main thread waits for them, or for a signal. All files of a run are in a
directory of its own, build/vm/run/…, which is locked while the run lives; the next run removes what
a killed one has left.
"""
import contextlib
import fcntl
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time

import guest
import stage
import warm
from common import CACHE, LOGS, TOP, Failure, content, say

CLOSE_SECONDS = 5
PASSED = ("VARIANT", "CI", "TERM", "NO_COLOR", "UBSAN_OPTIONS", "ASAN_OPTIONS", "LSAN_OPTIONS",
          "CMOCKA_MESSAGE_OUTPUT", "SG_ALLOW_SKIP")
SHELL = ["systemd-run", "--quiet", "--wait", "--collect", "-p", "TTYPath=/dev/ttyS0",
         "-p", "StandardInput=tty", "-p", "StandardOutput=tty", "-p", "StandardError=tty",
         "-p", "WorkingDirectory=/src"]


class RunDirectory:
    """Also what is shared with the guests as /vm."""

    def __init__(self):
        top = f"{CACHE}/run"
        os.makedirs(top, exist_ok=True)
        self.sweep(top)
        self.path = tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=top)
        os.chmod(self.path, 0o755)  # the guest's users read there, too
        self.lock = open(f"{self.path}/lock", "w", encoding="ascii")
        fcntl.flock(self.lock, fcntl.LOCK_EX)

    @staticmethod
    def sweep(top):
        for name in os.listdir(top):
            with contextlib.suppress(OSError):
                with open(f"{top}/{name}/lock", "r+", encoding="ascii") as f:
                    fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(f"{top}/{name}", ignore_errors=True)

    def close(self):
        shutil.rmtree(self.path, ignore_errors=True)
        self.lock.close()


class Network:
    """A multicast group on loopback. The port is ours as long as we have it bound, so that no two
    runs meet."""

    def __init__(self):
        self.reserved = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.reserved.bind(("127.0.0.1", 0))
        self.group = f"239.77.0.1:{self.reserved.getsockname()[1]}"


class Output:
    """Where a node's output goes; with several nodes, whole lines with their number."""
    lock = threading.Lock()

    def __init__(self, prefix=b""):
        self.prefix, self.rest = prefix, {1: b"", 2: b""}

    def __call__(self, fd, data):
        if self.prefix:
            *lines, self.rest[fd] = (self.rest[fd] + data).split(b"\n")
            data = b"".join(self.prefix + line + b"\n" for line in lines)
        self.write(fd, data)

    def finish(self):
        for fd, rest in self.rest.items():
            if rest:
                self.write(fd, self.prefix + rest + b"\n")
                self.rest[fd] = b""

    def write(self, fd, data):
        stream = (sys.stdout if fd == 1 else sys.stderr).buffer
        with self.lock:
            stream.write(data)
            stream.flush()


class Node:
    """One guest's way through a run."""

    def __init__(self, session, number):
        self.session, self.number, self.boot = session, number, 1
        self.guest, self.status, self.problem = None, None, None
        self.output = Output(b"[%d] " % number if session.options.nodes > 1 else b"")
        self.console = f"{session.directory.path}/console-{number}.log"

    def environment(self):
        options = self.session.options
        addresses = [f"10.77.0.{n + 1}" for n in range(options.nodes)]
        own = addresses.pop(self.number - 1)
        env = {"VM_NODE": self.number, "VM_NODES": options.nodes, "VM_ADDRESS": own,
               "VM_PEERS": " ".join(addresses), "VM_BOOT": self.boot, "VM_NOW": time.time(),
               "PYTHONDONTWRITEBYTECODE": 1}
        return {k: str(v) for k, v in {**self.session.environment, **env}.items()}

    def start(self, console):
        s = self.session
        arguments = s.image, s.shares, console, s.network.group
        if not s.options.boot:
            try:
                self.guest = warm.resume(s.image, s.installed or s.saved, *arguments[1:])
                self.setup(s.options.install and not s.installed)
                return
            except guest.Gone as why:
                if s.ending:
                    raise
                say(f"the saved guest can't be resumed, booting one: {why}")
                self.guest.close()
        disk = f"format=raw,snapshot=on,file={guest.quote(s.image)}/root.ext4"
        self.guest = warm.boot(s.image, disk, *arguments[1:])
        self.setup(s.options.install)

    def setup(self, install):
        begin = time.monotonic()
        env = {**self.environment(), "VM_PHASE": "run", "VM_INSTALL": str(int(install)),
               "VM_CPUS": str(self.session.options.cpus),
               "VM_START": str(int(self.session.options.start and self.boot == 1))}
        warm.script(self.guest, "setup", env)
        if self.session.options.verbose:
            say(f"set up in {time.monotonic() - begin:.2f} s")

    def script(self):
        """Runs the script, again after each reboot that is expected; its status."""
        options, deadline = self.session.options, time.monotonic() + self.session.options.timeout
        while True:
            try:
                return self.guest.run(self.session.command, self.environment(), self.output,
                                      deadline - time.monotonic(), cwd="/src")
            except guest.Rebooted:
                if self.boot > options.reboots:
                    raise Failure("the guest has rebooted") from None
                self.boot += 1
                self.setup(False)
            except guest.Expired:
                say(f"timed out after {options.timeout} s")
                self.guest.interrupt(signal.SIGKILL, self.output, 10)
                return 124

    def run(self):
        try:
            self.start(f"file,path={guest.quote(self.console)}")
            self.session.all_ready.wait()
            self.status = self.script()
        except Failure as problem:
            self.problem = str(problem)
            self.session.all_ready.abort()
        except threading.BrokenBarrierError:
            pass  # another node has a problem, and says so
        finally:
            self.output.finish()
            if self.guest and (self.problem or self.status) and not self.session.ending:
                self.keep_log()
            if self.guest:
                self.guest.close()
            self.session.done(self)

    def keep_log(self):
        """The console, and the journal if the guest still gives it."""
        journal = []
        with contextlib.suppress(Failure, guest.Expired, guest.Rebooted):
            self.guest.run(["journalctl", "--no-pager", "-b", "-o", "short-monotonic"], {},
                           lambda _, data: journal.append(data), 30)
        os.makedirs(LOGS, exist_ok=True)
        path = f"{LOGS}/{self.session.name}-{os.getpid()}-{self.number}.log"
        with open(path, "wb") as f:
            with contextlib.suppress(FileNotFoundError):
                f.write(content(self.console))
            f.write(b"".join(journal))
        say(f"console and journal of guest {self.number}: {os.path.relpath(path)}")


class Session:
    """`options`: nodes, cpus, timeout, reboots, start, boot, verbose, script, args, build, variant."""

    def __init__(self, options, image, saved):
        self.options, self.image, self.saved = options, image, saved
        self.directory, self.network = RunDirectory(), Network()
        self.finished, self.changed = [], threading.Condition()
        self.all_ready = threading.Barrier(options.nodes)
        self.nodes, self.threads, self.ending = [], [], False
        self.name = os.path.basename(options.script) if options.script else "shell"
        try:
            build = os.path.realpath(options.build)
            os.makedirs(build, exist_ok=True)
            self.shares = {"src": TOP, "build": build, "run": self.directory.path}
            self.environment = {k: os.environ[k] for k in PASSED if k in os.environ}
            self.environment["SG_BUILD"] = f"/build/{os.path.basename(build)}"
            self.environment["VARIANT"] = options.variant
            fault = os.path.realpath(os.environ.get("SG_FAULT_BUILD", f"{TOP}/build/debug"))
            if fault.startswith(TOP + "/"):
                self.environment["SG_FAULT_BUILD"] = "/src" + fault[len(TOP):]
            self.installed = None
            if options.install:
                tar = f"{self.directory.path}/stage.tar"
                with stage.ensure(options.variant, options.prepared) as f, open(tar, "wb") as copy:
                    shutil.copyfileobj(f, copy)
                self.installed = warm.installed(image, saved, options.variant, tar)
            self.command = self.guest_command() if options.script else None
        except BaseException:
            self.close()
            raise

    def guest_command(self):
        """The script as the guest sees it: below /src, or a copy; or a command of the guest."""
        script, args = self.options.script, self.options.args
        if "/" not in script and not os.path.exists(script):
            return [script, *args]
        path = os.path.realpath(script)
        if not os.path.isfile(path):
            raise Failure(f"{script}: no such file")
        if path.startswith(TOP + "/"):
            return ["/src" + path[len(TOP):], *args]
        os.mkdir(f"{self.directory.path}/script")
        os.chmod(shutil.copy(path, f"{self.directory.path}/script/"), 0o755)
        return [f"/vm/script/{os.path.basename(path)}", *args]

    def done(self, node):
        with self.changed:
            self.finished.append(node)
            self.changed.notify()

    def run(self):
        self.nodes = [Node(self, n + 1) for n in range(self.options.nodes)]
        for node in self.nodes:
            self.threads.append(threading.Thread(target=node.run, daemon=True))
            self.threads[-1].start()
        with self.changed:
            while len(self.finished) < len(self.nodes):
                self.changed.wait()
        for node in self.finished:
            if node.problem:
                raise Failure(node.problem)
        return next((node.status for node in self.finished if node.status), 0)

    def shell(self):
        """A root shell on the console, which is our terminal."""
        node = Node(self, 1)
        self.nodes = [node]
        node.start("stdio,signal=off")
        env = {**node.environment(), "HOME": "/root"}
        size = os.get_terminal_size() if sys.stdin.isatty() else os.terminal_size((80, 24))
        command = SHELL + [f"--setenv={k}={v}" for k, v in env.items()]
        start = f"stty rows {size.lines} columns {size.columns}; exec bash -l"
        return node.guest.run([*command, "/bin/bash", "-c", start], {}, Output(), 7 * 86400)

    def close(self):
        self.ending = True
        self.all_ready.abort()
        for node in self.nodes:
            if node.guest:
                node.guest.kill()
        for thread in self.threads:
            thread.join(CLOSE_SECONDS)  # what still starts a guest takes it along, see guest.py
        self.directory.close()
