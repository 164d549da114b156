"""What every registered method must keep. Each is a bug in a released code base of this field."""

import inspect

import pytest
import torch

from actonym import methods, presets
from actonym.data.clips import Clips
from actonym.methods import PixelMethod
from actonym.train.phase import Batch, Recognizers

PIXEL = [name for name, method in methods.registry().items() if issubclass(method, PixelMethod)]


@pytest.fixture(params=PIXEL)
def method(request):
    return methods.create(request.param).eval()


def clip_of(method, *, batch=2, frames=None, size=(64, 64), seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(batch, 3, frames or method.working_frames, *size, generator=generator)


def mask_of(clip):
    """Two people in every frame: person 1 on the left, person 2 on the right."""
    mask = torch.zeros_like(clip[:, :1])
    h, w = clip.shape[-2:]
    mask[..., h // 4 : h // 2, : w // 4] = 1
    mask[..., h // 2 :, w // 2 :] = 2
    return mask


def run(method, clip, mask=None):
    with torch.inference_mode():
        return method(clip, mask)


def test_every_method_has_a_card(method):
    assert method.card.title and method.card.idea.endswith(".") and method.card.paper and method.card.year >= 2015


def test_live_knobs_are_knobs_settings_and_attributes(method):
    assert method.card.live <= method.card.knobs.keys() & inspect.signature(type(method).__init__).parameters.keys()
    assert all(hasattr(method, name) for name in method.card.live)


def test_same_shape_finite_and_in_range(method):
    clip = clip_of(method)
    for mask in (None, mask_of(clip)):
        out = run(method, clip, mask)
        assert out.shape == clip.shape
        assert out.isfinite().all() and out.min() >= 0 and out.max() <= 1


@pytest.mark.parametrize(("frames", "size"), [(1, (64, 64)), (5, (64, 64)), (16, (63, 65)), (16, (48, 80))])
def test_short_clips_and_odd_sizes(method, frames, size):
    clip = clip_of(method, frames=frames, size=size)
    assert run(method, clip, mask_of(clip)).shape == clip.shape


def test_deterministic_in_eval_mode(method):
    clip = clip_of(method)
    assert torch.equal(run(method, clip), run(method, clip))


def test_output_does_not_depend_on_neighbours_in_the_batch(method):
    """Up to rounding: a matrix product may sum in another order for another batch size."""
    clip = clip_of(method, batch=3)
    mask = mask_of(clip)
    alone = run(method, clip[1:2], mask[1:2])
    others = clip.clone()
    others[0], others[2] = 1 - clip[0], clip[2].flip(-1)
    assert torch.allclose(run(method, clip, mask)[1:2], alone, atol=1e-5)
    assert torch.allclose(run(method, others, mask)[1:2], alone, atol=1e-5)


def test_input_is_left_alone(method):
    clip = clip_of(method)
    before = clip.clone()
    run(method, clip, mask_of(clip))
    assert torch.equal(clip, before)


def test_colour_planes_are_not_mixed_up_with_time(method):
    """A change of one frame must not reach, at full strength, a frame far away in time; nor planes swap places.

    Each plane of each frame has its own level; a method that reshapes [B, C, T] wrongly puts them in another order.
    Methods that learn may mix colours, so this looks at the methods without weights to learn.
    """
    if any(True for _ in method.parameters()):
        pytest.skip("learned methods may recolour")
    frames = method.working_frames
    level = (torch.arange(3 * frames).view(3, frames) + 1) / (3 * frames + 2)
    clip = level[None, :, :, None, None].expand(2, 3, frames, 64, 64).contiguous()
    out = run(method, clip, torch.zeros_like(clip[:, :1]))
    assert torch.allclose(out, clip, atol=1e-5), "flat planes without people must come out as they are"


def test_frames_stay_in_their_order(method):
    """Reversed in, reversed out, for methods that treat every frame alike."""
    if any(True for _ in method.parameters()):
        pytest.skip("learned methods may treat time as directed")
    clip = clip_of(method)
    mask = mask_of(clip)
    assert torch.allclose(run(method, clip.flip(2), mask.flip(2)), run(method, clip, mask).flip(2), atol=1e-6)


def test_save_then_load_gives_the_same_output(method, tmp_path):
    clip = clip_of(method)
    methods.save(method, tmp_path / "checkpoint")
    again = methods.load(tmp_path / "checkpoint")
    assert type(again) is type(method) and not again.training
    assert torch.equal(run(again, clip), run(method, clip))
    card = (tmp_path / "checkpoint" / "README.md").read_text()
    assert card.startswith(f"# {method.card.title}\n") and method.card.idea in card and method.card.paper in card


def test_gradients_reach_every_trainable_parameter_in_some_phase(method):
    """A method whose parameters no phase moves would ship untrained."""
    wanted = {name for name, p in method.named_parameters() if p.requires_grad}
    net = torch.nn.Sequential(torch.nn.AdaptiveAvgPool3d((2, 4, 4)), torch.nn.Flatten(), torch.nn.Linear(96, 5))
    clip = clip_of(method)
    reached: set[str] = set()
    target = Clips((255 * clip).to(torch.uint8), torch.zeros(2, dtype=torch.long), torch.zeros(2, 5), ["", ""])
    learn_with = Recognizers(net, net, lambda: net, lambda: net, actions=5, attributes=5, target=target)
    for phase in method.phases(learn_with):

        def update(optimizer, loss, retain_graph=False, phase=phase):
            owned = [p for group in phase.optimizers[optimizer].param_groups for p in group["params"]]
            grads = torch.autograd.grad(loss, owned, retain_graph=True, allow_unused=True)
            moved = {id(p) for p, g in zip(owned, grads, strict=True) if g is not None and g.abs().sum() > 0}
            reached.update(name for name, p in method.named_parameters() if id(p) in moved)

        batch = Batch(clip, torch.tensor([0, 1]), torch.eye(5)[:2], mask_of(clip), torch.arange(2))
        phase.step(batch, update)
    assert wanted <= reached, f"never reached: {sorted(wanted - reached)}"


def test_presets_build_the_method(method):
    for preset in presets.names(method.name) or ["stage", "paper"]:
        assert type(methods.create(method.name, preset)) is type(method)
