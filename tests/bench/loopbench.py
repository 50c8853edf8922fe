# SPDX-License-Identifier: LGPL-2.1-or-later
"""What bench-loop and bench-loop-vm share: 50 jobs that all want the CPU, governed by `growth`, and
how long it takes from a job's start, or its end, to changed weights in the kernel.
"""
import contextlib
import datetime
import json
import os
import select
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "integration"))

from harness import until  # noqa: E402

JOBS = 50
SETTLED_SEC = .5
USUAL = 100  # the kernel's weight, too
WAITING_MAX = 100  # a hundredth of the largest weight; these are written now and then only
CONFIG = {"etc/schedgov/schedgov.conf": "[Queue]\nMaxJobs=200\n",
          "etc/schedgov/policy.d/default.policy": "[Class]\nName=default\n[Policy]\nShare=growth\n"}
TRAIN = ("i=0; while :; do i=$((i+1)); [ $((i % 20000)) = 0 ] && "
         "echo \"step $((i / 20000))/2000 loss=0.$i\"; done")


class Weights:
    """The weights of all jobs' groups, read through open files."""

    def __init__(self, first):
        """first: the group of job 1."""
        self.files = {}
        self.pattern = first.replace("schedgov-1-", "schedgov-{}-")
        self.name = "cpu.weight" if os.path.exists(f"{first}/cpu.weight") else "cpu.shares"

    def open(self, n):
        try:
            self.files[n] = os.open(f"{self.pattern.format(n)}/{self.name}",
                                    os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        return True

    def read(self, n):
        try:
            return int(os.pread(self.files[n], 32, 0))
        except OSError:  # its group has gone
            return None

    def as_read(self, weight):
        return weight if self.name == "cpu.weight" else weight * 1024 // 100

    def all(self):
        return {n: self.read(n) for n in self.files}

    def close(self, n):
        os.close(self.files.pop(n))


def see_at_once():
    """Who looks doesn't wait for a CPU from now on, with what else wants one: that would be measured as
    if it were the governor's doing, which has changed the weights long since. Its children do."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except PermissionError as error:
        print(f"times are those at which this program got a CPU: {error}", flush=True)


def watch(probe, what, seconds=60):
    """When it came true, looking twice in a millisecond."""
    end = time.monotonic() + seconds
    while not probe():
        if time.monotonic() > end:
            raise TimeoutError(what)
        time.sleep(.0005)
    return time.time()


def seconds(text):
    """Since the epoch, of a time as schedctl prints it."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Loop:
    """The jobs, of a governor that has had none before. `group(n)` is a job's group with its weight,
    None while there is none. `watched(pid)` is a context around each end, from the kill to other weights."""

    def __init__(self, g, group, patience=120, watched=contextlib.nullcontext):
        self.g, self.watched = g, watched
        see_at_once()
        g.submit("--array", f"1-{JOBS}", "--", "sh", "-c", TRAIN)
        until(lambda: json.loads(g.ctl("status", "--json").stdout)["jobs"]["running"] == JOBS,
              f"{JOBS} jobs", patience=patience)
        self.last = JOBS
        self.weights = Weights(until(lambda: group(1), "group of job 1"))
        for n in range(1, JOBS + 1):
            assert self.weights.open(n), f"weight file of job {n}, to be opened"
        until(lambda: len(set(self.weights.all().values())) > 1, "a first decision",
              patience=patience)

    def start_one(self, meanwhile=lambda: None):
        """Seconds from the start of one more job to the weight that was decided first, 0 if it had it before;
        None if that is what every group begins with, or it was decided otherwise again before it could
        be written. `meanwhile` is called when its group is there."""
        self.last = n = self.last + 1
        submission = self.g.popen("submit", "--", "sh", "-c", TRAIN)
        watch(lambda: self.weights.open(n), f"group of job {n}")
        meanwhile()
        seen = []  # when it became what

        def settled():
            weight, now = self.weights.read(n), time.time()
            if not seen or weight != seen[-1][1]:
                seen.append((now, weight))
            return now > seen[-1][0] + SETTLED_SEC
        while True:
            watch(settled, f"weight of job {n} that stays")
            started = self.g.job(n)["times"]["started"]
            if started:
                break
        submission.wait()
        decided = self.decided_first(n)
        if decided == USUAL:
            return None
        now = self.weights.as_read(decided)
        when = next((when for when, weight in seen if weight == now), None)
        return when and max(0, when - seconds(started))

    def decided_first(self, n):
        for step in map(json.loads, self.g.ctl("explain", "--log", "--json", str(n)).stdout.splitlines()):
            for job in step["jobs"]:
                if job["id"].partition("@")[0] == str(n):
                    return job["out"]["weight"]
        raise AssertionError(f"nothing was decided on job {n}")

    def end_one(self):
        """Seconds from killing the job that has its turn to its death, and to other weights of the
        others; None if theirs were right already, but for those of who waits."""
        before = self.weights.all()
        first = max((n for n in before if before[n] is not None), key=lambda n: before[n])
        pid = self.g.job(first)["pid"]
        self.weights.close(first)
        before = self.weights.all()
        dead = select.poll()
        pidfd = os.pidfd_open(pid)
        with self.watched(pid):
            try:
                dead.register(pidfd, select.POLLIN)
                begin = time.time()
                os.kill(pid, signal.SIGKILL)
                dead.poll()
                died = time.time()
            finally:
                os.close(pidfd)
            changed = watch(lambda: self.weights.all() != before, "other weights")
        return died - begin, changed - begin if self.decided_anything(begin) else None

    def decided_anything(self, since):
        """Whether the first step after an end gave somebody more than what those have who wait; no,
        if there was another step before it."""
        log = self.g.ctl("explain", "--log", "--json", "-n", "20").stdout.splitlines()
        for step in map(json.loads, log):
            if "end" in step["causes"] and seconds(step["time"]) > since:
                return any(j["out"]["weight"] > WAITING_MAX for j in step["jobs"])
        return False


def figures(name, times):
    """Prints and returns median and p99, in millitimes, without the Nones: nothing to change."""
    ordered = sorted(s for s in times if s is not None)
    p50, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * q))] * 1e3 for q in (.5, .99))
    print(f"{name:34} median {p50:6.2f} ms, p99 {p99:6.2f} ms, {len(ordered)} times"
          f"{f', {len(times) - len(ordered)} with nothing to change' if None in times else ''}",
          flush=True)
    return p50, p99
