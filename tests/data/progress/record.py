#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records what frameworks print, byte by byte, for tests of the presets.

usage: tests/data/progress/record.py FOLDER     (needs python3-tqdm and python3-xgboost)

tqdm and XGBoost are run for real; Lightning's and Hugging Face's bars are tqdm's too, with the
arguments that they give it. Keras isn't in Debian: its Progbar.update() is rewritten here, format by
format (2.15 and 3.4).
"""
import io
import math
import pathlib
import random
import sys
import time

from tqdm import tqdm

OUT = pathlib.Path(sys.argv[1])


def loss_at(x):
    return 2.3 * math.exp(-3 * x) + 0.05 + 0.01 * math.sin(40 * x)


class Clock:
    """tqdm's time, so that a recording takes none."""

    def __init__(self):
        self.now = 1700000000.0

    def time(self):
        return self.now


CLOCK = Clock()


def bar(stream, **kwargs):
    b = tqdm(file=stream, mininterval=0.1, ncols=kwargs.pop("ncols", 100), miniters=1, ascii=kwargs.pop("ascii", False), **kwargs)
    b._time = CLOCK.time
    b.start_t = b.last_print_t = CLOCK.now
    return b


def save(name, stream):
    (OUT / name).write_bytes(stream.getvalue().encode())


def tqdm_postfix():
    out = io.StringIO()
    b = bar(out, total=200, desc="train")
    for i in range(200):
        CLOCK.now += 0.13
        b.set_postfix(loss=loss_at(i / 200), acc=f"{1 - loss_at(i / 200) / 3:.3f}", refresh=False)
        b.update()
    b.close()
    save("tqdm.log", out)


def tqdm_unknown_total():
    out = io.StringIO()
    b = bar(out, ascii=True)
    for i in range(60):
        CLOCK.now += 1.7
        b.update()
    b.close()
    save("tqdm-no-total.log", out)


def tqdm_nested():
    out = io.StringIO()
    outer = bar(out, total=3, desc="Epochs", position=0)
    for epoch in range(3):
        inner = bar(out, total=40, desc="batches", position=1, leave=False)
        for i in range(40):
            CLOCK.now += 0.5
            inner.set_postfix(loss=loss_at((epoch * 40 + i) / 120), refresh=False)
            inner.update()
        inner.close()
        outer.update()
    outer.close()
    save("tqdm-nested.log", out)


def tqdm_per_epoch():
    """A bar per epoch, one for validation after each, and the loss printed between."""
    out = io.StringIO()
    for epoch in range(3):
        out.write(f"Epoch {epoch + 1}/3\n")
        for total, rate in ((50, 0.4), (10, 0.2)):
            b = bar(out, total=total)
            for i in range(total):
                CLOCK.now += rate
                b.update()
            b.close()
        out.write(f"train loss: {loss_at((epoch + 1) / 3):.4f}, val loss: {loss_at((epoch + 1) / 3) + 0.1:.4f}\n")
    save("tqdm-per-epoch.log", out)


def tqdm_download():
    out = io.StringIO()
    b = bar(out, total=98_304_000, desc="model.safetensors", unit="B", unit_scale=True)
    for i in range(20):
        CLOCK.now += 0.2
        b.update(4_915_200)
    b.close()
    save("download.log", out)


LIGHTNING = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_noinv_fmt}{postfix}]"


def lightning():
    out = io.StringIO()
    out.write("GPU available: False, used: False\nTPU available: False, using: 0 TPU cores\n\n"
              "  | Name  | Type   | Params\n---------------------------------\n"
              "0 | model | Linear | 7.9 K \n---------------------------------\n7.9 K     Trainable params\n")
    b = bar(out, total=2, desc="Sanity Checking DataLoader 0", bar_format=LIGHTNING, leave=False)
    b.update(2)
    b.close()
    train = bar(out, total=60, desc="Epoch 0", bar_format=LIGHTNING)
    for epoch in range(4):
        train.reset()
        train.start_t = train.last_print_t = CLOCK.now
        train.set_description(f"Epoch {epoch}")
        for i in range(60):
            CLOCK.now += 0.12
            train.set_postfix({"v_num": 3, "train_loss": loss_at((epoch * 60 + i) / 240)}, refresh=False)
            train.update()
            train.refresh()
        val = bar(out, total=12, desc="Validation DataLoader 0", bar_format=LIGHTNING, leave=False, position=1)
        for i in range(12):
            CLOCK.now += 0.1
            val.update()
        val.close()
        train.set_postfix({"v_num": 3, "train_loss": loss_at((epoch + 1) / 4), "val_loss": loss_at((epoch + 1) / 4) + 0.1})
    train.close()
    out.write("`Trainer.fit` stopped: `max_epochs=4` reached.\n")
    save("lightning.log", out)


def huggingface():
    out = io.StringIO()
    out.write("Some weights of BertForSequenceClassification were not initialized from the model checkpoint\n")
    train = bar(out, total=150)
    for i in range(1, 151):
        CLOCK.now += 0.8
        train.update()
        if i % 10 == 0:
            train.write(str({"loss": round(loss_at(i / 150), 4), "grad_norm": 2.383980345174379,
                             "learning_rate": 5e-05 * (1 - i / 150), "epoch": round(i / 50, 2)}), file=out)
        if i % 50 == 0:
            evaluation = bar(out, total=25, leave=False, position=1)
            for _ in range(25):
                CLOCK.now += 0.3
                evaluation.update()
            train.write(str({"eval_loss": loss_at(i / 150) + 0.1, "eval_accuracy": 0.87, "eval_runtime": 7.5,
                             "eval_samples_per_second": 106.6, "eval_steps_per_second": 3.33, "epoch": i / 50}), file=out)
            evaluation.close()
    train.write(str({"train_runtime": 142.5, "train_samples_per_second": 8.4, "train_steps_per_second": 1.05,
                     "train_loss": 0.71, "epoch": 3.0}), file=out)
    train.close()
    save("huggingface.log", out)


def huggingface_steps():
    """Before release 4: bars of epochs and of an epoch's steps, the run's step in the dict."""
    out = io.StringIO()
    epochs = bar(out, total=3, desc="Epoch")
    for epoch in range(3):
        steps = bar(out, total=50, desc="Iteration")
        for i in range(1, 51):
            CLOCK.now += 0.8
            steps.update()
            step = epoch * 50 + i
            if step % 10 == 0:
                steps.write(str({"loss": loss_at(step / 150), "learning_rate": 5e-05 * (1 - step / 150),
                                 "epoch": step / 50, "step": step}), file=out)
        steps.close()
        epochs.update()
    epochs.close()
    save("huggingface-steps.log", out)


def keras_bar_2(current, target, metrics, took, last):
    width = 30
    numdigits = int(math.log10(target)) + 1
    prefix = ("%" + str(numdigits) + "d/%d [") % (current, target)
    filled = int(width * float(current) / target)
    text = prefix
    if filled > 0:
        text += "=" * (filled - 1) + (">" if current < target else "=")
    text += "." * (width - filled) + "]"
    if last:
        text += f" - {took:.0f}s {took / target * 1000:.0f}ms/step"
    else:
        text += f" - ETA: {took / current * (target - current):.0f}s"
    for name, value in metrics:
        text += f" - {name}: {value:.4f}" if abs(value) > 1e-3 else f" - {name}: {value:.4e}"
    return text


def keras_bar_3(current, target, metrics, took, last):
    width = 20
    numdigits = int(math.log10(target)) + 1
    filled = int(width * float(current) / target)
    text = ("\x1b[1m%" + str(numdigits) + "d/%d\x1b[0m ") % (current, target)
    text += f"\x1b[32m{'━' * filled}\x1b[0m\x1b[37m{'━' * (width - filled)}\x1b[0m"
    seconds = took if last else took / current * (target - current)
    text += f" \x1b[1m{seconds:.0f}s\x1b[0m {took / current * 1000:.0f}ms/step"
    for name, value in sorted(metrics):
        text += f" - {name}: {value:.4f}" if abs(value) > 1e-3 else f" - {name}: {value:.4e}"
    return text


def keras(name, draw, epochs, steps, evaluate):
    out = io.StringIO()
    for epoch in range(epochs):
        out.write(f"Epoch {epoch + 1}/{epochs}\n")
        width = 0
        for i in range(1, steps + 1):
            x = (epoch * steps + i) / (epochs * steps)
            metrics = [("loss", loss_at(x)), ("accuracy", 1 - loss_at(x) / 3)]
            if i == steps:
                metrics += [("val_loss", loss_at(x) + 0.1), ("val_accuracy", 0.8)]
            text = draw(i, steps, metrics, i * 0.025, i == steps)
            out.write("\b" * width + "\r" + text + ("\n" if i == steps else ""))
            width = len(text)
        if evaluate:
            for i in range(1, 8):
                out.write("\r" + draw(i, 7, [("loss", 9.5)], i * 0.01, i == 7) + ("\n" if i == 7 else ""))
    save(name, out)


def keras_lines():
    """verbose=2"""
    out = io.StringIO()
    for epoch in range(5):
        x = (epoch + 1) / 5
        out.write(f"Epoch {epoch + 1}/5\n")
        out.write(f"469/469 - 3s - loss: {loss_at(x):.4f} - accuracy: 0.9210 - val_loss: {loss_at(x) + 0.1:.4f} - "
                  "val_accuracy: 0.9100 - 3s/epoch - 6ms/step\n")
    save("keras-verbose-2.log", out)


def xgboost():
    import numpy
    import xgboost as xgb

    rng = numpy.random.RandomState(1)
    x = rng.rand(400, 5)
    y = x[:, 0] * 3 + x[:, 1] ** 2 + 0.1 * rng.randn(400)
    train, valid = xgb.DMatrix(x[:300], y[:300]), xgb.DMatrix(x[300:], y[300:])
    lines, write = io.StringIO(), sys.stdout
    sys.stdout = lines
    try:
        xgb.train({"max_depth": 3, "eta": 0.2}, train, 40, evals=[(valid, "valid"), (train, "train")])
        save("xgboost.log", lines)
        lines.seek(0)
        lines.truncate()
        xgb.cv({"max_depth": 3, "eta": 0.2}, train, 20, nfold=3, verbose_eval=True, metrics=["mae", "rmse"])
    finally:
        sys.stdout = write
    save("xgboost-cv.log", lines)


random.seed(1)
for record in (tqdm_postfix, tqdm_unknown_total, tqdm_nested, tqdm_per_epoch, tqdm_download, lightning,
               huggingface, huggingface_steps, keras_lines, xgboost):
    record()
keras("keras-2.log", keras_bar_2, 3, 60, True)
keras("keras-3.log", keras_bar_3, 3, 60, False)
