# SPDX-License-Identifier: LGPL-2.1-or-later
"""A small convolutional network on made-up pictures, with a bar per epoch."""
import argparse
import time

import torch
from torch import nn
from tqdm import tqdm

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(32 * 7 * 7, 64), nn.ReLU(), nn.Linear(64, 10))

    def forward(self, images):
        return self.head(self.features(images))


labels = torch.randint(0, 10, (4096,))
patterns = torch.randn(10, 1, 28, 28)
images = patterns[labels] + 1.5 * torch.randn(len(labels), 1, 28, 28)
loader = torch.utils.data.DataLoader(
    torch.utils.data.TensorDataset(images, labels), batch_size=64, shuffle=True)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=.01, momentum=.9)
epochs = max(2, round(11 * args.size))

begin = time.time()
for epoch in range(epochs):
    bar = tqdm(loader, desc=f"Epoch {epoch + 1}/{epochs}")
    for inputs, targets in bar:
        loss = nn.functional.cross_entropy(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=loss.item())
print(f"trained {epochs * len(loader)} steps in {time.time() - begin:.2f} s")
