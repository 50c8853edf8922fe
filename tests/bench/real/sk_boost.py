# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gradient boosting by scikit-learn, a few trees at a time, each time with a look at what was held back."""
import argparse
import time

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()

x, y = make_classification(40000, 40, n_informative=20, n_clusters_per_class=6, flip_y=.03, random_state=args.seed)
x_train, x_valid, y_train, y_valid = train_test_split(x, y, test_size=.1, random_state=args.seed)
trees, at_once = max(20, 5 * round(18 * args.size)), 5
model = HistGradientBoostingClassifier(learning_rate=.06, max_leaf_nodes=63, early_stopping=False, warm_start=True,
                                       random_state=args.seed)

begin = time.time()
for n in range(at_once, trees + 1, at_once):
    model.set_params(max_iter=n).fit(x_train, y_train)
    print(f"[{n}/{trees}] valid loss: {log_loss(y_valid, model.predict_proba(x_valid)):.4f}", flush=True)
print(f"trained {trees} steps in {time.time() - begin:.2f} s")
