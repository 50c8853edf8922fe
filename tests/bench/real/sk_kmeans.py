# SPDX-License-Identifier: LGPL-2.1-or-later
"""k-means by mini-batches over a stream that has no end, and its mean distance now and then."""
import argparse
import time

import numpy
from sklearn.cluster import MiniBatchKMeans

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
rng = numpy.random.default_rng(args.seed)

centers = rng.normal(0, 4, (60, 64))
held_back = centers[rng.integers(0, 60, 4000)] + rng.normal(0, 1, (4000, 64))
model = MiniBatchKMeans(120, batch_size=4096, n_init=1, random_state=args.seed)
steps = max(20, round(900 * args.size))

begin = time.time()
for step in range(1, steps + 1):
    model.partial_fit(centers[rng.integers(0, 60, 4096)] + rng.normal(0, 1, (4096, 64)))
    if step % 5 == 0:
        print(f"step {step}/{steps} loss={-model.score(held_back) / len(held_back):.4f}", flush=True)
print(f"trained {steps} steps in {time.time() - begin:.2f} s")
