"""Who is trained on what and tested on what."""

import json
from dataclasses import replace

import pytest
import torch
from layouts import hmdb51, hmdb51_clips, write
from small import DATA, TINY

from actonym.attacks.frame import labelled_frames, single_frames
from actonym.bench import evaluate
from actonym.bench.candidate import candidate
from actonym.bench.evaluate import Evaluation
from actonym.bench.measure import Measured
from actonym.bench.protocols import PROTOCOLS, Without
from actonym.data import ATTRIBUTES, Clips, Stage
from actonym.data.base import _REGISTRY, Span
from actonym.errors import UserError

RAW = Measured({}, {}, {})
SOURCE = "stage:seed=5,train=20,val=10,test=10"


class Framed(Stage):
    """A stage in which the face, if any, is seen in the first half of the frames only; all else throughout."""

    name = "framed"

    def samples(self, split):
        return [replace(sample, spans=self._spans(sample)) for sample in super().samples(split)]

    def _spans(self, sample):
        last = [self.frames // 2 - 1] + [self.frames - 1] * 4
        return tuple((Span(0, end, (bit,)),) for end, bit in zip(last, sample.privacy, strict=True))


@pytest.fixture(scope="module", autouse=True)
def world(tmp_path_factory, learnable):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTONYM_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setitem(_REGISTRY, "framed", Framed)
        yield


def opened(data=DATA, protocol="known", source=None, changes=()):
    return Evaluation(data, protocol, assignments=[*TINY, *changes], progress=False, source=source)


def seen_by(monkeypatch, evaluation, method="raw"):
    """The splits that the recognizer and the attackers get when a method is measured."""
    seen = []

    def stop(recognizer, attackers, *_, **__):
        seen.extend([recognizer, attackers])
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluate, "measure", stop)
    with pytest.raises(KeyboardInterrupt):
        evaluation._measure(evaluation.parts.map(candidate(method, "stage").method), 0, RAW)
    return seen


def trained(evaluation):
    return evaluation.train(candidate("tint", "stage"), 0)[0]


def test_unseen_trains_the_method_on_the_source(tmp_path):
    unseen = opened(protocol="unseen", source=SOURCE)
    on_source = trained(unseen)
    assert torch.equal(on_source.gain, trained(opened(SOURCE)).gain)
    assert not torch.equal(on_source.gain, trained(opened()).gain)
    result = unseen.run("tint", 0, tmp_path / "tint.json")
    assert result["source"] == SOURCE and result["protocol"] == "unseen" and result["data"] == DATA
    assert result["clips"] == {"train": 20, "val": 20, "test": 20} and result["reported"] is None


def test_unseen_is_as_known_for_methods_that_do_not_learn(tmp_path):
    unseen, known = opened(protocol="unseen", source=SOURCE), opened()
    unseen.parts.source._make = lambda: pytest.fail("a hand-made method needs no source")
    results = [each.run("downsample", 0, tmp_path / "out.json") for each in (unseen, known)]
    assert results[0]["privacy"] == results[1]["privacy"] and results[0]["kept"] == results[1]["kept"]


def test_frames_carry_their_own_labels():
    """Frame by frame, crop by crop, against a slow hand-written twin."""
    generator = torch.Generator().manual_seed(0)
    videos, count, crops, frames = 3, 2, 3, 4
    clips = Clips(
        video=torch.randint(0, 256, (videos * count * crops, 3, frames, 2, 2), dtype=torch.uint8, generator=generator),
        action=torch.arange(videos),
        privacy=torch.zeros(videos, 2),
        subject=["a", "b", "c"],
        source=["x", "y", "z"],
        views=count * crops,
        privacy_frames=torch.randint(0, 2, (videos * count, 1, frames, 2), generator=generator)
        .float()
        .expand(-1, crops, -1, -1)
        .flatten(0, 1),
    )
    found = labelled_frames(clips, count=2, crops=crops)
    assert len(found) == videos * count * 2 and found.views == crops
    row = 0
    for video in range(videos):
        for clip in range(count):
            for frame in (0, 2):  # of four frames the middles of both halves, rounded to even
                first = (video * count + clip) * crops
                assert found.action[row] == video and found.subject[row] == "abc"[video]
                assert found.source[row] == "xyz"[video]
                assert torch.equal(found.privacy[row], clips.privacy_frames[first, frame])
                for crop in range(crops):
                    assert torch.equal(found.video[row * crops + crop, :, 0], clips.video[first + crop, :, frame])
                row += 1
    with pytest.raises(ValueError, match="no labels of single frames"):
        labelled_frames(replace(clips, privacy_frames=None))
    assert single_frames(clips, 2).views == count * crops * 2


FRAMED = "framed:train=20,val=20,test=30"


def test_frame_attackers_see_single_frames_with_the_labels_of_each(monkeypatch):
    evaluation = opened(FRAMED, "frame", changes=["attack.frames=4"])
    recognizer, attackers = seen_by(monkeypatch, evaluation, "downsample")
    assert recognizer["train"].video.shape[2] == 8 and len(recognizer["train"]) == 20
    for split, videos in (("train", 20), ("val", 20), ("test", 30)):
        frames, whole = attackers[split], evaluation.parts.data.splits[split].privacy
        assert frames.video.shape[2] == 1 and len(frames) == len(frames.video) == 4 * videos
        assert torch.equal(frames.privacy[::4], whole) and torch.equal(frames.privacy[3::4, 1:], whole[:, 1:])
        assert not frames.privacy[2::4, 0].any() and not frames.privacy[3::4, 0].any(), "the face is gone by then"
        assert torch.equal(frames.action, recognizer[split].action.repeat_interleave(4))


def test_the_result_of_frames_has_the_floors_of_frames(tmp_path):
    evaluation = opened(FRAMED, "frame")
    result = evaluation.run("downsample", 0, tmp_path / "out.json")
    assert [entry["name"] for entry in result["attacker"]["tried"]] == ["frame/frame/scratch"]
    faces = evaluation.parts.data.splits["test"].privacy[:, 0].mean().item()
    assert result["floors"]["per_attribute"]["face"]["chance"] == pytest.approx(faces / 2)
    assert result["privacy"]["per_attribute"]["face"]["prevalence"] == pytest.approx(faces / 2)
    assert result["clips"] == {
        "train": 20, "val": 20, "test": 30, "train frames": 40, "val frames": 40, "test frames": 60,
    }  # fmt: skip


def test_frame_trains_recognizer_and_method_on_the_source(monkeypatch):
    evaluation = opened(FRAMED, "frame", source=SOURCE)
    recognizer, attackers = seen_by(monkeypatch, evaluation, "downsample")
    assert [len(recognizer[split]) for split in ("train", "val", "test")] == [20, 10, 30]
    assert len(attackers["train"]) == 40
    assert torch.equal(recognizer["test"].action, evaluation.parts.data.splits["test"].action)
    assert torch.equal(trained(evaluation).gain, trained(opened(SOURCE)).gain)
    assert not torch.equal(trained(evaluation).gain, trained(opened(FRAMED, "frame")).gain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"protocol": "known", "source": DATA}, "protocol known has no --source"),
        ({"protocol": "unseen"}, "protocol unseen needs .* add --source NAME"),
        ({"protocol": "frame"}, "needs labels of single frames, which stage does not have"),
        (
            {"data": FRAMED, "protocol": "frame", "changes": ["attackers=[attribute/frame/scratch]"]},
            "attacker of frames",
        ),
        ({"protocol": "unsen"}, "did you mean 'unseen'"),
        ({"changes": ["attackers=[atribute/frame/scratch]"]}, "did you mean 'attribute'"),
    ],
)
def test_what_does_not_fit_a_protocol_is_told_at_once(options, message):
    with pytest.raises(UserError, match=message):
        opened(**options)


def test_a_source_of_frames_has_the_same_actions():
    class Other:
        name, actions, attributes = "other", ("fly",), ()

    data = Framed(size=32, train=1, val=1, test=1)
    with pytest.raises(UserError, match="a source with the actions of framed; other has others"):
        PROTOCOLS["frame"].check(data, Other())


def test_nothing_of_the_test_videos_is_in_the_source(tmp_path, capsys):
    """PA-HMDB51 is part of HMDB51: its test films must not teach the recognizer."""
    hmdb51(tmp_path)
    span = {name: [[0, 5, 1]] for name in ATTRIBUTES}
    for action in ("clap", "climb_stairs"):
        said = {f"{name.split('/')[1]}.avi": span for name in hmdb51_clips((action,))}
        write(tmp_path / "PrivacyAttributes" / f"{action}.json", json.dumps(said))
    evaluation = opened(f"pa-hmdb51:{tmp_path}", "frame", f"hmdb51:{tmp_path}")
    tested = {sample.source for sample in evaluation.dataset.samples("test")}
    source = evaluation.parts.source.dataset
    left = {sample.source for split in ("train", "val") for sample in source.samples(split)}
    whole = {sample.source for split in ("train", "val") for sample in source._dataset.samples(split)}
    assert left and tested and left == whole - tested != whole
    assert "are left out: they or their films are among the test videos" in capsys.readouterr().err
    assert source.name == "hmdb51" and len(source.actions) == 51


def test_a_video_without_a_film_is_left_out_by_name():
    class Bare:
        name = "bare"

        def samples(self, split):
            return [replace(sample, source="") for sample in Stage(train=3, val=1, test=2).samples(split)]

    data = Bare()
    assert len(Without(data, data.samples("test")).samples("train")) == 3
    assert len(Without(data, data.samples("train")[:1]).samples("train")) == 2


SMALL = "train=12,val=12,test=12"


def test_the_worlds_of_the_stage_have_what_each_protocol_needs(monkeypatch):
    unseen = opened(protocol="unseen", source=f"stage:world=park,{SMALL}")
    assert not set(unseen.dataset.actions) & set(unseen.parts.source.dataset.actions)
    turning = opened(f"stage:world=turning,{SMALL}", "frame", changes=["attack.frames=8"])
    frames = seen_by(monkeypatch, turning)[1]["test"].privacy.view(12, 8, -1)
    assert (frames != frames[:, :1]).any(), "what is seen changes within a video"
    rooms = opened(f"stage:world=rooms,{SMALL}").parts.data.splits["train"].action
    assert rooms.shape == (12, len(opened(f"stage:world=rooms,{SMALL}").dataset.actions)) and rooms.sum(1).max() > 1
    assert opened(f"stage:world=faces,{SMALL}").parts.data.splits["train"].action.ndim == 1
