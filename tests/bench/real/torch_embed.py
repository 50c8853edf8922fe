# SPDX-License-Identifier: LGPL-2.1-or-later
"""Classifies made-up documents by the mean of their words' embeddings, and logs as services do."""
import argparse
import logging
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--size", type=float, default=1)
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
torch.manual_seed(args.seed)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")

vocabulary, classes, length = 20000, 20, 120
labels = torch.randint(0, classes, (16000,))
topic = torch.randint(0, vocabulary, (classes, 300))
documents = torch.randint(0, vocabulary, (len(labels), length))
of_topic = torch.rand(len(labels), length) < .08
chosen = topic[labels].gather(1, torch.randint(0, 300, (len(labels), length)))
documents = torch.where(of_topic, chosen, documents)

model = nn.Sequential(nn.EmbeddingBag(vocabulary, 128, mode="mean"), nn.Linear(128, 256), nn.ReLU(),
                      nn.Linear(256, classes))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
batch, epochs = 200, max(1, round(7 * args.size))
steps, step = epochs * len(labels) // batch, 0

logging.info("training on %d documents", len(labels))
begin = time.time()
for epoch in range(epochs):
    for pick in torch.randperm(len(labels)).split(batch):
        loss = nn.functional.cross_entropy(model(documents[pick]), labels[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 20 == 0:
            logging.info("step=%d/%d loss=%.4f", step, steps, loss.item())
logging.info("trained %d steps in %.2f s", steps, time.time() - begin)
