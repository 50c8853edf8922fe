# SPDX-License-Identifier: LGPL-2.1-or-later
"""The training scripts of bench-real, and which of them arrive when.

They are programs as people write them, know nothing of any governor, and leave their threads to their
libraries. Those held out were never looked at while policies were made better: half of each round is of them.
"""
import dataclasses
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent / "real"
PYTHON = "/usr/bin/python3"  # Debian's, with Debian's packages
TUNING = ["torch_mlp", "torch_gru", "torch_embed", "sk_boost", "sk_kmeans", "xgb_classes", "np_factors"]
HELD_OUT = ["torch_cnn", "torch_gpt", "torch_vae", "sk_mlp", "sk_forest", "xgb_price", "np_subspace"]
SETS = {"both": (TUNING, HELD_OUT), "tuning": (TUNING,), "held-out": (HELD_OUT,)}

AT_ONCE, WITHIN_SEC = 8, 18
SIZES = (.6, 1.4)

TRAINED = re.compile(r"trained (\d+) steps in ([0-9.]+) s")


@dataclasses.dataclass(frozen=True)
class Job:
    name: str
    script: str
    size: float = 1
    seed: int = 0
    arrival: float = 0

    def words(self):
        return [PYTHON, str(FOLDER / f"{self.script}.py"), "--size", f"{self.size:g}", "--seed", str(self.seed)]


def draw(rng, which="both", scale=1):
    """The jobs of a round: as many of each set, the first at once. On another scale they are, and come, sooner."""
    sets = SETS[which]
    scripts = []
    for one in sets:
        wanted = AT_ONCE // len(sets)
        while wanted > 0:  # a small set more than once, of other sizes
            some = rng.sample(one, min(wanted, len(one)))
            scripts += some
            wanted -= len(some)
    rng.shuffle(scripts)
    arrivals = [0] + sorted(rng.uniform(0, WITHIN_SEC) for _ in scripts[1:])
    return [Job(f"{i + 1}-{script}", script, round(scale * rng.uniform(*SIZES), 2), rng.randrange(10000),
                round(scale * arrival, 2))
            for i, (script, arrival) in enumerate(zip(scripts, arrivals))]


def speed(text):
    """Steps per second of its training alone, as a script says it at its end."""
    steps, seconds = TRAINED.search(text).groups()
    return int(steps) / float(seconds)
