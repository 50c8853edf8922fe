# SPDX-License-Identifier: LGPL-2.1-or-later
"""What tests of upgrades share: the database of an earlier version, made of today's with the same jobs as
that version kept them, and jobs in all states that have to come through."""
import contextlib
import json
import os
import pathlib
import shutil
import sqlite3

from expect import same
from harness import until

SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
DUMP = f"{SOURCE}/tests/data/store/schema-5.sql"  # final states began at 4, later at 32
OLD = 5
UNKEPT = ("exit_code", "signal", "by")  # of events: as if nothing were known
TABLES = ("jobs", "attempts", "specs", "spec_shares", "events", "counters")
KEPT = ("state", "reason", "attempt", "pid", "exit_code", "signal", "hold", "name", "times", "limits", "retry")


def is_old(state):
    """Of a stopped daemon."""
    with contextlib.closing(sqlite3.connect(f"{state}/schedgov.db")) as db:
        return db.execute("PRAGMA user_version").fetchone()[0] == OLD


def take_back(state):
    """Puts the database of a stopped daemon back to schema 5, from before there were reasons in attempts' directories."""
    path = f"{state}/schedgov.db"
    with open(DUMP, encoding="utf-8") as f:
        dump = f.read()
    with contextlib.closing(sqlite3.connect(f"{path}.old")) as db:
        db.executescript(dump)
        db.execute("ATTACH ? AS new", (path,))
        with db:
            for table in TABLES:
                columns = [row[1] for row in db.execute(f"PRAGMA main.table_info({table})")]
                values = ", ".join("CASE WHEN state >= 32 THEN state - 28 ELSE state END"
                                   if name == "state" else name for name in columns)
                db.execute(f"DELETE FROM main.{table}")
                db.execute(f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {values} FROM new.{table}")
    shutil.copymode(path, f"{path}.old")
    os.rename(f"{path}.old", path)
    for reasons in pathlib.Path(state, "jobs").glob("*/frozen"):
        reasons.unlink()
    assert is_old(state), "schema of the database, to be an old one: it isn't"
    assert not os.path.exists(f"{path}-wal"), "log of the database: it is there"


class Jobs:
    """One of each kind, known to the daemon that is about to be replaced."""

    def __init__(self, g):
        self.g = g
        wait = "until [ -e go ]; do sleep 0.05; done; exit 3"
        self.running = g.shell(f"touch up; {wait}", "--mem", "60M", "--cpu-weight", "150")
        self.suspended = g.shell(wait)
        self.waiting = g.shell("exit 4", "--after", f"{self.running}:any")
        self.held = g.shell("exit 5", "--hold", "--priority", "7")
        self.ended = {g.shell("exit 6"): 6, g.submit("--", "/does/not/exist"): 127,
                      g.shell("sleep 1000", "--time-limit", "300ms"): 124,
                      g.shell("[ $SCHEDGOV_ATTEMPT = 2 ]", "--retry", "1"): 0}
        cancelled = g.shell("sleep 1000")
        for n in (self.running, self.suspended, cancelled):
            g.wait_state(n, "running")
        until(lambda: os.path.exists(f"{g.work}/up"), "start of its program")
        g.ctl("cancel", str(cancelled))
        self.ended[cancelled] = 128 + 15
        g.ctl("suspend", str(self.suspended))
        for n, status in self.ended.items():
            assert g.wait(n) == status, g.job(n)
        self.before, self.events = self.look(), self.told()
        for job in self.before.values():  # what that version has started doesn't follow
            if job["state"] != "queued":
                assert job["limits"]["threads"] == "follow", job
                job["limits"]["threads"] = "start"

    def look(self):
        return {n: {key: job.get(key) for key in KEPT} for n, job in self.g.jobs().items()}

    def told(self):
        events = json.loads(self.g.ctl("events", "--json").stdout)["events"]
        return [{**event, **dict.fromkeys(UNKEPT)} for event in events]

    def expect_same(self):
        after = self.look()
        assert after == self.before, [(before, after.get(n)) for n, before in self.before.items()
                                      if after.get(n) != before]
        same(self.told()[:len(self.events)], self.events, "first events of the history")
        states = {job["state"] for job in after.values()}
        assert states == {"running", "suspended", "queued", "exited", "failed", "timeout", "killed"}, states

    def go_on(self):
        """They do to their ends, what has waited, too."""
        g = self.g
        g.ctl("resume", str(self.suspended))
        g.ctl("release", str(self.held))
        with open(f"{g.work}/go", "w", encoding="ascii"):
            pass
        for n, status in {self.running: 3, self.suspended: 3, self.waiting: 4, self.held: 5,
                          **self.ended}.items():
            assert g.wait(n) == status, g.job(n)
        new = g.shell("exit 9")
        same(new, max(self.before) + 1, "number of the next job")
        same(g.wait(new), 9, "status of the next job")
