import json
from functools import partial

import pytest
from make_video import make
from methods_to_run import Broken, Dim, Swap

from actonym import run
from actonym.errors import UserError
from actonym.video import VideoReader

anonymize = partial(run.anonymize, progress=False)


@pytest.fixture
def videos(tmp_path):
    source = tmp_path / "videos"
    (source / "ward 1" / "night").mkdir(parents=True)
    make(source / "a.mp4", count=4)
    make(source / "ward 1" / "b.avi", "mpeg4", count=4)
    make(source / "ward 1" / "night" / "c.MKV", count=4)
    (source / "ward 1" / "notes.txt").write_text("not a video")
    (source / "._a.mp4").write_text("left by a file manager")
    return source


def tree(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_tree_is_mirrored(videos, tmp_path):
    records, failures = anonymize(videos, tmp_path / "out", Swap())
    assert tree(tmp_path / "out") == [
        "a.mp4",
        "a.mp4.json",
        "ward 1/b.mp4",
        "ward 1/b.mp4.json",
        "ward 1/night/c.MKV",
        "ward 1/night/c.MKV.json",
    ]
    assert [record.input for record in records] == ["a.mp4", "b.avi", "c.MKV"] and not failures
    with VideoReader(tmp_path / "out" / "ward 1" / "b.mp4") as reader:
        assert len(list(reader)) == 4


@pytest.mark.parametrize("suffix", [["avi", "mkv"], [".AVI", ".mkv"]])
def test_only_some_endings(videos, tmp_path, suffix):
    records, _ = anonymize(videos, tmp_path / "out", Swap(), suffix=suffix)
    assert [record.input for record in records] == ["b.avi", "c.MKV"]


def test_broken_files_are_listed_and_the_rest_is_done(videos, tmp_path):
    (videos / "empty.mp4").touch()
    cut = make(videos / "ward 1" / "cut.mkv", count=50)
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    report = tmp_path / "report.json"
    records, failures = anonymize(videos, tmp_path / "out", Swap(), report=report)
    assert [failure.input for failure in failures] == ["empty.mp4", "ward 1/cut.mkv"]
    assert "is empty" in failures[0].reason and "truncated" in failures[1].reason
    assert len(records) == 3 and len(tree(tmp_path / "out")) == 6
    summary = json.loads(report.read_text())
    assert [len(summary["records"]), len(summary["failures"])] == [3, 2]


def test_a_method_that_fails_fails_for_each(videos, tmp_path):
    for path in (videos / "ward 1").rglob("*.*"):
        path.unlink()
    make(videos / "long.mp4", count=20)
    records, failures = anonymize(videos, tmp_path / "out", Broken(), batch=1)
    assert len(records) == 1 and [failure.input for failure in failures] == ["long.mp4"]


def test_run_again_does_what_is_missing(videos, tmp_path):
    anonymize(videos, tmp_path / "out", Swap())
    (tmp_path / "out" / "a.mp4").unlink()
    (tmp_path / "out" / "a.mp4.json").unlink()
    records, failures = anonymize(videos, tmp_path / "out", Swap())
    assert [record.input for record in records] == ["a.mp4"] and len(failures) == 2
    assert all("--force" in failure.reason for failure in failures)
    assert len(anonymize(videos, tmp_path / "out", Swap(), force=True)[0]) == 3


def test_outputs_that_must_not_be(videos, tmp_path):
    before = tree(videos)
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(videos)
    for target, message in {
        videos: "inside the input",
        videos / "out": "inside the input",
        tmp_path / "link" / "out": "inside the input",
        tmp_path / "file": "is a file",
    }.items():
        with pytest.raises(UserError, match=message):
            anonymize(videos, target, Swap(), force=True)
    for report, message in {videos / "a.mp4": "must end in .json", tmp_path / "no" / "r.json": "no folder"}.items():
        with pytest.raises(UserError, match=message):
            anonymize(videos, tmp_path / "out", Swap(), force=True, report=report)
    assert tree(videos) == before and not (tmp_path / "out").exists()


def test_two_videos_with_one_name(videos, tmp_path):
    make(videos / "a.avi", "mpeg4", count=4)
    with pytest.raises(UserError, match=r"a\.avi and a\.mp4 would both become a\.mp4"):
        anonymize(videos, tmp_path / "out", Swap())
    assert not (tmp_path / "out").exists()


def test_outputs_that_are_inputs(tmp_path):
    (tmp_path / "x" / "x").mkdir(parents=True)
    make(tmp_path / "x" / "a.mp4", count=4)
    make(tmp_path / "x" / "x" / "a.mp4", count=4)
    with pytest.raises(UserError, match=r"overwrite the input a\.mp4"):
        anonymize(tmp_path / "x", tmp_path, Swap(), force=True)


def test_nothing_to_do(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no video in"):
        anonymize(tmp_path / "empty", tmp_path / "out", Swap())


def test_a_single_file_through_the_same_door(tmp_path):
    records, failures = anonymize(make(tmp_path / "a.mp4", count=4), tmp_path / "b.mp4", Swap())
    assert records[0].frames == 4 and not failures


def test_a_knob_is_turned_for_one_job_only(tmp_path):
    make(tmp_path / "a.mp4", count=4)
    method, light = Dim(), {}
    for name, keep in (("whole", None), ("half", 0.5)):
        [record], _ = anonymize(tmp_path / "a.mp4", tmp_path / f"{name}.mp4", method, keep=keep)
        assert record.settings["keep"] == (keep or 1.0), "the record says how it really stood"
        with VideoReader(tmp_path / f"{name}.mp4") as reader:
            light[name] = sum(float(frame.mean()) for frame, _ in reader)
    assert light["half"] == pytest.approx(light["whole"] / 2, rel=0.1) and method.keep == 1.0


@pytest.mark.parametrize(("method", "keep"), [(Swap(), 0.5), (Dim(), 1.5), (Dim(), 0.0), (Dim(), float("nan"))])
def test_a_knob_that_is_not_there_or_turned_too_far(tmp_path, method, keep):
    make(tmp_path / "a.mp4", count=4)
    with pytest.raises(UserError, match="keep"):
        anonymize(tmp_path / "a.mp4", tmp_path / "b.mp4", method, keep=keep)
    assert tree(tmp_path) == ["a.mp4"]
