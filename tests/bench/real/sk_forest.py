# SPDX-License-Identifier: LGPL-2.1-or-later
"""A random forest that grows until its out-of-bag error is good enough, or it has all its trees."""
import argparse
import time

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

x, y = make_classification(12000, 30, n_informative=15, n_classes=4, flip_y=.05, random_state=args.seed)
trees, at_once = max(20, 10 * round(20 * args.size)), 10
forest = RandomForestClassifier(at_once, warm_start=True, oob_score=True, n_jobs=-1, random_state=args.seed)

begin = time.time()
for n in range(2 * at_once, trees + 1, at_once):
    forest.set_params(n_estimators=n).fit(x, y)
    print(f"iteration {n}/{trees}: oob loss {1 - forest.oob_score_:.4f}", flush=True)
print(f"trained {trees} steps in {time.time() - begin:.2f} s")
