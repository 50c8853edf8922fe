# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was asked for and what was answered, held against the governor's history and the ledger that
the jobs wrote (tests/integration/ledger.py).

Every request has a name of its own, which its jobs bear. So a job that nobody was told of can still
be held to what was asked: there may be one of it and not two.
"""
import collections
import os
import sys
import threading

import ledger
from harness import FINAL, until
from pathdriver import text


class Request:
    """One submission: `count` jobs that bear `name` and end in one of `states`."""

    def __init__(self, name, code=0, states=("exited",), count=1, repeat=False, on_end=False):
        self.name, self.code, self.states, self.count = name, code, set(states), count
        self.repeat = repeat    # it may run more than once, under different attempts
        self.on_end = on_end    # it leaves a line in the file of --on-end
        self.numbers = None     # as acknowledged
        self.stored = True      # False: refused, so that there must be none; None: nobody knows
        self.passed_on = None   # by `schedctl run`: its status


class Account:
    """Shared by all threads; audited at quiet points, when nothing of the mix lives."""

    def __init__(self, g):
        self.g, self.lock = g, threading.Lock()
        self.book, self.on_end = ledger.Ledger(g), f"{g.work}/on-end"
        for path in (self.book.path, self.on_end):
            with open(path, "a", encoding="ascii") as f:
                f.truncate(0)
            os.chmod(path, 0o666)
        self.requests, self.wrong = [], []
        self.counts = collections.Counter()
        self.settled, self.settled_runs = 0, 0

    def add(self, request):
        with self.lock:
            self.requests.append(request)
            self.counts["jobs"] += len(request.numbers or ()) or request.count

    def refuse(self, request=None):
        """Something was refused, as it should be: of the request nothing may be found."""
        with self.lock:
            self.counts["refused"] += 1
            if request:
                self.requests.append(request)

    def complain(self, what):
        with self.lock:
            self.found("odd", [what])

    def audit(self, lasting):
        """Of all requests since the last time; `lasting` are the jobs that go on. Afterwards the
        governor may forget them."""
        jobs = {n: j for n, j in self.g.jobs().items() if n > self.settled and n not in lasting}
        ran = self.book.attempts()
        before = sum(len(times) for n, times in ran.items() if n <= self.settled)
        if before != self.settled_runs:
            self.found("doubled", [f"{before - self.settled_runs} attempts ran after their jobs were over"])
        named = collections.defaultdict(list)
        for n, job in jobs.items():
            named[job["name"]].append(n)
        fresh = {n: times for n, times in ran.items() if n > self.settled}
        for request in self.requests:
            self.check(request, named.pop(request.name, []), jobs, fresh)
        self.found("doubled", [f"jobs {ids} are named {name}, which nobody asked for"
                               for name, ids in named.items()])
        self.check_ends(jobs)
        self.counts["ended"] += len(jobs)
        self.counts["attempts"] += sum(map(len, fresh.values()))
        self.settled = max([self.settled, *jobs])
        self.settled_runs = sum(len(t) for n, t in ran.items() if n <= self.settled)
        self.requests = []

    def found(self, kind, complaints):
        self.counts[kind] += len(complaints)
        self.wrong += complaints
        for what in complaints:
            print(f"soak: {kind}: {what}", file=sys.stderr, flush=True)

    def check(self, request, ids, jobs, ran):
        acknowledged = request.numbers or []
        self.found("lost", [f"{n} ({request.name}) was acknowledged and is unknown"
                            for n in acknowledged if n not in ids])
        if request.passed_on is not None:  # after a lost connection it asks anew: what never ran is void
            ids = [n for n in ids if ran.get(n) or jobs[n]["state"] != "killed"]
        wanted = (set(acknowledged) if acknowledged else set(ids[:request.count])) \
            if request.stored is not False else set()
        self.found("doubled", [f"{n} ({request.name}) is more than was asked for"
                               for n in ids if n not in wanted])
        if request.stored and not acknowledged and len(ids) < request.count:
            self.found("lost", [f"{request.name} was acknowledged and is unknown"])
        for n in ids:
            self.check_end(request, n, jobs[n], ran.get(n, []))

    def check_end(self, request, n, job, times):
        what = f"{n} ({request.name}) {job['state']} ({job['reason']}), attempt {job['attempt']}, ran {times}"
        if request.passed_on is not None:
            self.check_foreground(request, what, job, times)
            return
        unsure = request.stored is None
        wrong = ledger.audit({n: job}, {n: times}, [n], {n: job["exit_code"] if unsure else request.code},
                             [n] if request.repeat else [])
        twice = len(set(times)) < len(times) or (len(times) > 1 and not request.repeat)
        self.found("doubled" if twice else "lost" if job["state"] == "lost" else "odd", wrong)
        if not unsure and job["state"] in FINAL and job["state"] not in request.states:
            self.found("odd", [f"{what}: not {'/'.join(sorted(request.states))}"])

    def check_foreground(self, request, what, job, times):
        """`run` passed on the status of its command if and only if that ran, once."""
        passed = request.passed_on == request.code and len(times) == 1 and job["state"] == "exited"
        never = request.passed_on in (75, 125) and not times
        if not passed and not never:
            self.found("doubled" if len(times) > 1 else "odd",
                       [f"{what}: `run` gave {request.passed_on}, not {request.code}"])

    def check_ends(self, jobs):
        """--on-end: once for each job that had it, and for no other."""
        wanted = {n for r in self.requests if r.on_end for n in r.numbers or ()
                  if n in jobs and jobs[n]["state"] == "exited"}

        def lines():
            return [int(n) for n in text(self.on_end).split() if int(n) > self.settled]
        try:
            until(lambda: wanted <= set(lines()), "the commands of --on-end")
        except AssertionError:
            self.found("odd", [f"--on-end never ran for {sorted(wanted - set(lines()))}"])
        twice = [n for n, times in collections.Counter(lines()).items() if times > 1]
        self.found("odd", [f"--on-end ran {lines().count(n)} times for {n}" for n in twice])
