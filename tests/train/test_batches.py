"""Order, parts and views. Processes are stood in for by objects that say which one they are."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from tiny import clips
from torch import Tensor

from actonym.data.clips import Clips
from actonym.errors import UserError
from actonym.train import Phase
from actonym.train.batches import Batches, derive


def batches(data: Clips, size: int, world: int = 1, rank: int = 0, seed: int = 0, augment: bool = True) -> Batches:
    fabric = SimpleNamespace(world_size=world, global_rank=rank, to_device=lambda tensor: tensor)
    phase = Phase("p", 1, lambda batch, update: {}, {}, {}, batch_size=size)
    if not augment:
        phase.augment = None
    return Batches(data, phase, 0, seed, fabric)  # type: ignore[arg-type]


def test_an_epoch_has_every_clip_and_each_its_own_order() -> None:
    part = batches(clips(24), 10)
    orders = [torch.cat([batch.index for batch in part.epoch(epoch)]).tolist() for epoch in (0, 1, 0)]
    assert part.steps == 3 and set(orders[0]) == set(range(24)) and len(orders[0]) == 30
    assert all(len(set(orders[0][at : at + 10])) == 10 for at in (0, 10, 20))  # no clip twice in a batch
    assert orders[0] == orders[2] != orders[1]


def test_an_epoch_can_be_entered_in_the_middle() -> None:
    part = batches(clips(24), 8)
    for whole, late in zip(list(part.epoch(3))[1:], part.epoch(3, start=1), strict=True):
        assert torch.equal(whole.index, late.index) and torch.equal(whole.clip, late.clip)


def test_the_parts_of_two_processes_make_up_the_batch_of_one() -> None:
    one, *two = (list(batches(clips(24), 8, world, rank).epoch(0)) for world, rank in ((1, 0), (2, 0), (2, 1)))
    for whole, first, second in zip(one, *two, strict=True):
        for name in ("clip", "action", "privacy", "mask", "index"):
            assert torch.equal(getattr(whole, name), torch.cat([getattr(first, name), getattr(second, name)]))


def test_labels_belong_to_their_clips() -> None:
    data = clips(24)
    for batch in batches(data, 8, augment=False).epoch(0):
        assert torch.equal(batch.clip, data.video[batch.index].float() / 255)
        assert torch.equal(batch.action, data.action[batch.index])
        assert torch.equal(batch.privacy, data.privacy[batch.index])
        assert data.mask is not None and batch.mask is not None
        assert torch.equal(batch.mask, data.mask[batch.index].float())


def test_one_of_several_clips_of_a_video_is_taken() -> None:
    video = torch.arange(12, dtype=torch.uint8).view(12, 1, 1, 1, 1).expand(12, 3, 2, 2, 2).contiguous()
    data = Clips(video, torch.arange(4), torch.zeros(4, 1), ["s"] * 4, views=3)
    part = batches(data, 4, augment=False)
    taken: set[int] = set()
    for epoch in range(20):
        for batch in part.epoch(epoch):
            number: Tensor = (batch.clip[:, 0, 0, 0, 0] * 255).round().long()
            assert torch.equal(number // 3, batch.index)
            taken |= set(number.tolist())
    assert taken == set(range(12))


def test_sizes_that_do_not_fit() -> None:
    assert next(iter(batches(clips(5), 16).epoch(0))).clip.shape[0] == 5
    assert batches(clips(5), 16, world=2).size == 4
    with pytest.raises(UserError, match="cannot be shared by 3 processes"):
        batches(clips(5), 16, world=3)
    with pytest.raises(UserError, match="cannot train on 0 clips"):
        data = clips(1)
        batches(replace(data, video=data.video[:0], action=data.action[:0]), 16)


def test_derived_seeds_do_not_change_between_releases() -> None:
    assert derive("step", 0, 1, 2) == derive("step", 0, 1, 2) != derive("step", 0, 12)
    assert derive("order", 0, 0, 0) == 3393784087276941071


def test_batches_say_how_far_the_phase_has_come() -> None:
    part = batches(clips(24), 8)
    part.epochs = 2
    seen = [batch.progress for epoch in range(2) for batch in part.epoch(epoch)]
    assert seen == [step / 6 for step in range(6)]
    assert [batch.progress for batch in part.epoch(1, start=1)] == seen[4:]
