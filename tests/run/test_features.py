"""Features of small videos through an encoder that tells what it saw; anonymized stores fail closed."""

import pytest
import torch
from torch import nn

from actonym.data import Stage
from actonym.data.features import Store
from actonym.errors import ActonymError, UserError
from actonym.methods import LatentMethod, MethodCard
from actonym.nets.encoder import SYMMETRIC, Encoder
from actonym.run import features
from actonym.run.features import anonymize, extract

pytest.importorskip("pyarrow")
CARD = MethodCard(title="Negated", idea="Turns features round.", paper="none", year=2026)


class Seen(nn.Module):
    """Its features: brightness, change over time, and two constants."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.clips = 0

    def features(self, clip):
        self.clips += len(clip)
        level, change = clip.mean((1, 2, 3, 4)), clip.std(2).mean((1, 2, 3))
        return torch.stack([level, change, torch.ones_like(level), -torch.ones_like(level)], 1) * self.scale


class Negated(LatentMethod):
    name, card = "negated", CARD

    def forward(self, features, present=None):
        return -features


class Broken(LatentMethod):
    name, card = "broken", CARD

    def forward(self, features, present=None):
        return features * torch.nan


@pytest.fixture
def encoder():
    return Encoder(Seen(), 32, 4, 4, SYMMETRIC)


@pytest.fixture
def stage():
    return Stage(size=32, frames=10, train=3, val=2, test=2)


def run(stage, encoder, out, **how):
    return extract(stage, encoder, out, data="stage", name="seen", progress=False, **how)


def test_all_clips_and_as_many_static_ones(stage, encoder, tmp_path):
    store = run(stage, encoder, tmp_path / "s")
    entries = list(store.entries())
    assert len(entries) == 7 and store.about["attributes"][0] == "face" and store.about["frames"] == 4
    for entry in entries:
        assert entry.first == [0, 4] and entry.last == [3, 7], "ten frames hold two clips of four"
        assert entry.features.shape == entry.static.shape == (2, 4)
        assert (entry.features[:, 1] > 1e-3).all() and (entry.static[:, 1] < 1e-6).all(), (
            "nothing moves in a static clip"
        )
        assert len(entry.privacy) == 5 and entry.subject
    sample = stage.samples("train")[0]
    with torch.inference_mode():
        clip = sample.video.frames(range(4, 8))[None].float() / 255
        assert torch.allclose(entries[0].features[1], encoder.encode(clip)[0], atol=1e-6)


def test_a_short_video_has_one_clip_and_two_static_ones(encoder, tmp_path):
    (entry,) = run(Stage(size=32, frames=3, train=1, val=1, test=1), encoder, tmp_path / "s", splits=["test"]).entries()
    assert entry.first == [0] and entry.last == [2] and len(entry.static) == 2


def test_extraction_goes_on_where_it_was_killed(stage, encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(features, "PART", 2)
    whole = run(stage, encoder, tmp_path / "whole")
    real, done = features._entry, []

    def dies(sample, *rest):
        if len(done) == 5:
            raise KeyboardInterrupt
        done.append(sample.name)
        return real(sample, *rest)

    monkeypatch.setattr(features, "_entry", dies)
    with pytest.raises(KeyboardInterrupt):
        run(stage, encoder, tmp_path / "s")
    monkeypatch.setattr(features, "_entry", real)
    encoder.network.clips = 0
    again = run(stage, encoder, tmp_path / "s", resume=True)
    assert encoder.network.clips == 3 * 4, "the four videos of two whole parts are not encoded again"
    assert [e.name for e in again.entries()] == [e.name for e in whole.entries()]
    assert all(torch.equal(a.features, b.features) for a, b in zip(again.entries(), whole.entries(), strict=True))


def test_another_encoder_is_refused(stage, encoder, tmp_path):
    run(stage, encoder, tmp_path / "s")
    with torch.no_grad():
        encoder.network.scale.mul_(2)
    with pytest.raises(UserError, match="begun differently"):
        run(stage, encoder, tmp_path / "s", resume=True)


@pytest.mark.parametrize("labels", ["drop", "keep"])
def test_a_store_is_anonymized_into_another(stage, encoder, tmp_path, labels):
    raw = run(stage, encoder, tmp_path / "raw")
    made = anonymize(tmp_path / "raw", tmp_path / "safe", Negated(), labels=labels, progress=False)
    assert made.about["anonymized"]["method"] == "negated" and made.about["encoder"] == "seen"
    for number, (before, after) in enumerate(zip(raw.entries(), made.entries(), strict=True)):
        assert torch.equal(after.features, -before.features) and torch.equal(after.static, -before.static)
        people = before.name, before.privacy, before.subject
        assert after.action == before.action
        assert (after.name, after.privacy, after.subject) == (people if labels == "keep" else (f"{number:06}", [], ""))


def test_nothing_is_left_when_anonymizing_fails(stage, encoder, tmp_path):
    run(stage, encoder, tmp_path / "raw")
    with pytest.raises(ActonymError, match="broken failed"):
        anonymize(tmp_path / "raw", tmp_path / "safe", Broken(), progress=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw"]
    with pytest.raises(UserError, match="exists"):
        anonymize(tmp_path / "raw", tmp_path / "raw", Negated(), progress=False)
    assert len(Store.open(tmp_path / "raw").names()) == 7
