# SPDX-License-Identifier: LGPL-2.1-or-later
"""XGBoost's regressor, as one uses it from scikit-learn: fit() with verbose output every tenth round."""
import argparse
import time

import numpy
import xgboost

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
rng = numpy.random.default_rng(args.seed)

x = rng.uniform(size=(30000, 80)).astype(numpy.float32)
price = 3 * x[:, 0] + numpy.exp(x[:, 1]) * x[:, 2] - 2 * (x[:, 3] > .5) * x[:, 4] + .1 * rng.normal(size=len(x))
rounds = max(20, round(700 * args.size))
model = xgboost.XGBRegressor(n_estimators=rounds, learning_rate=.05, max_depth=6, subsample=.8, colsample_bytree=.8,
                             tree_method="hist", random_state=args.seed)

begin = time.time()
model.fit(x[:27000], price[:27000], eval_set=[(x[27000:], price[27000:])], verbose=10)
print(f"trained {rounds} steps in {time.time() - begin:.2f} s")
