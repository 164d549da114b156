"""Every learned method can be trained as its paper preset says, with the networks that it names."""

import pytest
import torch

from actonym import methods, presets
from actonym.data.clips import Clips
from actonym.methods import PixelMethod
from actonym.train import make_fabric, run
from actonym.train.command import networks, recognizers

LEARNED = [name for name, cls in methods.registry().items() if issubclass(cls, PixelMethod) and cls.game]
PAPERS = {  # action recognizer and privacy network
    "bdq": ("r3d50", "resnet50"),
    "collective": ("vit-small", "resnet50"),
    "spact": ("r3d18", "resnet50"),
    "stprivacy": ("vit-small", "vit-small"),
    "ted-spad": ("i3d", "resnet50"),
    "vita": ("r2plus1d18", "mobilenet"),
}
FRAMES, SIDE = 4, 32
ONCE = ("rehearsal", "wait", "initialization", "adversarial")


class Data:
    actions, attributes = ("run", "jump"), ("face", "gender")


def clips(seed=0):
    torch.manual_seed(seed)
    video = torch.randint(0, 256, (2, 3, FRAMES, SIDE, SIDE), dtype=torch.uint8)
    return Clips(video, torch.tensor([0, 1]), torch.tensor([[0.0, 1.0], [1.0, 0.0]]), ["a", "b"])


def small(name):
    """The paper's preset, of which only how often and on how many pixels it learns is less."""
    train = methods.base.settings(name, "paper")["train"]
    said = [f"train.{key}=1" for key in ONCE if train.get(key)] + ["train.batch_size=2", f"method.side={SIDE}"]
    said += [f"method.frames={FRAMES}"] if name == "stprivacy" else []
    said += ["train.warm_up=0"] if "warm_up" in train else []  # the first of its steps would be of no size
    said += ["train.domain.epochs=1"] if "domain" in train else []
    return methods.create(name, "paper", said)


@pytest.mark.parametrize("name", LEARNED)
def test_one_step_of_every_phase(name):
    plan = presets.load("evaluation", "paper")
    plan["clip"] |= {"frames": FRAMES, "size": SIDE}
    method = small(name)
    assert networks(plan, method.networks) == PAPERS[name.partition("+")[0]]
    nets = recognizers(plan, Data, clips(1), method.networks)
    nets.target = clips(2)
    before = {key: value.clone() for key, value in method.state_dict().items()}
    phases = method.phases(nets)
    history = run(phases, clips(), fabric=make_fabric(accelerator="cpu"), seed=0, progress=False)
    assert [phase.name for phase in history.phases] == [phase.name for phase in phases]
    for phase in history.phases:
        assert all(torch.tensor(curve).isfinite().all() for curve in phase.losses.values()), phase.name
    assert any(not torch.equal(before[key], value) for key, value in method.state_dict().items())


def test_networks_can_be_chosen():
    method = methods.create("spact:networks.action=d3d", "stage")
    plan = presets.load("evaluation", "stage")
    assert networks(plan, method.networks) == ("d3d", "frame")
    assert networks(plan, methods.create("spact", "stage", ["networks.privacy=resnet50"]).networks) == (
        "d3d",
        "resnet50",
    )


@pytest.mark.parametrize("name", LEARNED)
def test_what_a_preset_leaves_out_can_be_set_too(name):
    """Those that only the other preset names are there at their defaults."""
    stage, paper = (methods.base.settings(name, preset)["train"] for preset in ("stage", "paper"))
    assert stage.keys() == paper.keys()
