# SPDX-License-Identifier: LGPL-2.1-or-later
"""bench-real's scripts one at a time: what a second CPU is worth to each, and what a governor costs."""
import os
import statistics
import threading

import realjobs
import realmodes
import realtables

LEARN_EVERY_SEC = 1
LEARN_SEC, BESIDE_FROM_SEC, BESIDE_SEC = 24, 7, 9  # it runs about so long; from then on with a companion, for so long
# One thread that says nothing, for so long by the clock.
COMPANION = "import time; end = time.monotonic() + {}\nwhile time.monotonic() < end: pass"
COST_MOST, OFF_MOST = 1.02, .10


def by_turns(options, what):
    """(round, script, way), each way first by turns."""
    for number in range(options.rounds):
        for script in options.scripts:
            for way in what[number % len(what):] + what[:number % len(what)]:
                yield number, script, way


# --- what a second CPU is worth ---

def ways():
    """Name: variables, CPUs."""
    cpus = sorted(os.sched_getaffinity(0))
    return {
        "one": ({**realmodes.threads(1), **realmodes.WAITS}, cpus[:1]),
        "all": ({**realmodes.threads(len(cpus)), **realmodes.WAITS}, cpus),
        "all, as its libraries like": ({}, cpus),
    }


def learnt_size(script):
    """A larger forest or matrix scales otherwise: what is learnt of it is compared with the same."""
    return round(max(1, LEARN_SEC / realjobs.ALL[script]), 2)


def measure_speed(options, go_through, script, way, seed):
    """Steps per second of its training."""
    env, cpus = ways()[way]
    job = realjobs.Job(script, script, learnt_size(script), seed)
    with realmodes.Plain(options, env, ["taskset", "-c", ",".join(map(str, cpus))]) as mode:
        row = go_through(mode, [job], options.timeout)[0]
        return {"speed": realjobs.speed(mode.log(job)), "completion": row["completion"]}


def watch(mode, found, over):
    while not over.wait(LEARN_EVERY_SEC):
        found.update(mode.learnt())


def learn_one(options, go_through, script):
    """Its node is its own, but for a while in the middle, in which a companion has one of the CPUs."""
    job = realjobs.Job(script, script, learnt_size(script), 1)
    found, over = {}, threading.Event()
    with realmodes.MODES["growth"][1](options) as mode:
        def beside():
            if not over.wait(BESIDE_FROM_SEC):
                mode.g.submit("--", realjobs.PYTHON, "-c", COMPANION.format(BESIDE_SEC))

        others = [threading.Thread(target=watch, args=(mode, found, over), daemon=True), threading.Thread(target=beside, daemon=True)]
        for other in others:
            other.start()
        try:
            go_through(mode, [job], options.timeout)
        finally:
            over.set()
            for other in others:
                other.join()
    return found.get(script)


def learn(options, go_through):
    """What a governor says of each at its end: {script: {"1": 1.0, "2": 1.4}}."""
    return {script: curve for script in options.scripts if (curve := learn_one(options, go_through, script))}


def scaling(options, go_through, save):
    cpus = len(os.sched_getaffinity(0))
    runs = {}
    for number, script, way in by_turns(options, list(ways())):
        one = measure_speed(options, go_through, script, way, number)
        runs.setdefault((script, way), []).append(one)
        save({"round": number, "script": script, "way": way, **one})
    learnt = learn(options, go_through)
    print(f"\nsteps per second of training, {options.rounds} rounds; speed-up from 1 to {cpus} CPUs, waiting as a governor has them wait (and as their libraries like)\n"
          f"\n| script | alone, s: 1 CPU | {cpus} CPUs | steps/s: 1 CPU | {cpus} CPUs | speed-up | learnt |\n|---|---|---|---|---|---|---|")
    off = 0
    for script in options.scripts:
        def median(way, key, script=script):
            return statistics.median(run[key] for run in runs[script, way])

        faster, spinning = ([b["speed"] / a["speed"] for a, b in zip(runs[script, "one"], runs[script, way])]
                            for way in ("all", "all, as its libraries like"))
        said = learnt.get(script, {}).get(str(cpus))
        off += said is not None and abs(said / statistics.median(faster) - 1) > OFF_MOST
        print(f"| {script} | {median('one', 'completion'):.1f} | {median('all', 'completion'):.1f} | {median('one', 'speed'):.1f} "
              f"| {median('all', 'speed'):.1f} | {realtables.told(faster)}, {statistics.median(spinning):.2f} "
              f"| {said and format(said, '.2f') or '-'} |", flush=True)
    print(f"\nlearnt: {len(learnt)} of {len(options.scripts)}, {off} of them further off than {OFF_MOST:.0%}")
    return 1 if off or len(learnt) < len(options.scripts) else 0


# --- what a governor costs ---

def alone(options, go_through, save):
    """Each job has the node to itself."""
    unmet, runs = 0, {}
    for number, script, way in by_turns(options, ["none", "balanced"]):
        job = realjobs.Job(script, script, options.size, number)
        with realmodes.MODES[way][1](options) as mode:
            took = go_through(mode, [job], options.timeout)[0]["completion"]
        runs.setdefault((script, way), []).append(took)
        save({"round": number, "script": script, "mode": way, "completion": took})
    print(f"\n| script | alone, s | governed, s | ratio | at most {COST_MOST} |\n|---|---|---|---|---|")
    for script in options.scripts:
        bare, governed = runs[script, "none"], runs[script, "balanced"]
        ratios = [b / a for a, b in zip(bare, governed)]
        met = statistics.median(ratios) <= COST_MOST
        unmet += not met
        print(f"| {script} | {statistics.median(bare):.2f} | {statistics.median(governed):.2f} "
              f"| {realtables.told(ratios, '{:.3f} ({:.3f} to {:.3f})')} | {'met' if met else 'MISSED'} |", flush=True)
    return 1 if unmet else 0
