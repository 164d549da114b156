import pytest
import torch

from actonym import methods
from actonym.errors import UserError
from actonym.nets.finder import FINDERS


@pytest.fixture
def white(monkeypatch):
    monkeypatch.setitem(FINDERS, "white", lambda clip: (clip.amin(1, keepdim=True) > 0.99).byte())


def clip_with_a_mark(at):
    """Grey, with two white corners of a square in frame `at`."""
    clip = torch.full((1, 3, 12, 32, 32), 0.5)
    clip[:, :, at, 10, 8] = clip[:, :, at, 19, 15] = 1
    return clip


@pytest.mark.parametrize("name", ["blur", "blacken"])
def test_what_is_found_is_covered_and_held(white, name):
    clip = torch.rand(1, 3, 12, 32, 32) * 0.9
    clip[:, :, 5, 10:20, 8:16] = 1
    out = methods.create(f"{name}:finder=white")(clip)
    changed = (out != clip).any(1)[0]
    assert [t for t in range(12) if changed[t].any()] == [2, 3, 4, 5, 6, 7, 8]
    assert changed[2, 10:20, 8:16].all() and changed[2].sum() == 80


def test_shapes(white):
    clip = clip_with_a_mark(3)
    mask, box = (
        methods.create(f"blacken:finder=white,hold=0,shape={shape}")(clip)[0, 0] == 0 for shape in ("mask", "box")
    )
    assert mask.sum() == 2
    assert not box[2].any() and box.sum() == box[3].sum() >= 2


def test_the_truth_is_the_mask_that_comes_with_the_data_and_is_not_held(white):
    clip = clip_with_a_mark(3)
    mask = torch.zeros_like(clip[:, :1])
    mask[:, :, 6, 0:4, 0:4] = 1
    out = methods.create("blacken:finder=truth")(clip, mask)
    assert [t for t in range(12) if (out[0, 0, t] == 0).any()] == [6]
    assert methods.create("blacken:finder=truth")(clip, mask * 0).equal(clip), "a mask that says nobody is believed"
    found = methods.create("blacken:finder=white,hold=0")(clip, mask)
    assert [t for t in range(12) if (found[0, 0, t] == 0).any()] == [3], "a finder looks for itself"


def test_without_masks_the_truth_is_what_the_person_finder_says(monkeypatch):
    monkeypatch.setitem(FINDERS, "person", lambda clip: torch.ones_like(clip[:, :1]))
    assert methods.create("blacken:finder=truth")(torch.rand(1, 3, 4, 16, 16)).max() == 0


def test_people_are_found_by_default_and_in_boxes():
    for name in ("blur", "blacken"):
        method = methods.resolve(name)
        assert (method.finder, method.shape, method.hold) == ("person", "box", 3)
        assert methods.create(name, "stage").finder == "truth"


def test_the_checkpoint_keeps_finder_shape_and_hold(tmp_path):
    methods.save(methods.create("blacken:finder=everywhere,shape=mask,hold=5"), tmp_path / "saved")
    again = methods.load(tmp_path / "saved")
    assert (again.finder, again.shape, again.hold) == ("everywhere", "mask", 5)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("shape=circle", "box or mask"),
        ("hold=-1", "number of frames"),
        ("hold=0.3", "number of frames"),
        ("finder=nobody", "unknown finder"),
    ],
)
def test_bad_settings_are_one_line(setting, message):
    with pytest.raises(UserError, match=message):
        methods.create(f"blacken:{setting}")
