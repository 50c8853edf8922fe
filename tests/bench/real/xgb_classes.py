# SPDX-License-Identifier: LGPL-2.1-or-later
"""XGBoost tells two classes apart, with its own evaluation log."""
import argparse
import time

import numpy
import xgboost

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
rng = numpy.random.default_rng(args.seed)

x = rng.normal(size=(60000, 50)).astype(numpy.float32)
y = (x[:, 0] * x[:, 1] + numpy.sin(2 * x[:, 2]) + .5 * x[:, 3] + .3 * rng.normal(size=len(x)) > 0).astype(int)
train, valid = xgboost.DMatrix(x[:54000], y[:54000]), xgboost.DMatrix(x[54000:], y[54000:])
rounds = max(10, round(400 * args.size))

begin = time.time()
xgboost.train({"objective": "binary:logistic", "tree_method": "hist", "max_depth": 7, "eta": .1, "seed": args.seed},
              train, rounds, evals=[(train, "train"), (valid, "valid")])
print(f"trained {rounds} steps in {time.time() - begin:.2f} s")
