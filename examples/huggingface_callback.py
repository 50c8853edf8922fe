# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hugging Face Trainer: tells the governor how far the training is, saves when a checkpoint is asked for,
and follows the allocation with PyTorch's threads.

    trainer = transformers.Trainer(..., callbacks=[GovernorCallback()])

Outside of a governed job it does nothing. (The Trainer's own log lines are understood without it.)
"""
import schedgov
from transformers import TrainerCallback


def _set_threads(allocation):
    import torch
    torch.set_num_threads(allocation.threads)


class GovernorCallback(TrainerCallback):
    def __init__(self, monitor="loss", set_threads=_set_threads):
        self.monitor, self.wanted, self.saving = monitor, False, False
        schedgov.on_allocation(set_threads)
        schedgov.on_checkpoint(self._ask)

    def _ask(self, _id, _why):
        self.wanted = True

    def on_log(self, args, state, control, logs=None, **kwargs):
        value = (logs or {}).get(self.monitor)
        if value is not None:
            schedgov.progress(float(value), state.global_step, state.max_steps)

    def on_step_end(self, args, state, control, **kwargs):
        schedgov.step(state.global_step, state.max_steps)
        schedgov.dispatch()
        if self.wanted:
            self.wanted, self.saving = False, True
            control.should_save = True
        return control

    def on_save(self, args, state, control, **kwargs):
        if self.saving:
            self.saving = False
            schedgov.checkpointed()
