# SPDX-License-Identifier: LGPL-2.1-or-later
"""The largest eigenvalues of a covariance matrix, by subspace iteration."""
import argparse
import time

import numpy

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
rng = numpy.random.default_rng(args.seed)

n, k = 2400, 64
samples = rng.normal(size=(2 * n, n)) * numpy.linspace(1, 3, n)
covariance = samples.T @ samples / len(samples)
basis, _ = numpy.linalg.qr(rng.normal(size=(n, k)))
steps = max(20, round(700 * args.size))

begin = time.time()
for step in range(steps):
    product = covariance @ basis
    if step % 10 == 9:
        residual = numpy.linalg.norm(product - basis @ (basis.T @ product)) / numpy.linalg.norm(product)
        print(f"step {step + 1} of {steps}, loss: {residual:.3e}", flush=True)
    basis, _ = numpy.linalg.qr(product)
print(f"trained {steps} steps in {time.time() - begin:.2f} s")
