"""From a dataset to the batches of an epoch, in an order that only the seed, the phase and the epoch decide."""

import random
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from actonym.data.clips import Clips, to_floats
from actonym.errors import UserError
from actonym.train.augment import NOISE
from actonym.train.phase import Batch, Phase

if TYPE_CHECKING:
    from lightning_fabric import Fabric

# video uint8 [3, T, H, W] (floats pass as they are: features), action, privacy, mask. The same whenever asked for.
Item = tuple[Tensor, Tensor, Tensor, Tensor | None]
Data = Clips | Dataset[Item]


def derive(*key: int | str) -> int:
    """A seed from what it is for: no state of a generator has to be kept to get the same numbers again."""
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest()) >> 1


def reseed(*key: int | str) -> None:
    """Seed every global generator."""
    number = derive(*key)
    # Not torch.manual_seed: without a GPU in use it queues a call with a formatted stack, in every step (a millisecond,
    # and memory that is never freed).
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)
    np.random.seed(number % 2**32)
    random.seed(number)


class Batches:
    """The batches of one phase. Each process takes its part of the same global batches."""

    def __init__(self, data: Data, phase: Phase, position: int, seed: int, fabric: "Fabric", workers: int = 0) -> None:
        self.data, self.augment, self.fabric, self.workers = data, phase.augment, fabric, workers
        self.key = (seed, position)
        self.epochs = phase.epochs
        self.length = len(data)  # type: ignore[arg-type]
        world = fabric.world_size
        if phase.batch_size % world:
            raise UserError(f"a batch of {phase.batch_size} cannot be shared by {world} processes: choose a multiple")
        if self.length < world:
            raise UserError(f"cannot train on {self.length} clips with {world} process(es)")
        self.size = min(phase.batch_size, self.length // world * world)
        self.steps = -(-self.length // self.size)  # in an epoch
        part = self.size // world
        self.part = slice(fabric.global_rank * part, (fabric.global_rank + 1) * part)

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """The batches of an epoch from its step `start` on."""
        order = self._order(epoch)[start:, self.part]
        steps = range(epoch * self.steps + start, (epoch + 1) * self.steps)
        noise = [self._noise(step) for step in steps]
        for step, index, numbers, item in zip(steps, order, noise, self._items(order, noise), strict=True):
            yield self._batch(index, numbers, item, step / (self.epochs * self.steps))

    def _order(self, epoch: int) -> Tensor:
        """Positions `[steps, size]`: all once in random order, the last batch filled up from the front."""
        generator = torch.Generator().manual_seed(derive("order", *self.key, epoch))
        order = torch.randperm(self.length, generator=generator)
        return order[torch.arange(self.steps * self.size) % self.length].view(self.steps, self.size)

    def _noise(self, step: int) -> Tensor:
        """Drawn for the global batch, then cut: the same for a clip whichever process has it."""
        generator = torch.Generator().manual_seed(derive("augment", *self.key, step))
        return torch.rand(self.size, NOISE, generator=generator)[self.part]

    def _items(self, order: Tensor, noise: list[Tensor]) -> Iterable[Item]:
        if isinstance(self.data, Clips):
            return (_gather(self.data, index, numbers) for index, numbers in zip(order, noise, strict=True))
        return DataLoader(self.data, batch_sampler=order.tolist(), num_workers=self.workers, collate_fn=_collate)

    def _batch(self, index: Tensor, noise: Tensor, item: Item, progress: float) -> Batch:
        video, action, privacy, mask = item
        if self.augment is not None:
            video, mask = self.augment(video, mask, noise)
        place = self.fabric.to_device
        return Batch(
            clip=to_floats(place(video)),
            action=place(action),
            privacy=place(privacy),
            mask=None if mask is None else place(mask).float(),
            index=place(index),
            progress=progress,
        )


def _gather(clips: Clips, index: Tensor, noise: Tensor) -> Item:
    """One copy, of bytes. Of a video with several clips one is taken at random."""
    where = index * clips.views + (noise[:, -1] * clips.views).long().clamp_(max=clips.views - 1)
    mask = None if clips.mask is None else clips.mask[where]
    return clips.video[where], clips.action[index], clips.privacy[index], mask


def _collate(items: list[Item]) -> Item:
    video, action, privacy, mask = zip(*items, strict=True)
    actions = torch.stack([torch.as_tensor(label) for label in action])
    return torch.stack(video), actions, torch.stack(privacy), None if mask[0] is None else torch.stack(mask)
