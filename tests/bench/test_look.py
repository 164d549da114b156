"""Frozen features: made once, kept, and enough to measure a method by."""

import pytest
import torch
from layouts import film, write
from torch import Tensor, nn

from actonym.bench import look
from actonym.bench.evaluate import Evaluation
from actonym.bench.look import Frozen, pixels
from actonym.bench.report import report
from actonym.data.clips import Clips
from actonym.nets.encoder import SYMMETRIC, Encoder


class Averages(nn.Module):
    """A network small enough to check by hand: the mean colour of each quarter, and how much it changes."""

    def features(self, clip: Tensor) -> Tensor:
        quarters = nn.functional.adaptive_avg_pool3d(clip, (clip.shape[2], 2, 2)).flatten(3)
        return torch.cat([quarters.mean(2).flatten(1), quarters.std(2).flatten(1)], 1)


@pytest.fixture
def counted(tmp_path, monkeypatch):
    """The stand-in for I3D, and how many clips it has seen."""
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    encoder = Encoder(Averages(), size=32, frames=8, dim=24, colours=SYMMETRIC)
    seen = []
    monkeypatch.setattr(encoder, "encode", lambda clip, real=encoder.encode: seen.append(len(clip)) or real(clip))
    monkeypatch.setattr(look, "encoder", lambda spec, precision: encoder)
    return seen


def clips(count: int = 5) -> Clips:
    video = torch.randint(0, 256, (count, 3, 8, 32, 32), generator=torch.Generator().manual_seed(0), dtype=torch.uint8)
    return Clips(video, torch.arange(count) % 2, torch.ones(count, 1), [""] * count)


def test_features_are_made_once(counted):
    first = Frozen("tiny", 2, progress=False)(clips(), "attribute", "linear")
    assert first.video.shape == (5, 24) and sum(counted) == 5
    again = Frozen("tiny", 2, progress=False)(clips(), "attribute", "mlp")
    assert torch.equal(first.video, again.video) and sum(counted) == 5


def test_a_stopped_run_goes_on_where_it_was(counted, monkeypatch):
    def stopped(part):
        if sum(counted) >= 4:
            raise KeyboardInterrupt
        return floats(part)

    monkeypatch.setattr(look, "BLOCK", 2)
    frozen, floats = Frozen("tiny", 2, progress=False), look.to_floats
    monkeypatch.setattr(look, "to_floats", stopped)
    with pytest.raises(KeyboardInterrupt):
        frozen.features(clips().video)
    monkeypatch.setattr(look, "to_floats", floats)
    assert sum(counted) == 4
    features = frozen.features(clips().video)
    assert sum(counted) == 5
    monkeypatch.setattr(look, "BLOCK", 64)
    assert torch.allclose(features, frozen.features(clips().video), atol=1e-6)


def test_other_pixels_are_other_features(counted):
    frozen, one, other = Frozen("tiny", 2, progress=False), clips(), clips()
    other.video[0, 0, 0, 0, 0] ^= 255
    assert not torch.equal(frozen(one, "action", "linear").video, frozen(other, "action", "linear").video)


def test_the_frame_attack_sees_static_clips(counted):
    static = Frozen("tiny", 2, progress=False)(clips(), "frame", "linear")
    assert static.video.shape == (10, 24) and static.views == 2
    assert static.video[:, 12:].abs().max() < 1e-5, "nothing changes in a static clip"


def test_pixels_thin_clips_for_frame_networks_only():
    see = pixels(2)
    assert see(clips(), "attribute", "frame").video.shape[2] == 2
    assert see(clips(), "attribute", "d3d").video.shape[2] == 8
    assert see(clips(), "frame", "frame").video.shape[:3] == (10, 3, 1)
    assert see(clips(), "action", "frame").video.shape[2] == 8


PLAN = [
    "clip.size=32",
    "clip.frames=8",
    "recognizer.fit.epochs=3",
    "attack.fit.epochs=3",
    "attack.finetune.epochs=2",
    "linkage=false",
    "detectors=[]",
]


def test_a_method_is_measured_on_features(counted, tmp_path):
    evaluation = Evaluation("stage:train=24,val=20,test=20", preset="frozen", assignments=PLAN, progress=False)
    found = evaluation.run("blacken", 0, tmp_path / "blacken.json")
    assert found["utility"]["recognizer"]["net"] in ("linear", "mlp")
    assert {entry["net"] for entry in found["attacker"]["tried"]} == {"linear", "mlp"}
    made = sum(counted)
    assert made == 2 * 64 * 2, "raw and anonymized: each clip whole, and a static one"
    evaluation.run("blacken", 1, tmp_path / "again.json")
    assert sum(counted) == made, "another seed needs no features of its own"


def test_what_is_written_names_no_folder_of_the_machine(counted, tmp_path):
    rows = [(split, place) for split in ("train", "val", "test") for place in range(4)]
    film(*(tmp_path / "videos" / f"{split}{place}.mp4" for split, place in rows))
    lines = [f"videos/{split}{place}.mp4,{'sit' if place < 2 else 'run'},{place % 2},{split}" for split, place in rows]
    table = write(tmp_path / "ward.csv", "\n".join(["path,action,face,split", *lines]))
    plan = [*PLAN, f"encoder=i3d:{tmp_path}/mine.pt"]
    evaluation = Evaluation(f"csv:{table}", preset="frozen", assignments=plan, progress=False)
    found = evaluation.run("downsample", 0, tmp_path / "out" / "downsample.json")
    assert found["data"] == "csv:ward.csv" and found["settings"]["encoder"] == "i3d:mine.pt"
    assert found["picture"] is None and not list(tmp_path.glob("out/*.png")), "a report may be shown to others"
    shown = Evaluation(f"csv:{table}", preset="frozen", assignments=[*plan, "pictures=true"], progress=False)
    assert shown.run("downsample", 1, tmp_path / "seen" / "one.json")["picture"] == "one.png"
    assert (tmp_path / "seen" / "one.png").is_file()
    report(tmp_path / "out")
    texts = [path for path in (tmp_path / "out").rglob("*") if path.suffix in (".json", ".md", ".html")]
    assert len(texts) > 2
    for path in texts:
        assert str(tmp_path) not in path.read_text(), path.name
