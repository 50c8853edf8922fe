# SPDX-License-Identifier: LGPL-2.1-or-later
"""A siege: users who want the governor for themselves, and a fifth one who only wants to be served.

An attack (attackers.py) is a class: what its user does again and again, in a process of their own. The
fifth user submits, waits, lists and reads once a second; that takes so long alone, and so long under
siege, and must always succeed. What CPU time the attackers' own processes get is the kernel's to divide:
they are nice, so that what is measured is what they make the governor do. How busy the machine is besides is
told by a command that asks the governor for nothing: as much longer as that takes, each party to a request may.
"""
import contextlib
import ctypes
import json
import math
import os
import signal
import socket
import statistics
import sys
import time
import traceback

from expect import has, same
from harness import IN_GUEST, INSTRUMENTED, PATIENCE, comm, parent, until
from pathdriver import RawBus, User, text

CONFIG = """[Metrics]
Listen={port}
[Queue]
MaxJobs=40
KillGrace=300ms
[Logs]
MaxSize=1M
Keep=1
"""
ATTACKERS = range(61001, 61005)
FIFTH = 61005
NAMELESS = 62001  # in no file
TIMED = not (INSTRUMENTED or IN_GUEST)  # else requests only have to succeed, in time for anything
SECONDS = int(os.environ.get("SG_SIEGE_SECONDS", "20" if TIMED else "10"))
BENCH = os.environ.get("SG_SIEGE_BENCH") == "1"
SLOWNESS = 10 if IN_GUEST else 1  # of a CPU that is emulated: attackers pause so many times longer there
TIMES = 5  # as long as without attackers
UNFELT = 0.5  # seconds: what is shorter isn't too long, as a machine that does other things can't tell it from noise
OTHERS = {"scrape": 2, "report": 5, "progress": 5}  # seconds: what goes by turns and rhythms, not by one request
NOTHING = "nothing"  # is asked for
PARTIES = 3  # schedctl, the daemon and its writer: each of them waits for a CPU on a busy machine, and who asks for nothing does so once
ALONE = 5  # rounds
RSS_MAX = 64 << 20
FAULTS = 3  # for which a client is dropped, each of which is said of a user once a minute
PR_SET_PDEATHSIG = 1
NOTIFY = 'use Socket; socket(S, AF_UNIX, SOCK_DGRAM, 0) && connect(S, sockaddr_un($ENV{NOTIFY_SOCKET})) or die $!; '
# Says once how far it is, as libschedgov does, without waiting for room; and goes on until somebody opens the FIFO.
REPORT = NOTIFY + r'send(S, "SCHEDGOV_EVAL=0.5\nSTEP=30\nTOTAL_STEPS=120\n", 0x40) or die $!; open(F, "<", shift)'
STEPS = "i=0; while :; do i=$((i+1)); echo step $i/1000000 loss=0.5; sleep .1; done"


def become(uid):
    os.setgroups([])
    os.setgid(uid)
    os.setuid(uid)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Attack:
    """`act` is called until the end. Whatever it is refused is fine, as is a connection that is cut off."""
    PAUSE = 0.02  # seconds between two acts
    UIDS = ()  # who does it; else one of the four

    def __init__(self, g, uid, fifth):
        self.g, self.uid, self.fifth = g, uid, fifth
        self.pid, self.bus = 0, None

    def prepare(self):
        """As root, before it begins."""

    def begin(self):
        """As its user, once."""

    def act(self):
        """As its user."""

    def check(self):
        """As root, after it: what it may not have reached."""

    def lift(self):
        """As root, at the end: what prepare() has made goes."""

    def start(self):
        self.prepare()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            self.live()

    def live(self):
        try:
            os.nice(10)
            become(self.uid)
            while not self.patiently(self.begin):
                time.sleep(self.PAUSE)
            while True:
                self.patiently(self.act)
                time.sleep(self.PAUSE * SLOWNESS)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)

    def patiently(self, what):
        """Whether it was granted."""
        try:
            what()
            return True
        except (OSError, AssertionError):
            self.hang_up()
            return False

    def alive(self):
        return os.waitpid(self.pid, os.WNOHANG)[0] == 0

    def stop(self):
        if not self.pid:
            return
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        self.pid = 0
        self.lift()

    # --- what several of them do ---

    def hang_up(self):
        if self.bus:
            self.bus.close()
        self.bus = None

    def ask(self, member, signature, body):
        """A call on a connection that is kept; the answer, b"" for a refusal."""
        if not self.bus:
            self.bus = RawBus(self.g.socket)
        self.bus.call(member, signature, body)
        granted, answer = self.bus.reply()
        if granted is None:
            self.hang_up()
        return answer if granted else b""


def runtime_dir(g):
    return os.path.dirname(g.socket)


def daemon_pid(g):
    return g.pid if IN_GUEST else g.daemon.pid


def lives(g):
    """The daemon and its writer: where the latter dies, the former executes itself anew."""
    return {pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
            if pid == daemon_pid(g) or (parent(pid) == daemon_pid(g) and comm(pid) == "schedgov-store")}


def peak_rss(g):
    return next(int(line.split()[1]) << 10 for line in text(f"/proc/{daemon_pid(g)}/status").splitlines()
                if line.startswith("VmHWM:"))


def descriptors(g):
    return len(os.listdir(f"/proc/{daemon_pid(g)}/fd"))


def scrape(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as s:
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        data = b""
        while piece := s.recv(65536):
            data += piece
    return data


class Fifth:
    """One whose steady job says ten times a second how far it is."""

    def __init__(self, g):
        self.g, self.user, self.times, self.step = g, User(g, FIFTH), {}, 0
        self.fifo = f"{g.work}/fifth"
        os.mkfifo(self.fifo)
        os.chmod(self.fifo, 0o644)
        self.steady = self.user.shell(STEPS)
        until(self.goes_on, "a step of the steady job")

    def ctl(self, *args):
        return self.user.ctl(*args, timeout=PATIENCE).stdout

    def document(self, n):
        return json.loads(self.ctl("status", str(n), "--json"))

    def reported(self, n):
        progress = self.document(n)["progress"]
        return progress and progress["step"] == 30

    def let_go(self):
        """Whether a job waited for that."""
        try:
            os.close(os.open(self.fifo, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:  # nobody has opened it
            return False
        return True

    def goes_on(self):
        """Whether its steady job is seen to be farther than before."""
        progress = self.document(self.steady)["progress"]
        before, self.step = self.step, progress["step"] if progress and progress["step"] else self.step
        return self.step > before

    def timed(self, kind, call, *args):
        begun = time.monotonic()
        result = call(*args)
        self.times.setdefault(kind, []).append(time.monotonic() - begun)
        return result

    def round(self):
        """What they want, once. Each failure is an exception."""
        self.timed(NOTHING, self.ctl, "--version")
        n = int(self.timed("submit", self.ctl, "submit", "--", "perl", "-e", REPORT, self.fifo))
        self.timed("report", until, lambda: self.reported(n), f"the report of job {n}")
        has(self.timed("list", self.ctl, "list"), str(n), "jobs that the fifth user is shown")
        until(self.let_go, f"job {n} at its FIFO")
        self.timed("wait", self.ctl, "wait", str(n))
        same(self.timed("status", self.document, n)["state"], "exited", "state of the fifth user's job")
        page = self.timed("scrape", scrape, self.g.port)
        assert page.startswith(b"HTTP/1.1 200"), page[:100]
        self.timed("progress", until, self.goes_on, "a step of the steady job")

    def rounds(self, enough):
        """One each second until then."""
        while not enough():
            begun = time.monotonic()
            self.round()
            time.sleep(max(0, begun + 1 - time.monotonic()))

    def take_times(self):
        times, self.times = self.times, {}
        return times


def allowed(kind, alone, besieged):
    """How long that may take under siege."""
    if BENCH:
        return OTHERS.get(kind, UNFELT)
    busier = PARTIES * max(0, max(besieged[NOTHING]) - max(alone[NOTHING]))
    return OTHERS.get(kind, max(TIMES * max(alone[kind]), UNFELT)) + busier


def compare(alone, besieged):
    """Prints both; what took too long."""
    too_long = []
    for kind, times in besieged.items():
        limit = math.inf if kind == NOTHING else allowed(kind, alone, besieged)
        print(f"# {kind:8}  alone {statistics.median(alone[kind]) * 1000:5.0f} ms, at most {max(alone[kind]) * 1000:5.0f}"
              f"   besieged {statistics.median(times) * 1000:5.0f} ms, at most {max(times) * 1000:5.0f}"
              f"  of {limit * 1000:.0f} in {len(times)} rounds", flush=True)
        if max(times) > limit:
            too_long.append(f"{kind}: {max(times):.2f} s, and {max(alone[kind]):.2f} s alone")
    return too_long


def tell_little(g, uids, seconds):
    """However often they were dropped, the log says it now and then."""
    lines = g.complaints().count("dropping a client of uid")
    print(f"# that a client was dropped is said {lines} times")
    assert lines <= FAULTS * len(uids) * (2 + seconds // 60), f"{lines} lines"


def free_all(g, uids):
    """What frees room always works: each of them takes back all that they have."""
    for uid in uids:
        begun = time.monotonic()
        g.ctl("cancel", "--all", user=uid)  # and nobody asks for a name
        print(f"# cancel --all of {uid} took {time.monotonic() - begun:.2f} s")


def nothing_left(g, before):
    until(lambda: not json.loads(g.ctl("list", "--json").stdout)["jobs"], "end of all jobs")
    until(lambda: not g.groups(), "end of all groups")
    until(lambda: not [n for n in os.listdir(f"{g.state}/jobs") if n[0] != "."], "end of all attempts")
    until(lambda: not os.listdir(f"{runtime_dir(g)}/allocation"), "end of all allocations")
    until(lambda: descriptors(g) <= before, f"end of descriptors: {descriptors(g)}, {before} before")


def siege(g, kinds, seconds=SECONDS):
    """These attacks at once, shared out among four users, for so long."""
    fifth = Fifth(g)
    rounds = iter(range(ALONE))
    fifth.rounds(lambda: next(rounds, None) is None)
    alone, alive, before = fifth.take_times(), lives(g), descriptors(g)
    with open(f"/proc/{daemon_pid(g)}/clear_refs", "w", encoding="ascii") as f:
        f.write("5")  # VmHWM begins anew
    attacks = [kind(g, uid, fifth) for i, kind in enumerate(kinds)
               for uid in kind.UIDS or [ATTACKERS[i % len(ATTACKERS)]]]
    try:
        for attack in attacks:
            attack.start()
        end = time.monotonic() + seconds
        fifth.rounds(lambda: time.monotonic() > end)
        too_long = compare(alone, fifth.take_times())
        rss = peak_rss(g)
        print(f"# the daemon had {rss >> 20} MiB at most", flush=True)
        assert all(attack.alive() for attack in attacks), "an attack has ended by itself"
        for attack in attacks:
            attack.check()
    finally:
        for attack in attacks:
            attack.stop()
    assert not (TIMED and too_long), "; ".join(too_long)
    assert lives(g) == alive, "the daemon is another one"
    assert INSTRUMENTED or rss <= RSS_MAX, f"{rss >> 20} MiB"
    uids = sorted({attack.uid for attack in attacks})
    tell_little(g, uids, seconds)
    free_all(g, uids)
    fifth.round()
    fifth.ctl("cancel", str(fifth.steady))
    nothing_left(g, before)
