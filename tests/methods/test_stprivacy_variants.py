"""Every variant of figure 4 can be trained and shows what it is about."""

import pytest
import torch
from game import recognizers

from actonym import methods, presets
from actonym.data.clips import Clips
from actonym.nets.tubelets import cut
from actonym.train import make_fabric, run

FRAMES, SIDE = 8, 32
SMALL = ["method.dim=24", "method.heads=2", f"method.frames={FRAMES}", f"method.side={SIDE}"]
SHORT = [f"train.{phase}=1" for phase in ("rehearsal", "drill", "initialization", "adversarial")]
SHORT += ["train.batch_size=2", "train.crowd=1", "train.attacker_steps=1"]
OWN = {"stage": "alpha-0.5", "paper": "alpha-0.7"}  # a preset's own value is no variant of it
VARIANTS = [(name, preset) for preset in OWN for name in presets.names("stprivacy") if name not in (*OWN, OWN[preset])]


def clips(several):
    torch.manual_seed(0)
    video = torch.randint(0, 256, (4, 3, FRAMES, SIDE, SIDE), dtype=torch.uint8)
    one = torch.arange(4) % 3
    action = torch.nn.functional.one_hot(one).float() if several else one
    return Clips(video, action, torch.randint(0, 2, (4, 5)).float(), [""] * 4)


@pytest.mark.parametrize("several", [False, True], ids=["one action", "several actions"])
@pytest.mark.parametrize(("variant", "preset"), VARIANTS)
def test_one_step_of_every_phase(variant, preset, several):
    settings = methods.base.settings(f"stprivacy@{variant}", preset)
    more = [text for text in SHORT if settings["train"].get(text.partition("=")[0].removeprefix("train."))]
    if preset == "paper":
        more += ["train.wait=1", "method.blocks=[1, 1, 1]", "method.layers=1", "method.patch=8"]
    method = methods.create(f"stprivacy@{variant}", preset, SMALL + more)
    before = {key: value.clone() for key, value in method.state_dict().items()}
    phases = method.phases(recognizers())
    history = run(phases, clips(several), fabric=make_fabric(accelerator="cpu"), seed=0, progress=False)
    for phase in history.phases:
        assert phase.losses and all(torch.tensor(curve).isfinite().all() for curve in phase.losses.values())
    assert any(not torch.equal(before[key], value) for key, value in method.state_dict().items())
    tubelets = cut(method.eval()(clips(several).video / 255), method.tubelet)
    places = tubelets.shape[2]
    dropped = (tubelets.amax(-1) == 0).float().mean().item()
    assert dropped == pytest.approx(1 - method.count(places, 3) / places)
    assert (dropped == 0) == (variant == "anonymization")
