# SPDX-License-Identifier: LGPL-2.1-or-later
"""What bench-real makes of its runs: medians and their intervals, and the goals."""
import math
import statistics

import realmodes


def interval(values):
    """(median, least, most): where the true median lies 15 times in 16 or more, by the values' order alone."""
    ordered, n, k = sorted(values), len(values), 0
    while 2 * sum(math.comb(n, i) for i in range(k + 2)) <= 2**n / 16:
        k += 1
    return statistics.median(ordered), ordered[k], ordered[n - 1 - k]


def by_round(runs, mode):
    return {r["round"]: r for r in runs if r["mode"] == mode and "failed" not in r}


def ratios(runs, mode, other, key):
    """Of what `key` makes of a run, round by round. Of a mode with itself: ones."""
    ours, theirs = by_round(runs, mode), by_round(runs, other)
    pairs = [(key(ours[n]), key(theirs[n])) for n in ours if n in theirs]
    return [a / b for a, b in pairs if a and b]


def mean(run):
    return run["mean"]


def makespan(run):
    return run["makespan"]


def until_good(percent):
    """Mean time until so much of a job's loss was lost; of those that say a loss."""
    def key(run):
        times = [row[f"t{percent}"] for row in run["jobs"] if f"t{percent}" in row]
        return statistics.mean(times) if times else None
    return key


def worst(runs, mode, other):
    """Round by round, the job that took most in `mode` by what it took in `other`: [(ratio, name)]."""
    ours, theirs = by_round(runs, mode), by_round(runs, other)
    return [max((a["completion"] / b["completion"], a["name"]) for a, b in zip(ours[n]["jobs"], theirs[n]["jobs"]))
            for n in ours if n in theirs]


def told(values, form="{:.2f} ({:.2f} to {:.2f})"):
    return form.format(*interval(values)) if values else "-"


def show(runs, modes):
    base = "none" if "none" in modes else modes[0]
    seconds = "{:.1f} ({:.1f} to {:.1f})"
    print(f"\n| | mean completion, s | ÷ {base} | all done after, s | ÷ {base} | worst job ÷ fair |\n|---|---|---|---|---|---|")
    for mode in modes:
        done = by_round(runs, mode).values()
        print(f"| {realmodes.MODES[mode][0]} | {told([r['mean'] for r in done], seconds)} | {told(ratios(runs, mode, base, mean))} "
              f"| {told([r['makespan'] for r in done], seconds)} | {told(ratios(runs, mode, base, makespan))} "
              f"| {told([ratio for ratio, _ in worst(runs, mode, 'fair')])} |")
    for mode in ("growth", "balanced"):
        good = {percent: ratios(runs, mode, "fair", until_good(percent)) for percent in realmodes.MILESTONES}
        if all(good.values()):
            print(f"{mode} ÷ fair, until so much of its loss is lost: "
                  + ", ".join(f"{percent} %: {told(values)}" for percent, values in good.items()))
        for ratio, name in worst(runs, mode, "fair"):
            print(f"{mode}: worst job of a round ÷ its fair time: {ratio:.2f}, {name}")


def best_at(runs, mode, key):
    """Of the others, but for what needs to know the sizes, the one that is best by its median."""
    others = sorted({r["mode"] for r in runs} - {mode, "known"})
    found = [(statistics.median(key(r) for r in by_round(runs, other).values()), other)
             for other in others if by_round(runs, other)]
    return min(found)[1] if found else None


def judge(runs):
    """Prints the goals beside what was measured; how many aren't met."""
    best = best_at(runs, "growth", makespan)
    goals = [("growth ÷ no governor, mean", ratios(runs, "growth", "none", mean), .60),
             ("growth ÷ no governor, passive waiting, mean", ratios(runs, "growth", "passive", mean), .70),
             ("growth ÷ growth with one thread each, mean", ratios(runs, "growth", "growth-one", mean), 1.08),
             (f"growth ÷ the best, {best}: all done", ratios(runs, "growth", best, makespan), 1.05),
             ("fair ÷ no governor, passive waiting, mean", ratios(runs, "fair", "passive", mean), 1.05),
             ("fair ÷ no governor, passive waiting, all done", ratios(runs, "fair", "passive", makespan), 1.05),
             ("growth: worst job ÷ its fair time", [ratio for ratio, _ in worst(runs, "growth", "fair")], 1.15)]
    unmet = 0
    print("\ngoals, medians of the rounds:")
    for name, values, goal in goals:
        if values:
            met = statistics.median(values) <= goal
            unmet += not met
            print(f"  {name:48} {told(values):24} at most {goal:.2f}: {'met' if met else 'MISSED'}")
    return unmet
