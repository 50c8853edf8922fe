# SPDX-License-Identifier: LGPL-2.1-or-later
"""Factors a matrix of ratings by alternating least squares; all its time is OpenBLAS's."""
import argparse
import time

import numpy

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
rng = numpy.random.default_rng(args.seed)

users, items, rank = 3000, 2400, 120
ratings = rng.normal(size=(users, 80)) @ rng.normal(size=(80, items)) + rng.normal(size=(users, items))
u, v = rng.normal(size=(users, rank)), rng.normal(size=(items, rank))
ridge, iterations = numpy.eye(rank), max(4, round(110 * args.size))

begin = time.time()
for iteration in range(1, iterations + 1):
    u = numpy.linalg.solve(v.T @ v + ridge, v.T @ ratings.T).T
    v = numpy.linalg.solve(u.T @ u + ridge, u.T @ ratings).T
    error = numpy.sqrt(numpy.mean((ratings - u @ v.T) ** 2))
    print(f"iteration {iteration}/{iterations} rmse={error:.5f}", flush=True)
print(f"trained {iterations} steps in {time.time() - begin:.2f} s")
