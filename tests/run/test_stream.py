import json
from fractions import Fraction

import numpy as np
import pytest
from make_video import make

from actonym.cli import main
from actonym.errors import ActonymError
from actonym.methods import create
from actonym.nets.finder import FINDERS
from actonym.run.stream import Tally, anonymized


@pytest.fixture
def searched(monkeypatch):
    """A finder of white pixels, and how many frames it searched."""
    counts = []

    def white(clip):
        counts.append(clip.shape[2])
        return (clip.amin(1, keepdim=True) > 0.99).byte()

    monkeypatch.setitem(FINDERS, "white", white)
    return counts


def video(frames, *marked):
    """Grey frames; a white square in the marked ones, further right in later ones."""
    for t in range(frames):
        frame = np.full((20, 200, 3), 100, np.uint8)
        if t in marked:
            frame[5:10, t : t + 5] = 255
        yield frame, Fraction(t, 25)


def covered(frames, *marked, hold=3, **options):
    method = create(f"blacken:finder=white,hold={hold}")
    return [
        (t, np.flatnonzero((frame == 0).all(-1).any(0)))
        for frame, t in anonymized(video(frames, *marked), method, **options)
    ]


@pytest.mark.parametrize("marked", [5, 15, 16, 17, 31, 32])
def test_hold_goes_over_the_borders_of_clips(searched, marked):
    tally = Tally()
    out = covered(40, marked, batch=1, tally=tally)
    assert [t for t, _ in out] == [Fraction(t, 25) for t in range(40)]
    around = range(marked - 3, min(marked + 4, 40))
    assert [t for t, (_, columns) in enumerate(out) if len(columns)] == list(around)
    assert all(columns.tolist() == list(range(marked, marked + 5)) for _, columns in out[marked - 3 : marked + 4])
    assert tally.covered == len(around)


@pytest.mark.parametrize("hold", [0, 1, 20, 100])
def test_a_long_video_is_covered_as_if_it_were_one_clip(searched, hold):
    marked = (0, 14, 15, 33, 59)
    cut, whole = covered(60, *marked, hold=hold, batch=1), covered(60, *marked, hold=hold, batch=100)
    assert [columns.tolist() for _, columns in cut] == [columns.tolist() for _, columns in whole]
    assert len(cut) == 60


def test_each_frame_is_searched_once(searched):
    covered(50, 20, batch=1)
    assert searched == [16, 16, 16, 2]


def test_no_more_frames_wait_than_a_clip_and_the_hold(searched):
    read = 0

    def counted():
        nonlocal read
        for item in video(100):
            read += 1
            yield item

    for out, _ in enumerate(anonymized(counted(), create("blacken:finder=white"), batch=1), 1):
        assert read - out < 16 + 3


def test_nobody_is_found(searched):
    tally = Tally()
    assert all(not len(columns) for _, columns in covered(20, tally=tally))
    assert tally.covered == 0
    assert covered(0) == []


def test_methods_that_change_everything_count_nothing():
    tally = Tally()
    assert len(list(anonymized(video(5), create("downsample"), tally=tally))) == 5
    assert tally.covered is None


def test_a_finder_that_fails_says_where(monkeypatch):
    def fails(clip):
        raise RuntimeError("no memory")

    monkeypatch.setitem(FINDERS, "white", fails)
    with pytest.raises(ActonymError, match="blacken failed on frames 0 to 15: RuntimeError: no memory"):
        covered(20, batch=1)


def test_stopped_early_everything_that_was_read_comes_out(searched):
    asked = iter([False] * 21 + [True])  # once for each frame, and once more after a whole clip
    out = covered(40, 19, batch=1, stop=lambda: next(asked, True))
    assert len(out) == 21
    assert [t for t, (_, columns) in enumerate(out) if len(columns)] == [16, 17, 18, 19, 20]


def test_the_record_counts_covered_frames_and_the_user_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(FINDERS, "nobody", lambda clip: clip[:, :1] * 0)
    make(tmp_path / "in.mp4")
    for finder, count in (("everywhere", 20), ("nobody", 0)):
        out = tmp_path / f"{finder}.mp4"
        main(["anonymize", str(tmp_path / "in.mp4"), str(out), "--method", f"blacken:finder={finder}", "--quiet"])
        assert json.loads((tmp_path / f"{finder}.mp4.json").read_text())["covered"] == count
        told = capsys.readouterr().err
        assert ("nobody was found in 20 of 20 frames of in.mp4" in told) == (count == 0)
