# SPDX-License-Identifier: LGPL-2.1-or-later
"""A variational autoencoder of made-up pictures; prints as PyTorch's own example does."""
import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 400), nn.ReLU())
        self.mean, self.log_variance = nn.Linear(400, 20), nn.Linear(400, 20)
        self.decoder = nn.Sequential(nn.Linear(20, 400), nn.ReLU(), nn.Linear(400, 784))

    def forward(self, pictures):
        hidden = self.encoder(pictures)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        code = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        return self.decoder(code), mean, log_variance


with torch.no_grad():
    pictures = torch.sigmoid(2 * torch.randn(12800, 12) @ torch.randn(12, 784))
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(pictures), batch_size=128, shuffle=True)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
epochs = max(1, round(18 * args.size))

begin = time.time()
for epoch in range(1, epochs + 1):
    for i, (batch,) in enumerate(loader):
        decoded, mean, log_variance = model(batch)
        loss = nn.functional.binary_cross_entropy_with_logits(decoded, batch, reduction="sum") \
            - .5 * (1 + log_variance - mean ** 2 - log_variance.exp()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            print(f"Train Epoch: {epoch} [{i * len(batch)}/{len(pictures)} ({100 * i / len(loader):.0f}%)]"
                  f"\tLoss: {loss.item() / len(batch):.6f}", flush=True)
print(f"trained {epochs * len(loader)} steps in {time.time() - begin:.2f} s")
