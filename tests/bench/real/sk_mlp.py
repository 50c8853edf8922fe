# SPDX-License-Identifier: LGPL-2.1-or-later
"""scikit-learn's own multilayer perceptron, by fit() alone: it says itself how it goes."""
import argparse
import time
import warnings

from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
warnings.simplefilter("ignore", ConvergenceWarning)

x, y = make_classification(12000, 120, n_informative=60, n_classes=8, random_state=args.seed)
x = StandardScaler().fit_transform(x)
epochs = max(2, round(75 * args.size))
model = MLPClassifier((256, 128), batch_size=200, max_iter=epochs, n_iter_no_change=epochs, tol=0, verbose=True,
                      random_state=args.seed)

begin = time.time()
model.fit(x, y)
print(f"trained {model.n_iter_} steps in {time.time() - begin:.2f} s")
