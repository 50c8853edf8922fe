# SPDX-License-Identifier: LGPL-2.1-or-later
"""A character model, a transformer of two layers, on text that it makes up."""
import argparse
import random
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
random.seed(args.seed)

words = ["".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=random.randint(2, 8))) for _ in range(200)]
text = " ".join(random.choices(words, weights=[1 / (i + 1) for i in range(200)], k=20000))
letters = sorted(set(text))
data = torch.tensor([letters.index(c) for c in text])
context, width, batch = 64, 128, 16


class CharacterModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(len(letters), width), nn.Embedding(context, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, len(letters))
        self.mask = torch.triu(torch.full((context, context), float("-inf")), 1)

    def forward(self, tokens):
        return self.head(self.blocks(self.token(tokens) + self.place.weight, self.mask))


model = CharacterModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
max_iters = max(20, round(400 * args.size))

begin = time.time()
for it in range(max_iters):
    starts = torch.randint(0, len(data) - context - 1, (batch,))
    tokens = torch.stack([data[i:i + context] for i in starts])
    targets = torch.stack([data[i + 1:i + context + 1] for i in starts])
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if it % 5 == 0:
        print(f"iter {it}/{max_iters}: loss {loss.item():.4f}, time {1000 * (time.time() - begin):.0f}ms", flush=True)
print(f"trained {max_iters} steps in {time.time() - begin:.2f} s")
