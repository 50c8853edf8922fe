# SPDX-License-Identifier: LGPL-2.1-or-later
"""Schedules of training jobs: which begins when, and how much there is to do.

The models, their sizes and the three jobs of the fixed schedule are those that FlowCon was measured
with; here a program of tests/workloads/train stands for each. Times and work are seconds alone on
one CPU. A schedule is run shorter by a scale, policies with it: what is a second to one of 200
seconds is half a second to one of 100.
"""
import dataclasses
import datetime
import random
import resource
import statistics
import subprocess
import time

# Name: program, work, width (CPUs that it can use), manner of its output.
MODELS = {
    "VAE-P": ("vae", 259.6, 1, "pytorch"),
    "VAE-T": ("vae", 150, 1, "keras"),
    "MNIST-P": ("mlp", 106.1, 1, "pytorch"),
    "MNIST-T": ("mlp", 28.2, 1, "keras"),
    "LSTM-CFC": ("lstm", 120, .2, "keras"),
    "LSTM-CRF": ("lstm", 90, .6, "pytorch"),
    "Bi-RNN": ("birnn", 120, 1, "keras"),
    "GRU": ("gru", 180, 1, "keras"),
    "RNN": ("birnn", 110, 1, "tqdm"),
    "DynRNN": ("birnn", 150, .7, "plain"),
}
# What a policy file says.
POLICIES = {
    "fair": "[Policy]\nShare=fair\n",
    "flowcon": "[Policy]\nShare=flowcon\n",
    "growth-jct": "[Policy]\nShare=growth\nObjective=jct\n",
    "growth": "[Policy]\nShare=growth\nObjective=balanced\n",
    "growth-quality": "[Policy]\nShare=growth\nObjective=quality\n",
}
# FlowCon's are of its authors; the rest is what a class has that says nothing.
ALPHA, FLOWCON_INTERVAL, TICK, MAX_INTERVAL, PROBE = .05, 20, 1, 60, 3
BEGIN = 1.5  # seconds from the submission of the first to the time 0 of a schedule


@dataclasses.dataclass
class Job:
    name: str
    model: str
    arrival: float
    work: float
    reports: int = 50
    seed: int = 1
    threads: int = 1
    width: float = None

    def __post_init__(self):
        if self.width is None:
            self.width = MODELS[self.model][2]


def fixed3():
    """Of FlowCon's section on fixed schedules."""
    return [Job(f"{model}", model, arrival, MODELS[model][1])
            for model, arrival in (("VAE-P", 0), ("MNIST-P", 40), ("MNIST-T", 80))]


def randomly(n, seed):
    """n jobs within 200 seconds, the first at once."""
    rng = random.Random(seed)
    arrivals = [0] + sorted(rng.uniform(0, 200) for _ in range(n - 1))
    jobs = []
    for i, arrival in enumerate(arrivals):
        model = rng.choice(list(MODELS))
        jobs.append(Job(f"{i + 1}-{model}", model, arrival,
                        MODELS[model][1] * rng.uniform(.7, 1.3), rng.randint(20, 100), i + 1))
    return jobs


def two_cpus(threads):
    """Four jobs that want two CPUs between them, each with so many threads."""
    return [Job(f"{model}-x{threads}", model, arrival, work, threads=threads)
            for model, arrival, work in (("VAE-P", 0, 200), ("GRU", 10, 120), ("MNIST-P", 30, 80),
                                         ("MNIST-T", 50, 30))]


def scaled(jobs, scale):
    return [dataclasses.replace(job, arrival=job.arrival * scale, work=job.work * scale)
            for job in jobs]


def configuration(policy, scale):
    """Files below the daemon's root of configuration for a schedule of that scale."""
    def span(seconds, least):
        return f"{max(round(1000 * seconds * scale), 1000 * least):.0f}ms"

    return {
        "etc/schedgov/schedgov.conf":
            "[Queue]\nMaxJobs=64\n[Monitor]\nInterval=100ms\nMaxInterval=1s\n",
        "etc/schedgov/policy.d/default.policy":
            "[Class]\nName=default\n" + POLICIES[policy]
            + f"[Growth]\nTick={span(TICK, .1)}\nMaxInterval={span(MAX_INTERVAL, 1)}\n"
            + f"ProbeCpu={span(PROBE, 0)}\n"
            + f"[FlowCon]\nAlpha={ALPHA / scale:.6g}\nInterval={span(FLOWCON_INTERVAL, 1)}\n",
    }


def cpu_seconds(words):
    """Of a program that runs alone."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def calibrate(train, jobs, rounds=1):
    """Samples per CPU-second here, by program: a first guess, corrected by what a real run takes.
    In rounds, as a CPU that others share is by turns faster and slower, and one program shouldn't
    have its best moments and another its worst."""
    found = {MODELS[job.model][0]: [] for job in jobs}
    for _ in range(rounds):
        for name, rates in sorted(found.items()):
            guess = subprocess.run([train, name, "--calibrate", "1"], check=True, text=True,
                                   stdout=subprocess.PIPE).stdout.strip()
            took = cpu_seconds([train, name, "--work", "1", "--per-second", guess])
            rates.append(float(guess) / took)
    return {name: statistics.median(rates) for name, rates in found.items()}


def command(train, job, rates):
    program, _, _, style = MODELS[job.model]
    words = [train, program, "--work", f"{job.work:.4f}", "--per-second", f"{rates[program]:.1f}",
             "--reports", str(job.reports), "--seed", str(job.seed), "--style", style]
    if job.threads > 1:
        words += ["--threads", str(job.threads)]
    return words + (["--width", f"{job.width:g}"] if job.width < 1 else [])


def submissions(train, jobs, rates, zero):
    """What to give to schedctl; zero: when the schedule begins, as time.time() counts."""
    for job in jobs:
        begin = zero + job.arrival
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(begin))
        yield ["submit", "--name", job.name, "--cpus", str(job.threads), "--begin",
               f"{stamp}.{int(begin % 1 * 1e6):06d}Z", "--", *command(train, job, rates)]


def timestamp(text):
    """Of the daemon's JSON: seconds since the epoch."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def results(jobs, documents, zero):
    """What came of each job; documents: the daemon's, by name."""
    rows = []
    for job in jobs:
        document = documents[job.name]
        times = document["times"]
        rows.append({
            "name": job.name, "model": job.model, "arrival": round(job.arrival, 3),
            "work": round(job.work, 3), "width": job.width,
            "started": round(timestamp(times["started"]) - zero, 3),
            "completion": round(timestamp(times["ended"]) - zero - job.arrival, 3),
            "cpu": round((document["usage"]["cpu_usec"] or 0) / 1e6, 3),
            "exit_code": document["exit_code"], "state": document["state"],
        })
    return rows
