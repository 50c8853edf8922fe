# SPDX-License-Identifier: LGPL-2.1-or-later
"""What happens to the governor meanwhile: policies change, files are broken and mended, it is killed.

One thread does all of it, since a daemon refuses to start while a file is broken.
"""
import collections
import itertools
import os
import signal

import harness as h

SHARES = ("growth", "flowcon", "fair", "srpt", "las", "slaq", "deadline", "hesrpt")
DIRECTORY = "etc/schedgov/policy.d"
CONFIG = {"etc/schedgov/schedgov.conf": "[Queue]\nMaxJobs=80\nKillGrace=300ms\n[Logs]\nMaxSize=1M\n"
                                        "[History]\nKeepJobs=6000\n",
          f"{DIRECTORY}/default.policy": "[Class]\nName=default\n[Policy]\nShare=growth\n",
          f"{DIRECTORY}/train.policy": "[Class]\nName=train\n[Policy]\nShare=growth\n"}
BROKEN = ("[Class]\nName=train\n[Policy]\nShare=nosuch\n", "[Class]\nName=train\nName=a b\n",
          "Share=fair\n", "[Class]\nName=default\n", "[Policy]\nShare=fair\n", "\x01\x02\n",
          "[Class]\nName=train\n[Growth]\nFloor=500%\n")
PASSING = "[Class]\nName=passing\nWeight=50\nMaxJobs=4\n"
VICTIMS = ["daemon"] * 5 + ["reader"] * 2 + ["store"] * 2


class Disturber:
    def __init__(self, g, account, rnd):
        self.g, self.account, self.random = g, account, rnd
        self.generation = 0     # how often the governor went away or came back
        self.done = collections.Counter()
        self.shares = itertools.cycle(SHARES)
        self.passing = f"{g.root}/{DIRECTORY}/passing.policy"

    def change_policy(self):
        what = self.random.choice([self.set_share, self.set_share, self.set_key, self.change_file,
                                   self.break_file, self.toggle_class, self.hang_up])
        what()
        self.done["policies"] += 1

    def expect(self, status, *args):
        result = self.g.ctl(*args, expect=None)
        if result.returncode != status:
            self.account.complain(f"schedctl {' '.join(args)}: {result.returncode}, not {status}: "
                                  f"{result.stderr.strip()}")
        return result

    def reload(self, status=0):
        self.done["reloads"] += 1
        return self.expect(status, "policy", "reload")

    def set_share(self):
        self.expect(0, "policy", "set", self.random.choice(["default", "train"]),
                    f"Share={next(self.shares)}")

    def set_key(self):
        self.expect(0, "policy", "set", "default", self.random.choice(
            ["Growth.Floor=10%", "Growth.NoHarm=infinity", "FlowCon.Alpha=0.1", "Objective=jct",
             "Objective=quality", "FlowCon.Interval=2s", "Growth.Floor="]))

    def change_file(self):
        self.g.configure(f"{DIRECTORY}/train.policy",
                         f"[Class]\nName=train\nWeight={self.random.randint(10, 500)}\n"
                         f"[Policy]\nShare={next(self.shares)}\n")
        self.reload()

    def break_file(self):
        """It must be refused, with file and line, and what was in force must stay."""
        path = f"{DIRECTORY}/train.policy"
        with open(f"{self.g.root}/{path}", encoding="utf-8") as f:
            good = f.read()
        before = self.g.ctl("policy", "show").stdout
        self.g.configure(path, self.random.choice(BROKEN))
        result = self.reload(125)
        self.g.configure(path, good)
        if ".policy:" not in result.stdout + result.stderr:
            self.account.complain(f"a broken file isn't named: {result.stdout}{result.stderr}")
        if self.g.ctl("policy", "show").stdout != before:
            self.account.complain("a broken file has changed what is in force")
        self.done["broken"] += 1

    def toggle_class(self):
        """A class goes while jobs of it run, or comes."""
        if os.path.exists(self.passing):
            os.unlink(self.passing)
        else:
            self.g.configure(f"{DIRECTORY}/passing.policy", PASSING)
        self.reload()

    def hang_up(self):
        self.g.daemon.send_signal(signal.SIGHUP)
        self.done["reloads"] += 1

    def as_at_first(self):
        """The same policies at each quiet point, so that what they keep is the same."""
        for path, content in CONFIG.items():
            self.g.configure(path, content)
        if os.path.exists(self.passing):
            os.unlink(self.passing)
        self.reload()

    def kill(self):
        """kill -9, and a new one at once."""
        victim = self.random.choice(VICTIMS)
        pid = {"daemon": self.g.daemon.pid, "reader": self.g.reader_pid(),
               "store": self.g.store_pid()}[victim]
        if not pid:
            return
        self.generation += 1
        h.kill_quietly(pid)
        if victim == "daemon":
            self.g.daemon.wait(h.PATIENCE)
        elif victim == "reader":
            h.until(lambda: self.g.reader_pid() not in (0, pid), "another reader")
        else:
            h.until(lambda: not self.g.running() or self.g.store_pid() not in (0, pid), "end of the writer")
        if not self.g.running():
            self.g.daemon.wait(h.PATIENCE)
            self.g.start()
        h.until(lambda: self.g.ctl("status", expect=None).returncode == 0, "an answer")
        self.generation += 1
        self.done[f"{victim} killed"] += 1
        self.done["kills"] += 1
