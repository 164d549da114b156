import pytest
import torch

from actonym.train.schedule import constant, cosine, one_cycle, warm_up


def test_values_at_the_ends_and_between() -> None:
    assert [constant(p) for p in (0, 0.5, 1)] == [1, 1, 1]
    assert [cosine(p) for p in (0, 0.5, 1)] == pytest.approx([1, 0.5, 0])
    assert [one_cycle(p) for p in (0, 0.3, 1)] == pytest.approx([0.04, 1, 4e-6])
    rise = warm_up(0.2, cosine)
    assert [rise(p) for p in (0, 0.1, 0.2, 0.6, 1)] == pytest.approx([0, 0.5, 1, 0.5, 0])


def test_one_cycle_is_torchs() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=101, cycle_momentum=False)
    # torch puts the peak at step 0.3 * 101 - 1 of 100, we at 0.3 of the phase
    rise = (0.3 * 101 - 1) / 100
    for step in range(101):
        assert one_cycle(step / 100, rise) == pytest.approx(optimizer.param_groups[0]["lr"], abs=1e-9)
        optimizer.step()
        if step < 100:
            scheduler.step()
