"""The second stage: two worlds look alike, without labels of the target; refused where there is no target."""

import json
from math import exp

import pytest
import torch
from game import batch_of, clips, losses, recognizers
from torch.nn.functional import cross_entropy

from actonym import methods
from actonym.bench.candidate import candidate
from actonym.data.clips import Clips
from actonym.errors import UserError
from actonym.methods.dann import Adaptation, growing
from actonym.methods.spact import SPAct, SPActGame
from actonym.nets.reversal import reverse
from actonym.train import make_fabric, run
from actonym.train.command import train


def adaptation(adapt="recognizer", target=None, **settings):
    torch.manual_seed(0)
    game = SPActGame(SPAct(2, 16), recognizers(), hidden_layer=8, embedding=4)
    return Adaptation(game, target or clips(8, seed=3), adapt=adapt, hidden_layer=6, **settings)


@pytest.mark.parametrize("name", ["vita+dann", "spact+dann"])
def test_without_a_target_it_is_refused(name):
    method = methods.create(name)
    assert "domain" in method.card.needs
    with pytest.raises(UserError, match=f"{name.split('+')[0]}.dann needs unlabelled videos"):
        method.phases(recognizers())
    nets = recognizers()
    nets.target = clips(4)
    assert [phase.name for phase in method.phases(nets)][-2:] == ["adversarial", "domain"]


def test_a_bench_tells_at_once_that_it_has_no_target():
    with pytest.raises(UserError, match="train it with actonym train --target NAME, then name its folder"):
        candidate("spact+dann", "stage")


def test_the_paper_preset_leaves_the_anonymizer_as_it_is():
    with torch.device("meta"):
        settings = methods.create("spact+dann", "paper").training_settings
    assert settings["domain"]["adapt"] == "recognizer"
    stage = adaptation("recognizer")
    assert [name for name, _ in losses(stage.phase().step, batch_of())] == ["action", "domain"]
    both = adaptation("anonymizer")
    assert [name for name, _ in losses(both.phase().step, batch_of())] == ["anonymizer", "privacy", "action", "domain"]


def test_adapting_the_recognizer_leaves_every_number_of_the_anonymizer():
    """Not even the statistics of its batch norm take up anything of the target."""
    stage = adaptation("recognizer", epochs=1)
    before = {key: value.clone() for key, value in stage.game.method.state_dict().items()}
    run([stage.phase()], clips(8), fabric=make_fabric(accelerator="cpu"), seed=0, progress=False)
    assert all(torch.equal(before[key], value) for key, value in stage.game.method.state_dict().items())


@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_the_losses_against_sums_written_out(weight):
    """Of the recognizer: the cross-entropy and `weight` times the domain loss; of the classifier that loss alone."""
    stage, batch = adaptation("recognizer", weight=weight), batch_of()
    given = dict(losses(stage.phase().step, batch))
    torch.manual_seed(5)
    shown = stage.game.method.eval()(torch.cat([batch.clip, stage.draw(len(batch.clip), torch.device("cpu"))]))
    features = stage.action[:2](shown)
    domain = stage.domain(features).item()
    own = cross_entropy(stage.action(shown[: len(batch.clip)]), batch.action).item()
    assert given["domain"] == pytest.approx(domain, rel=1e-4)
    assert given["action"] == pytest.approx(own + weight * domain, rel=1e-4)


def test_labels_of_the_target_are_never_read():
    def of(target):
        return losses(adaptation("anonymizer", target).phase().step, batch_of())

    plain = clips(8, seed=3)
    garbage = Clips(plain.video, plain.action + 1000, plain.privacy * torch.nan, [])
    assert of(plain) == of(garbage)


def test_the_classifier_learns_and_what_is_below_it_works_against_it():
    """Features of both worlds differ in one number: the classifier finds it, the reversed gradient takes it away."""
    stage = adaptation()
    gap = torch.tensor(1.0, requires_grad=True)
    noise = 0.1 * torch.randn(16, 96, generator=torch.Generator().manual_seed(0))
    mark = torch.cat([torch.ones(8), torch.zeros(8)])[:, None] * torch.eye(96)[:1]
    optimizer = torch.optim.Adam(stage.classifier.parameters(), 0.01)
    before = stage.domain(noise + mark).item()
    for _ in range(50):
        optimizer.zero_grad()
        stage.domain(noise + mark).backward()
        optimizer.step()
    assert stage.domain(noise + mark).item() < 0.5 * before
    stage.domain(reverse(noise + gap * mark, 0.5)).backward()
    assert gap.grad > 0, "a step down this gradient makes the gap smaller"


def test_the_domain_loss_against_a_sum_written_out():
    stage = adaptation()
    features = torch.randn(4, 96)
    p = stage.classifier(features).sigmoid().tolist()
    slow = -sum(torch.tensor([p[0], p[1], 1 - p[2], 1 - p[3]]).log().tolist()) / 4
    assert stage.domain(features).item() == pytest.approx(slow, rel=1e-4)


def test_the_reversal_grows():
    strengths = [growing(progress) for progress in (0, 0.1, 0.5, 1)]
    assert strengths == sorted(strengths) and strengths[0] == 0 and strengths[-1] > 0.99
    assert strengths[1] == pytest.approx(2 / (1 + exp(-1)) - 1)


def test_unknown_things_to_adapt():
    with pytest.raises(UserError, match="thing to adapt"):
        adaptation("world")


def test_trained_from_names_with_another_world(tmp_path, monkeypatch):
    """The whole way; the path of both stages lies beside the checkpoint."""
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path / "cache"))
    small = ["method.width=2", "train.rehearsal=1", "train.drill=0", "train.adversarial=1", "train.domain.epochs=1"]
    data = "stage:train=8,val=4,test=1"
    with pytest.raises(UserError, match="--target"):
        train("spact+dann", data, "stage", tmp_path / "none", assignments=small)
    with pytest.raises(UserError, match="leave --target out"):
        train("spact", data, "stage", tmp_path / "none", target=data)
    assert not (tmp_path / "none").exists()
    train("spact+dann", data, "stage", tmp_path / "out", assignments=small, target=f"{data},seed=1")
    history = json.loads((tmp_path / "out" / "history.json").read_text())
    assert [phase["name"] for phase in history] == ["rehearsal", "initialization", "adversarial", "domain"]
    assert all(len(phase["points"]["leak"]) == 1 for phase in history[2:])
    assert methods.load(tmp_path / "out").name == "spact+dann"
