# SPDX-License-Identifier: LGPL-2.1-or-later
"""PyTorch Lightning: tells the governor how far the training is, saves a checkpoint when one is asked for,
and follows the allocation with PyTorch's threads.

    trainer = lightning.Trainer(callbacks=[GovernorCallback(monitor="val_loss", checkpoint="last.ckpt")])

Outside of a governed job it does nothing. (Lightning's own progress lines are understood without it.)
"""
import schedgov

try:
    from lightning.pytorch.callbacks import Callback
except ImportError:
    from pytorch_lightning.callbacks import Callback


def _set_threads(allocation):
    import torch
    torch.set_num_threads(allocation.threads)


class GovernorCallback(Callback):
    def __init__(self, monitor="loss", checkpoint=None, set_threads=_set_threads):
        self.monitor, self.checkpoint, self.wanted = monitor, checkpoint, False
        schedgov.on_allocation(set_threads)
        if checkpoint:
            schedgov.on_checkpoint(self._ask)

    def _ask(self, _id, _why):
        self.wanted = True

    def _loss(self, trainer, outputs):
        """The monitored metric, else what the step returned."""
        value = trainer.callback_metrics.get(self.monitor)
        if value is None:
            value = outputs.get("loss") if isinstance(outputs, dict) else outputs
        return None if value is None else float(value)

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        total = trainer.num_training_batches
        schedgov.epoch(self._loss(trainer, outputs), trainer.current_epoch + 1,
                       trainer.max_epochs if trainer.max_epochs and trainer.max_epochs > 0 else None,
                       batch_idx + 1, total if isinstance(total, int) else None)
        schedgov.dispatch()
        if self.wanted:
            self.wanted = False
            trainer.save_checkpoint(self.checkpoint)
            schedgov.checkpointed()
