# SPDX-License-Identifier: LGPL-2.1-or-later
"""A message bus of a test's own, a polkit that answers as it is told, and a governor on both."""
import os
import pwd
import shutil
import subprocess
import tempfile

import harness
from harness import BUILD, PATIENCE, until
from pathdriver import text

# The rules of a system's bus, but that everybody may own every name.
CONFIG = """<busconfig><type>system</type><listen>unix:path={}/socket</listen>
<policy context="default"><allow user="*"/><allow own="*"/><allow eavesdrop="false"/>
<allow send_type="method_call"/><allow send_type="signal"/><allow send_type="method_return"/>
<allow send_type="error"/></policy></busconfig>"""
OWN, OTHERS, NODE = (f"org.schedgov1.manage-{what}" for what in ("own-jobs", "jobs", "node"))


class Bus:
    """dbus-daemon on an address that stays the same over its restarts."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="sg-bus-")
        os.chmod(self.top, 0o755)
        self.address = f"unix:path={self.top}/socket"
        self.env = {**os.environ, "DBUS_SYSTEM_BUS_ADDRESS": self.address}
        with open(f"{self.top}/config", "w", encoding="utf-8") as f:
            f.write(CONFIG.format(self.top))
        self.daemon = self.polkit = None

    def start(self):
        """Returns when it can be connected to."""
        self.daemon = subprocess.Popen(
            ["dbus-daemon", f"--config-file={self.top}/config", "--nofork", "--nopidfile",
             "--nosyslog", "--print-address=1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.daemon.stdout.readline(), "address printed by dbus-daemon"

    def stop(self):
        if self.daemon:
            self.daemon.kill()
            self.daemon.wait(PATIENCE)
            self.daemon.stdout.close()
        self.daemon = None

    # --- polkit ---

    def rules(self, *lines):
        """"ACTION UID VERDICT" each; see tests/fakes/fake_polkit.c."""
        with open(f"{self.top}/rules.tmp", "w", encoding="ascii") as f:
            f.write("".join(f"{line}\n" for line in lines))
        os.rename(f"{self.top}/rules.tmp", f"{self.top}/rules")

    def start_polkit(self, *lines):
        self.rules(*lines)
        with open(f"{self.top}/questions", "w", encoding="ascii") as f:
            self.polkit = subprocess.Popen([f"{BUILD}/tests/fakes/fake_polkit", f"{self.top}/rules"],
                                           env=self.env, stdout=f)
        until(lambda: "ready" in text(f"{self.top}/questions"), "polkit")

    def stop_polkit(self):
        if self.polkit:
            self.polkit.kill()
            self.polkit.wait(PATIENCE)
        self.polkit = None

    def questions(self):
        """What polkit was asked so far, a line for each."""
        return text(f"{self.top}/questions").splitlines()[1:]

    def close(self):
        self.stop_polkit()
        self.stop()
        shutil.rmtree(self.top, ignore_errors=True)


class BusGovernor(harness.Governor):
    """A daemon as on a host: it serves the bus, too, and asks polkit."""

    def __init__(self, bus, **kwargs):
        self.bus = bus
        super().__init__(**kwargs)

    def launch(self):
        command = [f"{self.build}/schedgovd", "--state-dir", self.state, "--socket", self.socket,
                   "--config-root", self.root, "--backend", "observe"]
        self.daemon = subprocess.Popen(command + self.options, env={**self.bus.env, **self.env},
                                       cwd=self.top, stdin=subprocess.DEVNULL, stderr=self.log)

    def ready(self, patience=PATIENCE):
        until(lambda: self.ctl("status", expect=None).returncode == 0, "the socket", patience)
        if self.bus.daemon:
            self.await_name()
        return self.running()

    def await_name(self):
        until(lambda: self.call("Describe").returncode == 0, "the name on the bus")

    def call(self, member, *arguments, uid=0, path="/org/schedgov1", interface="Manager",
             options=()):
        """A call by bus; never started by the bus, so that what isn't there fails at once."""
        return subprocess.run(
            ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "busctl",
             "--auto-start=no", f"--timeout={PATIENCE}", *options, "call", "org.schedgov1", path,
             f"org.schedgov1.{interface}", member, *arguments], env=self.bus.env, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=2 * PATIENCE, check=False)

    def call_job(self, n, member, **kwargs):
        digits = str(n)
        return self.call(member, path=f"/org/schedgov1/job/_{ord(digits[0]):x}{digits[1:]}",
                         interface="Job", **kwargs)

    def submit_by_bus(self, script, uid):
        argv = "\0".join(["sh", "-c", script, ""]).encode()
        result = self.call("Submit", "a{sv}ayayay", "0", str(len(argv)), *map(str, argv), "0", "0",
                           uid=uid)
        assert result.returncode == 0, result.stderr
        return int(result.stdout.split()[1])


def known_users(count):
    """Uids of unprivileged users that the password file has: a bus takes no others."""
    users = sorted(p.pw_uid for p in pwd.getpwall() if 0 < p.pw_uid < 100)
    assert len(users) >= count, users
    return users[-count:]
