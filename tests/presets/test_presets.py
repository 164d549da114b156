import re

import pytest

from actonym import methods, presets
from actonym.bench.measure import choose_attackers, parse_attacker
from actonym.data.base import registry
from actonym.errors import UserError
from actonym.nets.heads import head
from actonym.nets.recognizers import build, sees_frames
from actonym.spec import assign
from actonym.tasks.presets import TASKS
from actonym.train.fit import Fit

FILES = sorted(presets.FOLDER.glob("*/*.yaml"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_preset_loads_and_states_its_sources(path):
    assert presets.load(path.parent.name, path.stem)
    assert path.parent.name in {"evaluation", "attackers", "reconstruction", *TASKS, *methods.registry()}
    text = path.read_text()
    assert re.search(r"\b(ours|STPrivacy|paper|release|\d\.\d)", text), "a preset says where its values are from"


@pytest.mark.parametrize("preset", presets.names("evaluation"))
def test_evaluation_presets_name_what_exists(preset):
    plan = presets.load("evaluation", preset)
    nets, clip = plan["recognizer"]["net"], plan["clip"]

    def made(net, outputs):
        heads = "encoder" in plan or preset == "features"
        return head(net, outputs, 8) if heads else build(net, outputs, clip["frames"], clip["size"])

    for net in [nets] if isinstance(nets, str) else nets:
        made(net, 12)
    own = [plan["attack"]["fit"] | more for more in plan["attack"].get("own", {}).values()]
    for section in (plan["recognizer"]["fit"], plan["attack"]["fit"], plan["attack"]["finetune"], *own):
        Fit(**section)
    attackers = [parse_attacker(name) for name in plan["attackers"]]
    for attack, net, start in attackers:
        made(net, 5)
        assert start == "scratch" or (attack, net) in {(a, n) for a, n, s in attackers if s == "scratch"}


def test_paper_evaluation_is_the_papers():
    """STPrivacy 4.2 and 4.3: 16x112x112 clips, 5 clips x 3 crops, ViT-S, 80 epochs, lr 0.001 x batch / 512."""
    plan = presets.load("evaluation", "paper")
    assert plan["clip"] == {"frames": 16, "size": 112, "rate": None, "clips": 5, "crops": 3}
    rates = {name: cls.card.rate for name, cls in registry().items()}
    genpriv = {"tp-ucf", "tp-hmdb", "hmdb11", "arid", "arid11", "kinetics7", "nec-drone", "nec-drone7"}
    assert {name for name, rate in rates.items() if rate == 4} == {"ucf101", "vp-ucf101", *genpriv}, "4.3"
    assert rates["vp-hmdb51"] == rates["celebv-hq"] == rates["p-hvu"] == 2, "4.3 and 4.8"
    fit = plan["recognizer"]["fit"]
    assert plan["recognizer"]["net"] == "vit-small" and fit["epochs"] == 80
    assert fit["rounds"] == 1 and fit["rise"] <= 0.05, "80 epochs along a cosine"
    assert fit["lr"] == pytest.approx(0.001 * fit["batch_size"] / 512) and fit["weight_decay"] == 0.05


def test_unknown_preset_suggests_the_nearest():
    with pytest.raises(UserError, match="did you mean 'stage'"):
        presets.load("evaluation", "stagee")


@pytest.mark.parametrize("preset", presets.names("attackers"))
def test_many_attackers_are_different_networks_on_images_and_on_video(preset):
    plan = presets.load("evaluation", preset)
    (change,) = choose_attackers("many", preset)
    names = assign(plan, [change])["attackers"]
    assert names[: len(plan["attackers"])] == plan["attackers"], "the evaluation's own come first"
    nets = {parse_attacker(name)[1] for name in names}
    for net in nets:
        assert build(net, 5, plan["clip"]["frames"], plan["clip"]["size"]) is not None
    assert len(nets) >= 8 and len(set(names)) == len(names)
    starts = [parse_attacker(name) for name in names]
    assert all((*one[:2], "scratch") in starts for one in starts), "what is fine-tuned was trained on raw video first"
    assert sum(start == "raw" for *_, start in starts) >= 6
    assert {sees_frames(net) for net in nets} == {True, False}


def test_few_attackers_are_the_plans_own():
    assert choose_attackers("few", "stage") == []
    with pytest.raises(UserError, match="set of attackers"):
        choose_attackers("all", "stage")
    with pytest.raises(UserError, match="preset of attackers"):
        choose_attackers("many", "frozen")


@pytest.mark.parametrize("preset", ["stage", "paper"])
def test_the_variants_of_stprivacy_are_the_papers_figure_4(preset):
    """Five factors, each changed by itself, on both presets."""
    own = methods.base.settings("stprivacy", preset)
    factors: dict[str, list[str]] = {}
    elsewhere = {"stage": "alpha-0.5", "paper": "alpha-0.7"}[preset]  # its own value: no variant of itself
    with pytest.raises(UserError, match=f"not of {preset}"):
        methods.base.settings(f"stprivacy@{elsewhere}", preset)
    for name in presets.names("stprivacy"):
        if name not in ("stage", "paper", elsewhere):
            other = methods.base.settings(f"stprivacy@{name}", preset)
            changed = {(s, key) for s in ("method", "train") for key in own[s] if other[s][key] != own[s][key]}
            assert len(changed) == 1, name
            factors.setdefault(other["factor"], []).append(other["label"])
    assert set(factors) == {"mechanism", "alpha", "temporal length", "lambda_Action", "lambda_Privacy"}
    assert {float(alpha) for alpha in factors["alpha"]} == {0.5, 0.6, 0.7, 0.8, 0.9} - {own["method"]["keep"]}
    assert set(factors["temporal length"]) == {"1", "4"}
    weights = [
        methods.base.settings(f"stprivacy@privacy-{name}", preset)["train"]["privacy"] for name in ("half", "twice")
    ]
    assert weights == [own["train"]["privacy"] / 2, own["train"]["privacy"] * 2]
