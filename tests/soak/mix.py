# SPDX-License-Identifier: LGPL-2.1-or-later
"""What users do, in seeded random order: submissions of all kinds, verbs on them, questions, and
mistakes. Each is a method of Visit, most by a schedctl of its own.

A verb may meet a governor that was just killed. What must come true for the job to end is insisted
on; everything else may fail then, and only then.
"""
import json
import random
import signal
import subprocess
import time

from account import Request
from harness import until
from pathdriver import RawBus, User, pack_submit

NOBODY = 64999  # as uid and gid: needs no account
TRAIN = ('i=0; while [ $i -lt 5 ]; do i=$((i+1)); '
         'echo "$i/5 [==>...] - ETA: $((5-i))s - loss: 0.$((90-i*10))"; sleep 0.2; done')
LONG = 30  # seconds: ended by us or by a limit


class Visit:
    """One step of the mix; `kills` is odd while the governor is dead, and one higher with each change."""

    def __init__(self, g, account, seed, number, kills):
        self.g, self.account, self.kills = g, account, kills
        self.number, self.parts = number, 0
        self.random = random.Random(f"{seed}:{number}")

    # --- means ---

    def request(self, **how):
        self.parts += 1
        return Request(f"v{self.number}-{self.parts}", **how)

    def command(self, script, code=0):
        """The job's line in the ledger, then the script."""
        program = " ".join(self.account.book.command(0)[1:])
        return ["--", "sh", "-c", f"{program}; {script}\nexit {code}"]

    def undisturbed(self, before):
        return before % 2 == 0 and before == self.kills()

    def submit(self, request, options, command, ctl=None):
        """Submits, and notes what was answered; the first number, None if there is none."""
        before = self.kills()
        result = (ctl or self.g.ctl)("submit", "--name", request.name, *options, *command, expect=None)
        if result.returncode == 0:
            request.numbers = [int(n) for n in result.stdout.split()]
        else:
            request.stored = None
            if self.undisturbed(before):
                self.account.complain(f"submit {options}: {result.returncode} {result.stderr.strip()}")
        self.account.add(request)
        return request.numbers[0] if request.numbers else None

    def job(self, script, *options, code=0, **how):
        return self.submit(self.request(code=code, **how), options, self.command(script, code))

    def ask(self, *args, statuses=(0,)):
        """A call that must give one of these, unless the governor was killed meanwhile."""
        before = self.kills()
        result = self.g.ctl(*args, expect=None)
        if result.returncode not in statuses and self.undisturbed(before):
            self.account.complain(f"schedctl {' '.join(args)}: {result.returncode} {result.stderr.strip()}")
        return result

    def state(self, n):
        result = self.g.ctl("status", str(n), "--json", expect=None)
        return json.loads(result.stdout)["state"] if result.returncode == 0 else None

    def left(self, n, states):
        """Whether the job is known to be in none of these; a look costs a schedctl, so not too often."""
        if self.state(n) not in (None, *states):
            return True
        time.sleep(0.05)
        return False

    def insist(self, verb, n, *states):
        """Until the job has left these states."""
        def done():
            self.g.ctl(verb, str(n), expect=None)
            return self.left(n, states)
        if n is not None:
            until(done, f"{verb} of {n}")

    def started(self, n):
        """Until the job runs, or is over."""
        if n is not None:
            until(lambda: self.left(n, ("queued", "starting")), f"start of {n}")

    # --- jobs that go their way ---

    def true(self):
        self.submit(self.request(), (), self.account.book.command(0))

    def status(self):
        code = self.random.choice([1, 3, 77, 255])
        self.submit(self.request(code=code), (), self.account.book.command(code, self.random.randrange(50)))

    def train(self):
        options = self.random.choice([(), ("--class", "train"), ("--class", "train", "--progress", "keras"),
                                      ("--steps", "5", "--deadline", "+10min")])
        self.job(TRAIN, *options)

    def flood(self):
        """A MiB, in lines or in one."""
        self.job(self.random.choice(["yes progress | head -c 1048576",
                                     "head -c 1048576 /dev/zero | tr '\\0' x"]))

    def array(self):
        count = self.random.randint(2, 8)
        self.job("echo $SCHEDGOV_ARRAY_INDEX", "--array", f"1-{count}", count=count)

    def chain(self):
        first = self.job("sleep 0.1")
        second = first and self.job("", "--after", str(first))
        if second:
            self.job("", "--after", f"{second}:any", "--after", f"{first}:ok", code=4)

    def broken_chain(self):
        first = self.job("", code=3)
        if first:
            self.job("", "--after", f"{first}:ok", code=125, states=("failed",))
            self.job("", "--after", f"{first}:any")

    def retry(self):
        self.submit(self.request(code=9, repeat=True), ("--retry", "2"), self.account.book.command(9))

    def with_end(self):
        command = f'echo "$SCHEDGOV_JOB_ID" >>{self.account.on_end}'
        self.job("sleep 0.05", "--on-end", command, on_end=True)

    def as_nobody(self):
        """Without rights, by a schedctl that has none."""
        self.submit(self.request(code=7), (), self.command("id -u", 7), ctl=User(self.g, NOBODY).ctl)

    def elsewhere(self):
        """Its output in a file of its own; a priority, a quota, a place in the queue."""
        self.job("echo here", "--output", f"{self.g.work}/output", "--priority", str(self.random.randint(-5, 5)),
                 "--cpu-quota", "80%", "--tasks", "50", "--cpus", "1-2")

    # --- jobs that are ended ---

    def oom(self):
        self.job("exec dd if=/dev/zero of=/dev/null bs=64M count=1 2>/dev/null", "--mem", "8M",
                 states=("oom",))

    def time_limit(self):
        self.job(f"exec sleep {LONG}", "--time-limit", "1", states=("timeout",))

    def cancel_running(self):
        n = self.job(f"exec sleep {LONG}", states=("killed",))
        self.started(n)
        self.insist("cancel", n, "queued", "starting", "running")

    def cancel_queued(self):
        n = self.job("", "--hold", states=("killed",))
        self.insist("cancel", n, "queued")

    # --- jobs that are steered ---

    def hold(self):
        n = self.job("", "--hold")
        self.ask("explain", str(n or 1), statuses=(0, 125))
        self.insist("release", n, "queued")

    def suspend(self):
        n = self.job("sleep 0.3")
        if n is None:
            return
        self.started(n)
        self.g.ctl("suspend", str(n), expect=None)
        self.insist("resume", n, "suspended")

    def limits(self):
        n = self.job("sleep 0.3", "--class", self.random.choice(["default", "train"]))
        for change in self.random.sample(["cpu-weight=50", "mem=64M", "cpu-quota=70%", "time-limit=1min",
                                          "tasks=40", "priority=3", "name=", "cpus=2"], 3):
            if n is not None and change != "name=":
                self.g.ctl("set", str(n), change, expect=None)

    def requeue(self):
        n = self.job("sleep 0.3", repeat=True)
        self.started(n)
        if n is not None:
            self.g.ctl("requeue", str(n), expect=None)

    def signal(self):
        n = self.job(f"exec sleep {LONG}", states=("killed",))
        self.started(n)
        self.insist_signal(n)

    def insist_signal(self, n):
        def gone():
            self.g.ctl("signal", str(n), "USR1", expect=None)
            return self.left(n, ("running",))
        if n is not None:
            until(gone, f"signal to {n}")

    # --- in the foreground, and waiting ---

    def run(self):
        code = self.random.choice([0, 5])
        request = self.request(code=code)
        before = self.kills()
        result = self.g.ctl("run", "--name", request.name,
                            *self.account.book.command(code, self.random.randrange(100)), expect=None)
        request.passed_on, request.stored = result.returncode, None
        if result.returncode != code and self.undisturbed(before):
            self.account.complain(f"run: {result.returncode}, not {code}: {result.stderr.strip()}")
        self.account.add(request)

    def wait(self):
        code = self.random.choice([0, 6])
        n = self.job("sleep 0.2; echo out", code=code)
        if n is not None:
            self.ask("wait", str(n), statuses=(code,))
            self.ask("logs", str(n))

    def question(self):
        n = str(max(1, self.account.settled - self.random.randrange(5)))
        args = self.random.choice([
            ("list", "--json"), ("list", "-o", "id,state,share,progress,eta"), ("status", "--json"),
            ("status", n, "--json"), ("explain", n, "--json"), ("history", "--json", "-n", "50"),
            ("top", "--json", "-n", "1"), ("events", "--json", "-n", "20"), ("policy", "show", "--json"),
            ("explain", "--log", "--json", "-n", "20"), ("plot", "--json", n), ("config", "cat")])
        of_a_job = n in args
        result = self.ask(*args, statuses=(0, 125) if of_a_job else (0,))
        if "--json" in args and result.returncode == 0:
            for line in result.stdout.splitlines() if args[0] in ("top", "explain") else [result.stdout]:
                json.loads(line)

    # --- mistakes ---

    def mistake(self):
        options = self.random.choice([
            ("--mem", "lots"), ("--class", "nosuch"), ("--after", "99999999"), ("--cpu-quota", "-1"),
            ("--array", "5-1"), ("--time-limit", "soon"), ("--name", "x" * 65), ("--env", "nothing"),
            ("--deadline", "never"), ("--nosuch",)])
        request = self.request()
        request.stored = False
        name = () if options[0] == "--name" else ("--name", request.name)
        result = self.g.ctl("submit", *name, *options, "--", "true", expect=None)
        if result.returncode != 125 or len(result.stderr.splitlines()) not in (1, 2):
            self.account.complain(f"submit {options} gave {result.returncode}: {result.stderr!r}")
        self.account.refuse(request)

    def passing_class(self):
        """A class whose file comes and goes."""
        request = self.request()
        result = self.g.ctl("submit", "--name", request.name, "--class", "passing",
                            *self.account.book.command(0), expect=None)
        if result.returncode == 0:
            request.numbers = [int(result.stdout)]
        else:
            request.stored = None
        self.account.add(request)

    def killed_client(self):
        """One that may or may not have asked."""
        request = self.request()
        request.stored = None
        client = subprocess.Popen([f"{self.g.build}/schedctl", "submit", "--name", request.name,
                                   *self.account.book.command(0)], env=self.g.env, cwd=self.g.work,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        time.sleep(self.random.uniform(0, 0.008))
        client.send_signal(signal.SIGKILL)
        client.wait()
        self.account.add(request)

    def same_token(self):
        """Asks twice with one token, the first time without waiting for the answer: one job."""
        request = self.request()
        argv = b"".join(str(a).encode() + b"\0" for a in self.account.book.command(0)[1:])
        options = {"name": request.name.encode(), "token": b"soak-%d" % self.number, "workdir": b"/"}
        body = pack_submit(options, argv, environ=b"PATH=/usr/bin:/bin\0")
        request.stored = None
        try:
            with RawBus(self.g.socket) as bus:
                bus.call("Submit", "a{sv}ayayay", body)
            with RawBus(self.g.socket) as bus:
                bus.call("Submit", "a{sv}ayayay", body)
                request.stored = bus.reply()[0] or None
        except (OSError, AssertionError):
            pass  # the governor was killed: there may be one
        self.account.add(request)

    def garbage(self):
        """Bytes that are no message: the connection is dropped, and nothing else."""
        try:
            with RawBus(self.g.socket) as bus:
                bus.socket.sendall(self.random.randbytes(self.random.randint(16, 4096)))
        except (OSError, AssertionError):
            pass
        self.account.refuse()


# How often, of about 100, and how many submissions that is.
MIX = [(Visit.true, 16, 1), (Visit.status, 12, 1), (Visit.train, 6, 1), (Visit.flood, 3, 1),
       (Visit.array, 4, 5), (Visit.chain, 3, 3), (Visit.broken_chain, 2, 3), (Visit.retry, 3, 1),
       (Visit.with_end, 3, 1), (Visit.as_nobody, 2, 1), (Visit.elsewhere, 3, 1), (Visit.oom, 2, 1),
       (Visit.time_limit, 2, 1), (Visit.cancel_running, 3, 1), (Visit.cancel_queued, 2, 1),
       (Visit.hold, 3, 1), (Visit.suspend, 3, 1), (Visit.limits, 3, 1), (Visit.requeue, 2, 1),
       (Visit.signal, 1, 1), (Visit.run, 6, 1), (Visit.wait, 3, 1), (Visit.question, 8, 0.3),
       (Visit.mistake, 3, 0.5), (Visit.passing_class, 2, 1), (Visit.killed_client, 3, 1),
       (Visit.same_token, 3, 1), (Visit.garbage, 1, 0.1)]


def choose(rnd):
    """(what, submissions)"""
    what, _, cost = rnd.choices(MIX, [weight for _, weight, _ in MIX])[0]
    return what, cost
