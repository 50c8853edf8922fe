# SPDX-License-Identifier: LGPL-2.1-or-later
"""A multilayer perceptron learns what another one says of random points."""
import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)

x = torch.randn(12800, 256)
with torch.no_grad():
    y = nn.Sequential(nn.Linear(256, 64), nn.Tanh(), nn.Linear(64, 10))(x).argmax(1)
model = nn.Sequential(nn.Linear(256, 768), nn.ReLU(), nn.Linear(768, 768), nn.ReLU(), nn.Linear(768, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
batch, epochs = 256, max(2, round(12 * args.size))

begin = time.time()
for epoch in range(1, epochs + 1):
    order, total = torch.randperm(len(x)), 0.0
    for i in range(0, len(x), batch):
        pick = order[i:i + batch]
        loss = nn.functional.cross_entropy(model(x[pick]), y[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"Epoch {epoch}/{epochs} - loss: {total * batch / len(x):.4f}", flush=True)
print(f"trained {epochs * len(x) // batch} steps in {time.time() - begin:.2f} s")
