"""Linkage and ready-made models, as a result holds them."""

from dataclasses import replace

import pytest
import torch

from actonym.bench import residue
from actonym.bench.residue import detectors, link_splits, linkable, places, remembered_faces
from actonym.data.clips import Clips
from actonym.errors import UserError
from actonym.nets import centerface


def filmed(seed: int, films: int = 6, clips: int = 3) -> Clips:
    """Every film has a place of its own; all clips show the same action."""
    generator = torch.Generator().manual_seed(seed)
    places = torch.randint(0, 256, (films, 3, 1, 24, 24), generator=generator)
    video = places.repeat_interleave(clips, 0).expand(-1, -1, 4, -1, -1)
    noise = torch.randint(-9, 10, video.shape, generator=generator)
    count = films * clips
    return Clips(
        (video + noise).clamp(0, 255).to(torch.uint8),
        action=torch.zeros(count, dtype=torch.long),
        privacy=torch.ones(count, 2),
        subject=[""] * count,
        source=[f"{seed}-{k // clips}" for k in range(count)],
    )


def splits() -> dict[str, Clips]:
    return {split: filmed(seed) for seed, split in enumerate(("train", "val", "test"))}


def test_the_place_links_raw_clips_and_blackness_links_nothing():
    raw = splits()
    before = link_splits(raw, None, {"place": places}, seed=0)
    assert before["rank1"] == 1.0 and before["strongest"].startswith("place/")
    assert before["chance"]["rank1"] == pytest.approx(2 / 17), "two other clips of the film among the 17 others"
    black = {split: clips.map(lambda clip, mask: torch.zeros_like(clip)) for split, clips in raw.items()}
    after = link_splits(black, raw, {"place": places}, seed=0)
    assert after["rank1"] == pytest.approx(before["chance"]["rank1"], abs=0.15)
    galleries = {entry["name"].rpartition("/")[2] for entry in after["tried"]}
    assert galleries == {"anonymized", "raw"}


def test_without_sources_there_is_nothing_to_link():
    clips = filmed(0)
    assert linkable(clips)
    assert not linkable(replace(clips, source=())), "nobody is named"
    assert not linkable(replace(clips, source=[str(k) for k in range(len(clips))])), "everybody is there once"


def test_faces_are_looked_for_once(monkeypatch):
    asked = []
    monkeypatch.setattr(residue.centerface, "find", lambda frames: asked.append(len(frames)) or [])
    monkeypatch.setattr(residue, "detect", lambda pairs, count, find: [find(a) and find(b) for a, b in pairs])
    monkeypatch.setattr(residue, "gender", lambda pairs, count, find: [find(a) and find(b) for a, b in pairs])
    clips, find = filmed(0), remembered_faces()
    for _ in range(2):  # as for two methods
        found = detectors(clips, clips, ["face", "nudity"], ["faces", "gender"], find)
    assert list(found) == ["faces", "gender"] and len(asked) == len(clips)


def test_an_unknown_detector_is_named():
    with pytest.raises(UserError, match="did you mean 'faces'"):
        residue.check_detectors(["face"])


def test_what_detectors_need_is_told_at_once(monkeypatch, tmp_path):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    monkeypatch.setattr(residue, "runtime", lambda: None)
    monkeypatch.setattr(residue, "known_embedders", lambda: {"sface": None, "dlib": None})
    pulls = " && ".join(f"actonym weights pull {name}" for name in ("centerface", "sface", "gender-age", "dlib-face"))
    with pytest.raises(UserError, match=f"centerface, sface, gender-age, dlib-face are not here; run: {pulls}$"):
        residue.check_detectors(["faces", "identity", "gender"])
    residue.check_detectors([])


def test_too_few_people_cost_the_identity_and_nothing_else(monkeypatch, capsys):
    monkeypatch.setattr(residue, "detect", lambda pairs, count, find: {"videos": {}})
    monkeypatch.setattr(
        residue.centerface, "find", lambda frames: [centerface.Faces(*[torch.zeros(0)] * 3)] * len(frames)
    )
    found = detectors(filmed(0), filmed(0), [], ["faces", "identity"], remembered_faces())
    assert list(found) == ["faces"] and "identity is left out" in capsys.readouterr().err
