# SPDX-License-Identifier: LGPL-2.1-or-later
"""A GRU learns to add up the marked numbers of a sequence."""
import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)


def batch_of(n, length):
    numbers = torch.rand(n, length)
    marks = torch.zeros(n, length).scatter_(1, torch.rand(n, length).topk(2).indices, 1)
    return torch.stack((numbers, marks), 2), (numbers * marks).sum(1)


gru, head = nn.GRU(2, 96, batch_first=True), nn.Linear(96, 1)
parameters = [*gru.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=2e-3)
steps = max(20, round(600 * args.size))

begin, running = time.time(), None
for step in range(1, steps + 1):
    inputs, wanted = batch_of(64, 40)
    outputs, _ = gru(inputs)
    loss = nn.functional.mse_loss(head(outputs[:, -1]).squeeze(1), wanted)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    running = loss.item() if running is None else .95 * running + .05 * loss.item()
    if step % 10 == 0 or step == steps:
        print(f"step {step}/{steps} loss {running:.4f}", flush=True)
print(f"trained {steps} steps in {time.time() - begin:.2f} s")
