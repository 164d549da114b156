"""SPLAVU: its sizes, its start, its losses against sums written out, and that it learns from a store."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from actonym import methods
from actonym.cli import main
from actonym.data.features import Entry, Store, load_features
from actonym.errors import UserError
from actonym.losses.contrastive import nt_xent
from actonym.methods.base import settings
from actonym.methods.splavu import SPLAVU, Training
from actonym.train.phase import Batch, Recognizers

HEADS = Recognizers(nn.Identity(), nn.Identity(), actions=3, attributes=2)


@pytest.mark.parametrize(("dim", "millions"), [(1024, 25.6), (768, 14.6), (1280, 39.8), (1408, 48.0)])
def test_trainable_parameters_of_table_16(dim, millions):
    """With the head of Kinetics-400. On no device: the numbers alone count."""
    with torch.device("meta"):
        method = SPLAVU(dim)
    head = 400 * dim + 400
    assert sum(p.numel() for p in method.parameters()) + head == pytest.approx(1e6 * millions, rel=0.02)


def test_it_begins_as_the_identity():
    torch.manual_seed(0)
    method = SPLAVU(64).eval()
    x = torch.rand(2, 5, 64)
    assert (method(x) - x).abs().max() < 1e-3


def batch(count=6):
    generator = torch.Generator().manual_seed(0)
    privacy = torch.randint(0, 2, (count, 2), generator=generator).float()
    return Batch(
        torch.rand(count, 7, 16, generator=generator), torch.arange(count) % 3, privacy, None, torch.arange(count)
    )


def losses(training, given):
    seen = {}
    training.play(given, lambda name, loss, retain_graph=False: seen.setdefault(name, loss.detach()))
    return seen


def test_equation_7():
    torch.manual_seed(0)
    method = SPLAVU(16, heads=2)
    nn.init.normal_(method.adapter.layers[0].mlp[2].weight)  # away from the identity
    training = Training(method, HEADS, utility=0.5, consistency=7.0, budget=2.0)
    given = batch()
    clips, still = given.clip[:, :5], given.clip[:, 5:]
    shown = method(clips)
    action = sum(
        nn.functional.cross_entropy(training.action(shown[i, k]), given.action[i]) for i in range(6) for k in range(5)
    )
    near = (clips - shown).square().mean()
    views = [torch.stack([method(still[i : i + 1, k : k + 1])[0, 0] for i in range(6)]) for k in range(2)]
    wanted = 0.5 * action / 30 + 7 * near - 2 * nt_xent(*views, 0.1).mean()
    assert torch.allclose(losses(training, given)["method"], wanted, atol=1e-4)


def test_the_supervised_budget_goes_against_a_spy_that_learns():
    torch.manual_seed(0)
    training = Training(SPLAVU(16, heads=2), HEADS, objective="supervised", attacker_steps=2)
    training.spy.eval()
    given = batch()
    seen = losses(training, given)
    assert set(seen) == {"method", "spy"}
    still = given.clip[:, 5:]
    told = nn.functional.binary_cross_entropy_with_logits(
        training.spy(training.method(still.reshape(-1, 1, 16))[:, 0]), given.privacy.repeat_interleave(2, 0)
    )
    assert torch.allclose(seen["spy"], told)
    assert {"spy"} <= set(training.phases()[-1].optimizers)


@pytest.mark.parametrize("preset", ["stage", "paper"])
@pytest.mark.parametrize("weight", ["0", "0.3", "3", "10", "30"])
def test_a_sweep_of_the_budget_changes_nothing_else(weight, preset):
    itself, variant = (settings(name, preset) for name in ("splavu", f"splavu@budget-{weight}"))
    itself["train"] |= {"budget": float(weight)}
    assert variant == {**itself, "factor": "budget", "label": weight}


def test_the_adapter_of_the_ablation_learns_to_be_the_identity():
    torch.manual_seed(0)
    training = Training(SPLAVU(16, adapter="mlp", layers=1, heads=2), HEADS, warm_lr=1e-2)
    phase, _ = training.phases()
    optimizer = phase.optimizers["method"]

    def update(name, loss, retain_graph=False):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    training.method.train()
    first, *_, last = [float(phase.step(batch(32), update)["copy"].detach()) for _ in range(60)]
    assert last < 0.3 * first


@pytest.fixture
def store(tmp_path):
    pytest.importorskip("pyarrow")
    torch.manual_seed(0)
    made = Store.make(tmp_path / "store", {"dim": 16, "actions": ["a", "b"], "attributes": ["x"], "data": "d"})
    made.append(
        Entry(f"v{i}", "train", torch.rand(1 + i % 3, 16), [0], [15], torch.rand(2, 16), [0, 1], 16, i % 2, privacy=[1])
        for i in range(12)
    )
    made.finish()
    return tmp_path / "store"


def test_it_is_trained_from_a_store_and_anonymizes_one(store, tmp_path, capsys):
    small = ["--set", "train.epochs=2", "--set", "train.warm=1", "--set", "train.batch_size=4"]
    main(["train", "splavu", "--data", f"features:{store}", "--out", str(tmp_path / "trained"), *small])
    method = methods.load(tmp_path / "trained")
    assert methods.base.config(method)["dim"] == 16, "the store says how long its features are"
    main(
        ["features", "anonymize", str(store), str(tmp_path / "safe"), "--method", str(tmp_path / "trained"), "--quiet"]
    )
    assert len(list(Store.open(tmp_path / "safe").entries())) == 12
    assert "12 videos" in capsys.readouterr().out


def test_codes_let_the_action_through_and_nothing_else(store, tmp_path):
    out = ["--out", str(tmp_path / "coded"), "--set", "method.codes=3", "--set", "train.epochs=3"]
    main(["train", "splavu@linkage", "--data", f"features:{store}", *out])
    method = methods.load(tmp_path / "coded")
    videos = load_features(Store.open(store), "train", 3)
    clips = videos.video[:, :-2]
    means = [clips[videos.action == action].flatten(0, 1).mean(0) for action in (0, 1)]
    shown = method.with_static(videos.video).detach().flatten(0, 1)
    assert torch.cdist(shown, torch.stack([*means, clips.flatten(0, 1).mean(0)])).min(1).values.max() < 1e-3
    assert torch.equal(method(clips[2:3, 1:2]), method(clips)[2:3, 1:2]), "each clip by itself"
    with pytest.raises(UserError, match="3 actions need at least as many codes"):
        methods.create("splavu@linkage:codes=2").phases(HEADS)


def test_erasure_forgets_what_stills_share_and_reads_no_label(store, tmp_path):
    main(
        [
            "train",
            "splavu@erasure",
            "--data",
            f"features:{store}",
            "--out",
            str(tmp_path / "erased"),
            "--set",
            "train.share=0.2",
        ]
    )
    method = methods.load(tmp_path / "erased")
    videos = load_features(Store.open(store), "train", 3)
    raw, shown = videos.video[:, -2:], method.with_static(videos.video)[:, -2:].detach()

    def agreement(stills):
        first, second = stills.double().sub(stills.double().mean((0, 1))).unbind(1)
        return float((first * second).sum() / (first.square().sum() + second.square().sum()) * 2)

    assert agreement(shown) < min(0.0, agreement(raw) - 0.2), "what is common is gone; what differs is left"
    others = replace(videos, action=1 - videos.action, privacy=1 - videos.privacy)
    again = methods.create("splavu@erasure:dim=16,train.share=0.2")
    (phase,) = again.phases(HEADS)
    phase.step(Batch(others.video, others.action, others.privacy, None, torch.arange(len(others))), lambda *_: None)
    assert torch.allclose(again(videos.video), method(videos.video), atol=1e-6)


def test_video_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["train", "splavu", "--data", "stage", "--out", str(tmp_path / "trained")])
    assert ended.value.code == 2 and "actonym features extract" in capsys.readouterr().err
    with pytest.raises(UserError, match="does not divide by 8 heads"):
        methods.create("splavu:dim=20")
    with pytest.raises(UserError, match="did you mean"):
        methods.create("splavu:adapter=attention1")
