# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the tests of adoption share: units that others start, and the jobs that they become."""
import json
import subprocess

import guestdriver
from guestdriver import run
from harness import FINAL, until

TRAIN = "schedgov-train.slice"
POLICY = {"etc/schedgov/policy.d/train.policy":
          "[Class]\nName=train\nWeight=300\n[Limits]\nCPUWeight=50\nMemoryMax=256M\n"
          "MaxMemoryMax=512M\n"}


class Node(guestdriver.Node):
    """With others' units: all that a test starts are stopped at its end."""

    def __init__(self, config=None):
        self.units, self.beside = [], []
        super().__init__({**POLICY, **(config or {})})

    def service(self, name, *argv, properties=(), slice_=TRAIN):
        """systemd-run of a service; it has been started when this returns. The slice of an idle class is stopped after a while: who comes
        just then is refused by systemd, and comes again."""
        self.units.append(f"{name}.service")

        def started():
            r = subprocess.run(["systemd-run", f"--unit={name}", f"--slice={slice_}", *(f"--property={p}" for p in properties), "--",
                                *argv], capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
            assert r.returncode == 0 or "is destructive" in r.stderr, r.stderr
            return r.returncode == 0
        until(started, f"start of {name}")
        return f"{name}.service"

    def scope(self, name, *argv, properties=(), slice_=TRAIN, prefix=()):
        """systemd-run of a scope, beside us; the process."""
        self.units.append(f"{name}.scope")
        p = subprocess.Popen([*prefix, "systemd-run", "--scope", f"--unit={name}",
                              f"--slice={slice_}", *(f"--property={p}" for p in properties), "--",
                              *argv], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, cwd=self.work)
        self.beside.append(p)
        return p

    def adopted(self):
        """Documents of the adopted jobs that live."""
        rows = json.loads(self.ctl("list", "--json").stdout)["jobs"]
        return [row for row in rows if row["adopted"]]

    def of_unit(self, unit):
        """The live job of a unit, awaited."""
        def there():
            return next((job for job in self.adopted() if job["unit"] == unit), None)
        return until(there, f"job of {unit}")

    def number(self, unit):
        return int(self.of_unit(unit)["id"].partition("@")[0])

    def ended(self, n):
        self.wait(n)
        job = self.job(n)
        assert job["state"] in FINAL, job
        return job

    def close(self):
        for p in self.beside:
            p.kill()
            p.wait()
        if self.units:
            run("systemctl", "stop", *self.units, check=False)
            run("systemctl", "reset-failed", *self.units, check=False)
        until(lambda: not self.adopted(), "end of what was adopted")
        super().close()


def main(tests):
    return guestdriver.main(tests, Node)
