# SPDX-License-Identifier: LGPL-2.1-or-later
"""GPUs for tests: a scripted driver library (tests/fakes/nvml), a driver's files below a root of its own, device nodes
that are real ones of a major that nothing drives (who may open them gets ENXIO, who may not EPERM), and jobs that say
what they could open, what they were told and what memory they take.
"""
import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import threading
import time

from harness import BUILD, Governor
from pathdriver import RawBus, pack_string

GIB = 1 << 30
MAJORS = {"nvidia-frontend": 195, "nvidia-uvm": 508, "nvidia-caps": 511}
SHARED = {"nvidiactl": (195, 255), "nvidia-modeset": (195, 254), "nvidia-uvm": (508, 0), "nvidia-uvm-tools": (508, 1)}
VARIANTS = ("440", "470", "510", "535.54", "535.98", "current")

# What a job does: says what it sees, takes memory as it was told, goes on for a while, says when it ends. It is the
# board that has its processes on the GPUs, by what it wrote into `use`.
JOB = r"""
import errno, json, os, sys, time
top, seconds, take = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
def opens(name):
    try:
        os.close(os.open(f"{top}/driver/dev/{name}", os.O_RDWR))
        return "open"
    except OSError as e:
        return errno.errorcode[e.errno]
def say(**what):
    line = json.dumps({"job": int(os.environ["SCHEDGOV_JOB_ID"].partition("@")[0]), "pid": os.getpid(),
                       "attempt": int(os.environ["SCHEDGOV_ATTEMPT"]), "at": time.monotonic(), **what}) + "\n"
    fd = os.open(f"{top}/ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(fd, line.encode())
    os.close(fd)
told = os.environ.get("CUDA_VISIBLE_DEVICES")
say(begin=True, told=told, nodes={n: opens(n) for n in sorted(os.listdir(f"{top}/driver/dev"))},
    env={k: os.environ[k] for k in ("CUDA_DEVICE_ORDER", "SCHEDGOV_GPUS", "XLA_PYTHON_CLIENT_PREALLOCATE",
                                    "TF_FORCE_GPU_ALLOW_GROWTH") if k in os.environ})
if take > 0:
    with open(f"{top}/use/.{os.getpid()}", "w") as f:
        f.write("".join(f"{u} {take}\n" for u in told.split(",") if u))
    os.rename(f"{top}/use/.{os.getpid()}", f"{top}/use/{os.getpid()}")
time.sleep(seconds)
say(begin=False)
"""


def uuid(i):
    return f"GPU-{i:08x}-1111-2222-3333-444444444444"


class Board:
    """The script of the fake, and what it says of processes: those that are in `use`, as long as they live."""

    def __init__(self, top, count=8, memory=80, names=None):
        self.top, self.script, self.root = top, f"{top}/board", f"{top}/driver"
        self.lock = threading.Lock()
        self.driver = {"Version": "550.54.15", "Cuda": "12.4", "Init": "ok"}
        # The minor isn't the index, and the order of bus ids is that of the index.
        self.gpus = [{"Uuid": uuid(i), "Name": (names or {}).get(i, "A100-SXM4-80GB"), "Memory": str(memory * GIB),
                      "Reserved": str(GIB), "Minor": str(count - 1 - i), "Bus": f"0000:{i + 16:02x}:00.0",
                      "Numa": str(2 * i // count), "Utilization": "50", "Temperature": "40",
                      "Power": "60,400,100,400,400"} for i in range(count)]
        self.foreign = []  # (gpu, pid, bytes)
        self.stopping, self.thread = False, None
        os.makedirs(f"{top}/use", exist_ok=True)
        os.chmod(f"{top}/use", 0o1777)
        with open(f"{top}/ledger", "w", encoding="ascii"):
            os.chmod(f"{top}/ledger", 0o666)
        self.make_root()
        self.write()

    def make_root(self):
        os.makedirs(f"{self.root}/proc/driver", exist_ok=True)
        os.makedirs(f"{self.root}/dev", exist_ok=True)
        self.say_majors(MAJORS)
        for name, (major, minor) in {**SHARED, **{f"nvidia{i}": (195, i) for i in range(len(self.gpus))}}.items():
            os.mknod(f"{self.root}/dev/{name}", stat.S_IFCHR | 0o666, os.makedev(major, minor))
            os.chmod(f"{self.root}/dev/{name}", 0o666)

    def say_majors(self, majors):
        """None: no driver is loaded."""
        with open("/proc/devices", encoding="ascii") as f:
            text = f.read()
        ours = "".join(f"{number:3} {name}\n" for name, number in (majors or {}).items())
        with open(f"{self.root}/proc/devices.new", "w", encoding="ascii") as f:
            f.write(text.replace("\nBlock devices", f"{ours}\nBlock devices"))
        os.rename(f"{self.root}/proc/devices.new", f"{self.root}/proc/devices")

    def processes(self):
        """[(UUID, pid, bytes)] of those that live."""
        found = []
        for name in os.listdir(f"{self.top}/use"):
            if not name.isdigit():
                continue
            path = f"{self.top}/use/{name}"
            if not os.path.exists(f"/proc/{name}"):
                os.unlink(path)
                continue
            with open(path, encoding="ascii") as f:
                found += [(line.split()[0], int(name), int(line.split()[1])) for line in f]
        return found + [(uuid(i), pid, size) for i, pid, size in self.foreign]

    def write(self):
        with self.lock:
            processes = self.processes()
            lines = ["[driver]", *(f"{k}={v}" for k, v in self.driver.items())]
            for i, gpu in enumerate(self.gpus):
                lines += [f"[gpu {i}]", *(f"{k}={v}" for k, v in gpu.items())]
                lines += [f"Process={pid} {size}" for u, pid, size in processes if u == gpu["Uuid"]]
            text = "\n".join(lines) + "\n"
            if text != getattr(self, "written", None):
                with open(f"{self.script}.new", "w", encoding="ascii") as f:
                    f.write(text)
                os.rename(f"{self.script}.new", self.script)
                self.written = text
        return processes

    def run(self, watch=None):
        """Follows what jobs use until close(); watch() is given each list of processes."""
        def follow():
            while not self.stopping:
                processes = self.write()
                if watch:
                    watch(processes)
                time.sleep(.05)
        self.thread = threading.Thread(target=follow)
        self.thread.start()

    def close(self):
        self.stopping = True
        if self.thread:
            self.thread.join()


def library(variant="current"):
    return f"{BUILD}/tests/fakes/nvml/{variant}/libnvidia-ml.so.1"


class GpuGovernor(Governor):
    """A governor with a board."""

    def __init__(self, variant="current", settings="", policies=None, start=True, timeout="1s", **board):
        super().__init__(start=False)
        self.board = Board(self.top, **board)
        self.env["SCHEDGOV_FAKE_GPU"] = self.board.script
        self.settings, self.variant, self.timeout = settings, variant, timeout
        self.say()
        for name, text in (policies or {}).items():
            self.configure(f"etc/schedgov/policy.d/{name}.policy", text)
        if start:
            try:
                self.start()
            except BaseException:
                self.close()
                raise

    def say(self):
        self.configure("etc/schedgov/schedgov.conf",
                       f"[Queue]\nKillGrace=300ms\nMaxJobs=500\n[Gpu]\nLibrary={library(self.variant)}\n"
                       f"DriverRoot={self.board.root}\nTimeout={self.timeout}\n{self.settings}")

    def gpus(self):
        return json.loads(self.ctl("gpus", "--json").stdout)

    def gpu_job(self, *options, seconds=1000, take=0, **kwargs):
        """A job that says what it sees."""
        return self.submit(*options, "--", sys.executable, "-SEc", JOB, self.top, str(seconds), str(take), **kwargs)

    def ledger(self):
        with open(f"{self.top}/ledger", encoding="utf-8") as f:
            return [json.loads(line) for line in f]

    def begun(self, n):
        return next((e for e in self.ledger() if e["job"] == n and e["begin"]), None)

    def gpu_worker(self):
        return self.child_pid("schedgov-gpu")

    def __exit__(self, kind, *rest):
        if kind:
            print("".join(f"# {line}\n" for line in self.complaints().splitlines()[-40:]), end="")
        self.close()

    def close(self):
        self.board.close()
        super().close()


ECHO = "import os\nwhile (b := os.read(0, 64)): os.write(1, b)"


def percentile(values, part):
    return sorted(values)[min(len(values) - 1, int(len(values) * part))] if values else 0


class Pings:
    """How late the daemon's loop is: it is asked something small a hundred times a second, and so is a process that does
    nothing else, as the machine may be busy."""

    def __init__(self, g):
        self.g, self.late, self.usual, self.stopping = g, [], [], False
        self.threads = [threading.Thread(target=f) for f in (self.ask_daemon, self.ask_nobody)]

    def ask_daemon(self):
        with contextlib.closing(RawBus(self.g.socket)) as bus:
            while not self.stopping:
                begin = time.monotonic()
                bus.call("Explain", "s", pack_string(b"0"))
                answered, _ = bus.reply()
                if answered is None:
                    break
                self.late.append(time.monotonic() - begin)
                time.sleep(.01)

    def ask_nobody(self):
        ours, theirs = socket.socketpair()
        with ours, subprocess.Popen([sys.executable, "-SEc", ECHO], stdin=theirs, stdout=theirs) as echo:
            theirs.close()
            while not self.stopping:
                begin = time.monotonic()
                ours.sendall(b"x")
                ours.recv(64)
                self.usual.append(time.monotonic() - begin)
                time.sleep(.01)
            ours.close()
            echo.kill()

    def __enter__(self):
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *exc):
        self.stopping = True
        for t in self.threads:
            t.join()

    def worst(self):
        """Of a hundred the worst but one, of the daemon, and of the machine."""
        return percentile(self.late, .99), percentile(self.usual, .99)
