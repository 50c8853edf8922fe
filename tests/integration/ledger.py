# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holding the history against a ledger that the jobs wrote themselves (tests/workloads/ledger.c)."""
import collections

from harness import BUILD, FINAL

PROGRAM = f"{BUILD}/tests/workloads/ledger"


class Ledger:
    def __init__(self, g):
        self.g, self.path = g, f"{g.work}/ledger"
        with open(self.path, "w", encoding="ascii"):
            pass

    def command(self, status, msec=0):
        return ["--", PROGRAM, self.path, str(status), str(msec)]

    def attempts(self):
        """{job: [attempts that ran, in order]}"""
        ran = collections.defaultdict(list)
        with open(self.path, encoding="ascii") as f:
            for line in f:
                job, attempt, _ = line.split()
                # A job in the foreground has one attempt.
                ran[int(job)].append(1 if attempt == "-" else int(attempt))
        return ran

    def doubled(self):
        """Attempts that ran twice: there must be none, whatever is killed."""
        return {n: ran for n, ran in self.attempts().items() if len(set(ran)) < len(ran)}


def audit(jobs, ran, acknowledged, statuses, may_repeat=(), may_be_lost=()):
    """What doesn't fit, as text: `jobs` is the governor's account, `ran` the ledger's. `statuses`
    maps acknowledged jobs to the exit status of their command."""
    wrong = []
    for n in sorted(acknowledged):
        job = jobs.get(n)
        if not job:
            wrong.append(f"{n} was acknowledged and is unknown")
            continue
        state, times = job["state"], ran.get(n, [])
        what = f"{n} {state} ({job['reason']}), attempt {job['attempt']}, ran {times}"
        if state not in FINAL:
            wrong.append(what + ": not over")
        if len(set(times)) < len(times):
            wrong.append(what + ": an attempt ran twice")
        if len(times) > 1 and n not in may_repeat:
            wrong.append(what + ": ran again without leave")
        if state == "lost" and n not in may_be_lost:
            wrong.append(what + ": lost though its shim was left alone")
        if state in ("exited", "failed") and job["exit_code"] != statuses.get(n):
            wrong.append(what + f": exit code {job['exit_code']}, not {statuses.get(n)}")
        if state == "exited" and job["attempt"] not in times:
            wrong.append(what + ": it never wrote its line")
    for n, times in ran.items():
        if n not in jobs:
            wrong.append(f"{n} ran {times} and is in no history")
    return wrong
