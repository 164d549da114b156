"""What every registered latent method must keep. The second is a bug in a released code base of this field."""

import pytest
import torch
from torch import nn

from actonym import methods, presets
from actonym.methods import LatentMethod
from actonym.train.phase import Batch, Recognizers

LATENT = [name for name, method in methods.registry().items() if issubclass(method, LatentMethod)]
DIM = 32


@pytest.fixture(params=LATENT)
def method(request):
    torch.manual_seed(0)
    return methods.create(request.param, "stage", [f"method.dim={DIM}"]).eval()


def features(batch=3, clips=4):
    return torch.rand(batch, clips, DIM, generator=torch.Generator().manual_seed(0))


@torch.inference_mode()
def run(method, x, present=None):
    return method(x, present)


@pytest.mark.parametrize("clips", [1, 4, 9])
def test_same_shape_and_finite(method, clips):
    out = run(method, features(clips=clips))
    assert out.shape == (3, clips, DIM) and out.isfinite().all()


def test_a_video_does_not_depend_on_its_neighbours_in_the_batch(method):
    x = features()
    other = x.clone()
    other[0], other[2] = -x[0], 5 * x[2]
    alone = run(method, x[1:2])
    assert torch.allclose(run(method, x)[1:2], alone, atol=1e-5)
    assert torch.allclose(run(method, other)[1:2], alone, atol=1e-5)


def test_clips_that_are_not_there_change_nothing(method):
    x = features()
    present = torch.tensor([[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]]).bool()
    padded = x.clone()
    padded[~present] = 99.0
    out = run(method, padded, present)
    for row, count in enumerate(present.sum(1).tolist()):
        assert torch.allclose(out[row, :count], run(method, x[row : row + 1, :count])[0], atol=1e-4)


def test_save_then_load_gives_the_same_output(method, tmp_path):
    methods.save(method, tmp_path / "checkpoint")
    again = methods.load(tmp_path / "checkpoint")
    assert torch.equal(run(again, features()), run(method, features()))


def test_gradients_reach_every_trainable_parameter_in_some_phase(method):
    wanted = {name for name, p in method.named_parameters() if p.requires_grad}
    reached: set[str] = set()
    for phase in method.phases(Recognizers(nn.Identity(), nn.Identity(), actions=3, attributes=2)):
        method.train()

        def update(optimizer, loss, retain_graph=False, phase=phase):
            owned = [p for group in phase.optimizers[optimizer].param_groups for p in group["params"]]
            grads = torch.autograd.grad(loss, owned, retain_graph=True, allow_unused=True)
            moved = {id(p) for p, g in zip(owned, grads, strict=True) if g is not None and g.abs().sum() > 0}
            reached.update(name for name, p in method.named_parameters() if id(p) in moved)

        batch = Batch(features(4, 7), torch.tensor([0, 1, 2, 0]), torch.eye(2)[[0, 1, 0, 1]], None, torch.arange(4))
        phase.step(batch, update)
    assert wanted <= reached, f"never reached: {sorted(wanted - reached)}"


def test_presets_build_the_method(method):
    for preset in presets.names(method.name):
        assert type(methods.create(method.name, preset)) is type(method)
