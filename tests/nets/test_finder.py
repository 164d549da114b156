import pytest
import torch

from actonym.errors import UserError
from actonym.nets import finder, yunet
from actonym.nets.finder import FINDERS, held, known, regions, shaped


def frame_mask(frames, *found):
    mask = torch.zeros(1, 1, frames, 8, 8, dtype=torch.bool)
    mask[:, :, list(found), 2:4, 3:6] = True
    return mask


def test_found_in_one_frame_is_covered_before_and_after():
    longer = held(frame_mask(12, 5), 3)
    assert [t for t in range(12) if longer[0, 0, t].any()] == [2, 3, 4, 5, 6, 7, 8]
    assert torch.equal(longer[0, 0, 2], frame_mask(12, 5)[0, 0, 5])


def test_hold_at_the_ends_longer_than_the_clip_and_none():
    assert held(frame_mask(4, 0), 10).flatten(3).any(-1).all()
    assert torch.equal(held(frame_mask(6, 2), 0), frame_mask(6, 2))
    before = frame_mask(6, 2)
    held(before, 2)
    assert torch.equal(before, frame_mask(6, 2)), "the input is left alone"


def test_hold_does_not_reach_other_videos_of_a_batch():
    both = torch.cat([frame_mask(5, 4), torch.zeros_like(frame_mask(5))])
    assert not held(both, 3)[1].any()


def test_box_and_mask():
    mask = torch.zeros(1, 1, 1, 10, 10)
    mask[..., 2, 2] = mask[..., 5, 7] = 1
    mask[..., 9, 9] = 2
    box = shaped(mask, "box")[0, 0, 0]
    assert box[2:6, 2:8].all() and box[9, 9] and box.sum() == 4 * 6 + 1
    assert shaped(mask, "mask").sum() == 3
    assert not shaped(mask * 0, "box").any()


def test_unknown_finder_suggests_the_nearest():
    with pytest.raises(UserError, match="did you mean 'person'"):
        known("persons")


def test_a_finder_of_your_own(monkeypatch):
    monkeypatch.setattr(finder, "FINDERS", dict(FINDERS))

    @finder.finder("bright")
    def bright(clip):
        return (clip.mean(1, keepdim=True) > 0.9).byte()

    clip = torch.zeros(1, 3, 2, 8, 8)
    clip[:, :, 1, 4:6, 4:6] = 1
    found = regions(clip, known("bright"))
    assert not found[:, :, 0].any() and found[0, 0, 1, 4:6, 4:6].all() and found.sum() == 4


def test_both_covers_what_either_finds(monkeypatch):
    left, right = (torch.zeros(1, 1, 1, 4, 4) for _ in range(2))
    left[..., 0], right[..., 3] = 1, 1
    monkeypatch.setitem(FINDERS, "person", lambda clip: left)
    monkeypatch.setitem(FINDERS, "face", lambda clip: right)
    assert torch.equal(regions(torch.zeros(1, 3, 1, 4, 4), "both"), (left + right) > 0)


def test_a_finder_with_a_wrong_answer_is_refused(monkeypatch):
    """One mask for all frames would be spread over them without a word."""
    monkeypatch.setitem(FINDERS, "person", lambda clip: torch.zeros(1, 1, 1, 4, 4))
    with pytest.raises(ValueError, match="person returned"):
        regions(torch.zeros(1, 3, 5, 4, 4), "person")


@pytest.mark.parametrize("name", ["face", "both"])
def test_a_finder_without_its_weights_says_how_to_get_them(name, monkeypatch, tmp_path):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path))
    with pytest.raises(UserError, match="actonym weights pull yunet"):
        known(name)


def test_heads_are_rounded_and_larger_than_faces(monkeypatch):
    monkeypatch.setattr(yunet, "boxes", lambda picture: [(40.0, 30.0, 10.0, 12.0), (5.0, 5.0, 8.0, 8.0)])
    mask = yunet.find(torch.zeros(1, 3, 2, 80, 100))
    assert mask.shape == (1, 1, 2, 80, 100) and mask.unique().tolist() == [0, 1, 2]
    first = mask[0, 0, 0] == 1
    assert first[30:42, 40:50].all(), "the whole face"
    rows, columns = first.any(1).sum(), first.any(0).sum()
    assert rows >= 1.6 * 12 and columns >= 1.6 * 10
    assert first.sum() < 0.85 * rows * columns, "no box"


def test_large_frames_are_searched_for_faces_at_several_sizes():
    assert yunet.sides(240, 320) == (320, 640)
    assert yunet.sides(1080, 1920) == (320, 640, 1280)
    assert yunet.sides(64, 64) == (320,)
