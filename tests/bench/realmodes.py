# SPDX-License-Identifier: LGPL-2.1-or-later
"""The ways in which bench-real has jobs run: as plain processes, by task-spooler, by a governor of their own.

A mode is a context: what it starts ends with it, whatever happens, and nothing else does. Its run() takes a job
through, from its arrival to its end, and is called by a thread of its own for each.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "integration"))

import harness  # noqa: E402
from loopbench import seconds  # noqa: E402
from shimdriver import own_group  # noqa: E402

# What OpenMP, OpenBLAS and MKL look at; BLIS is content with OpenMP's.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PASSIVE = {"OMP_WAIT_POLICY": "passive"}
# As a governor has its jobs' threads wait (lib/proto/job-env.c).
WAITS = {**PASSIVE, "GOMP_SPINCOUNT": "3000", "KMP_BLOCKTIME": "1", "OPENBLAS_THREAD_TIMEOUT": "16"}
JOIN = 'echo $$ >"$0" && exec "$@"'
HEAVY = {"cpu.shares": 262144, "cpu.weight": 10000}
MILESTONES = (90, 95)


def threads(n):
    return {name: str(n) for name in THREADS}


def forget_variables():
    """Of the caller's, those that would tell scripts how to use threads."""
    for name in list(os.environ):
        if name.startswith(("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "GOTO_", "BLIS_")):
            del os.environ[name]


def make_heavy(groups):
    for group in groups:
        for name, weight in HEAVY.items():
            if os.path.exists(f"{group}/{name}"):
                pathlib.Path(f"{group}/{name}").write_text(str(weight), encoding="ascii")


class Plain:
    """Processes of ours. They are in one control group, as a governor's jobs are, so that whoever else works on
    this machine takes as much from either."""

    def __init__(self, options, env=(), prefix=()):
        self.top = tempfile.mkdtemp(prefix="sg-real-")
        self.prefix, self.env = list(prefix), {**os.environ, **dict(env)}
        self.processes = []
        self.group = f"{own_group('cpu') or own_group('')}/bench-real-{os.getpid()}"
        os.mkdir(self.group)
        if options.heavy:
            make_heavy([self.group])

    def __enter__(self):
        return self

    def run(self, job, prefix=()):
        with open(f"{self.top}/{job.name}.log", "wb") as log:
            process = subprocess.Popen(
                ["sh", "-c", JOIN, f"{self.group}/cgroup.procs", *self.prefix, *prefix, *job.words()], env=self.env,
                cwd=self.top, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        self.processes.append(process)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return {"exit": process.returncode, "cpu": usage.ru_utime + usage.ru_stime}

    def usage(self, _):
        return {}

    def log(self, job):
        return pathlib.Path(f"{self.top}/{job.name}.log").read_text(encoding="utf-8", errors="replace")

    def keep(self, folder):
        os.makedirs(folder, exist_ok=True)
        for log in pathlib.Path(self.top).glob("*.log"):
            shutil.copy(log, folder)

    def __exit__(self, *exc):
        for process in self.processes:
            if process.returncode is None:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        harness.until(lambda: harness.remove_tree(self.group), f"end of {self.group}")
        shutil.rmtree(self.top, ignore_errors=True)


class Spooler(Plain):
    """task-spooler, which runs so many at a time, in the order in which they came. Its client is the job's
    parent and waits for it; the server holds nothing but the queue."""

    def __init__(self, options, slots):
        super().__init__(options, prefix=["tsp", "-fn"])
        self.env.update(TS_SOCKET=f"{self.top}/ts", TMPDIR=self.top)
        subprocess.run(["tsp", "-S", str(slots)], env=self.env, check=True)

    def __exit__(self, *exc):
        subprocess.run(["tsp", "-K"], env=self.env, check=False, stderr=subprocess.DEVNULL)
        super().__exit__(*exc)


class Shortest(Plain):
    """What one could do who knew all sizes: a thread and a CPU for each, and of those that wait the shortest first."""

    def __init__(self, options):
        super().__init__(options, env=threads(1))
        self.free, self.waiting, self.turn = sorted(os.sched_getaffinity(0)), [], threading.Condition()

    def run(self, job, prefix=()):
        with self.turn:
            self.waiting.append(job)
            self.turn.wait_for(lambda: self.free and job is min(self.waiting, key=lambda other: other.seconds()))
            self.waiting.remove(job)
            cpu = self.free.pop()
        try:
            return super().run(job, ["taskset", "-c", str(cpu)])
        finally:
            with self.turn:
                self.free.append(cpu)
                self.turn.notify_all()


class Governed:
    """A governor that knows nothing yet; jobs are submitted without a hint."""

    def __init__(self, options, policy, env=(), words=()):
        self.words = [*words, *(f"--env={name}={value}" for name, value in dict(env).items())]
        self.numbers, self.timeout = {}, options.timeout
        self.g = harness.Governor(config={
            "etc/schedgov/schedgov.conf": "[Queue]\nMaxJobs=64\n",
            "etc/schedgov/policy.d/default.policy": f"[Class]\nName=default\n[Policy]\n{policy}\n"}, start=False)
        self.heavy = options.heavy

    def __enter__(self):
        if self.heavy:  # it isn't in the jobs' group
            self.g.prefix = ["nice", "-n", "-20"]
        try:
            self.g.start()
            if self.heavy:
                make_heavy(self.g.group_bases())
        except BaseException:
            self.g.close()
            raise
        return self

    def run(self, job):
        self.numbers[job.name] = n = self.g.submit("--name", job.name, *self.words, "--", *job.words())
        status = self.g.ctl("wait", str(n), expect=None, timeout=self.timeout).returncode
        return {"exit": status}

    def usage(self, job):
        """What is known of one that has ended, and asked for when all have, so that it disturbs none."""
        n = self.numbers[job.name]
        document = self.g.job(n)
        columns = json.loads(self.g.ctl("plot", str(n), "--json").stdout)["columns"]
        return {"cpu": (document["usage"]["cpu_usec"] or 0) / 1e6,
                **milestones(columns, seconds(document["times"]["submitted"]))}

    def log(self, job):
        return self.g.ctl("logs", str(self.numbers[job.name])).stdout

    def learnt(self):
        """Of those that run, how much faster they are by so many CPUs: {name: {"1": 1.0, "2": 1.4}}."""
        found = {}
        for name, n in list(self.numbers.items()):
            explained = self.g.ctl("explain", str(n), "--json", expect=None)
            if explained.returncode == 0:
                speeds = ((json.loads(explained.stdout).get("decision") or {}).get("in") or {}).get("speedup")
                found[name] = {str(2 ** i): v for i, v in enumerate(speeds or [])}
        return {name: curve for name, curve in found.items() if curve}

    def keep(self, folder):
        os.makedirs(folder, exist_ok=True)
        for name in ("decisions.jsonl", "decisions.jsonl.1", "logs"):
            path = pathlib.Path(self.g.state) / name
            if path.is_dir():
                shutil.copytree(path, f"{folder}/{name}", dirs_exist_ok=True)
            elif path.exists():
                shutil.copy(path, folder)
        pathlib.Path(f"{folder}/daemon.log").write_text(self.g.complaints(), encoding="utf-8")
        pathlib.Path(f"{folder}/jobs.json").write_text(self.g.ctl("list", "--all", "--json").stdout, encoding="utf-8")

    def __exit__(self, *exc):
        self.g.close()


def milestones(columns, arrival):
    """Seconds since its arrival until 90 and 95 % of the loss that a job lost in all was lost."""
    points = [(t / 1e6 - arrival, loss) for t, loss in zip(columns["time"], columns["eval"]) if loss is not None]
    found = {}
    for percent in MILESTONES if points else ():
        first, last = points[0][1], points[-1][1]
        wanted = last + (first - last) * (1 - percent / 100)
        found[f"t{percent}"] = next((t for t, loss in points if loss <= wanted), points[-1][0])
    return found


def can_leave():
    """Whether this build can be told to leave threads alone."""
    return "--threads" in subprocess.run([f"{harness.BUILD}/schedctl", "submit", "--help"], check=False,
                                         stdout=subprocess.PIPE, text=True).stdout


JCT = "Share=growth\nObjective=jct"
# Name: what it is, how it is made. The first is what all are compared with.
MODES = {
    "none": ("no governor", lambda o: Plain(o)),
    "passive": ("no governor, OMP_WAIT_POLICY=passive", lambda o: Plain(o, env=PASSIVE)),
    "one": ("no governor, one thread each", lambda o: Plain(o, env=threads(1))),
    "tsp-1": ("task-spooler, 1 slot", lambda o: Spooler(o, 1)),
    "tsp-2": ("task-spooler, 2 slots", lambda o: Spooler(o, 2)),
    "known": ("sizes known: one thread each, shortest first", lambda o: Shortest(o)),
    "fair": ("schedgov, fair", lambda o: Governed(o, "Share=fair")),
    "growth": ("schedgov, growth (jct)", lambda o: Governed(o, JCT)),
    "growth-one": ("the same, one thread each", lambda o: Governed(o, JCT, env=threads(1))),
    "growth-leave": ("the same, --threads leave", lambda o: Governed(o, JCT, words=["--threads", "leave"])),
    "balanced": ("schedgov, growth (balanced)", lambda o: Governed(o, "Share=growth\nObjective=balanced")),
}
