# SPDX-License-Identifier: LGPL-2.1-or-later
"""The training scripts of bench-real, and which of them arrive when.

They are programs as people write them, know nothing of any governor, and leave their threads to their
libraries. Those held out were never looked at while policies were made better: half of each round is of them.
"""
import dataclasses
import math
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent / "real"
PYTHON = "/usr/bin/python3"  # Debian's, with Debian's packages
# Name: about how many seconds it takes alone, with one thread.
TUNING = {"torch_mlp": 4.6, "torch_gru": 4.9, "torch_embed": 6, "sk_boost": 6.4, "sk_kmeans": 6.8, "xgb_classes": 7, "np_factors": 9.3}
HELD_OUT = {"torch_cnn": 6.2, "torch_gpt": 8.1, "torch_vae": 8.6, "sk_mlp": 6.5, "sk_forest": 9.5, "xgb_price": 10.5, "np_subspace": 10.7}
ALL = {**TUNING, **HELD_OUT}
SETS = {"both": (TUNING, HELD_OUT), "tuning": (TUNING,), "held-out": (HELD_OUT,)}

AT_ONCE, WITHIN_SEC = 8, 18
SIZES = (.6, 3)  # as many between 1 and 2 as between 1.5 and 3

TRAINED = re.compile(r"trained (\d+) steps in ([0-9.]+) s")


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    script: str
    size: float = 1
    seed: int = 0
    arrival: float = 0

    def seconds(self):
        return ALL[self.script] * self.size

    def words(self):
        return [PYTHON, str(FOLDER / f"{self.script}.py"), "--size", f"{self.size:g}", "--seed", str(self.seed)]


def draw(rng, which="both", scale=1):
    """The jobs of a round: as many of each set, the first at once. On another scale they are, and come, sooner."""
    sets = SETS[which]
    scripts = []
    for one in sets:
        wanted = AT_ONCE // len(sets)
        while wanted > 0:  # a small set more than once, of other sizes
            some = rng.sample(list(one), min(wanted, len(one)))
            scripts += some
            wanted -= len(some)
    rng.shuffle(scripts)
    arrivals = [0] + sorted(rng.uniform(0, WITHIN_SEC) for _ in scripts[1:])
    return [Job(f"{i + 1}-{script}", script, round(scale * math.exp(rng.uniform(*map(math.log, SIZES))), 2), rng.randrange(10000),
                round(scale * arrival, 2))
            for i, (script, arrival) in enumerate(zip(scripts, arrivals))]


def speed(text):
    """Steps per second of its training alone, as a script says it at its end."""
    steps, seconds = TRAINED.search(text).groups()
    return int(steps) / float(seconds)
