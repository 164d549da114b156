import pytest
import torch

from actonym.data import Stage, open_dataset
from actonym.nets import person, yunet
from actonym.nets.person import FOLDER, LARGE, WEIGHTS, PersonNet, find, sizes, spread


def overlap(clip, truth):
    """IoU, and the share of the person's pixels that is missed."""
    found = find(clip)[0, 0] > 0
    return float((found & truth).sum() / (found | truth).sum()), float((truth & ~found).sum() / truth.sum())


def test_what_ships_is_small_and_has_a_card():
    assert WEIGHTS.stat().st_size <= 3_000_000
    card = (FOLDER / "person.md").read_text()
    assert "IoU" in card and "missed" in card


def test_logits_of_a_quarter_of_the_size():
    assert PersonNet().eval()(torch.rand(2, 3, 64, 96)).shape == (2, 1, 16, 24)


@pytest.mark.parametrize("size", [(240, 320), (64, 64), (37, 500), (480, 270), (1080, 1920)])
def test_sizes_at_which_it_looks(size):
    seen = sizes(*size)
    assert len(seen) == (2 if min(size) > LARGE else 1)
    for height, width in seen:
        assert height % 32 == width % 32 == 0 and min(height, width) >= 32
        assert 0.7 < (height / width) / (size[0] / size[1]) < 1.5


def test_any_clip_gives_a_mask_of_its_shape():
    for shape in ((2, 3, 3, 37, 51), (1, 3, 1, 240, 135)):
        mask = find(torch.rand(shape))
        assert mask.shape == (shape[0], 1, *shape[2:]) and mask.min() >= 0


def test_a_frame_does_not_depend_on_its_neighbours():
    torch.manual_seed(0)
    clip = torch.rand(2, 3, 5, 48, 64)
    alone = find(clip[1:, :, 3:4]) > 0
    assert ((find(clip)[1:, :, 3:4] > 0) != alone).float().mean() < 1e-3


def test_people_who_do_not_touch_have_numbers_of_their_own(monkeypatch):
    def two(maps, size, dilation):
        likely = torch.zeros(2, 1, *size)
        likely[..., 2:8, 2:8] = likely[..., 20:30, 20:30] = 1
        return likely

    monkeypatch.setattr(person, "spread", two)
    assert find(torch.rand(1, 3, 2, 32, 32)).unique().tolist() == [0, 1, 2]


def test_puppets_of_the_stage_are_found():
    world = Stage(size=160, frames=4, train=1, val=1, test=4)
    found = []
    for sample in world.samples("test"):
        truth = sample.video.mask([0, 3])[0] > 0
        found.append(overlap(sample.video.frames([0, 3])[None].float() / 255, truth))
    assert sum(missed for _, missed in found) / len(found) < 0.3


def test_real_people_in_films_it_has_never_seen(shared):
    pytest.importorskip("scipy")
    folder = shared / "data" / "jhmdb_train"
    samples = open_dataset(f"vp-jhmdb:{folder}").samples("test")[::12]
    found = []
    for sample in samples:
        indices = [sample.video.length // 2]
        truth = sample.video.mask(indices)[0].bool()
        found.append(overlap(sample.video.frames(indices)[None].float() / 255, truth))
    iou, missed = (sum(values) / len(found) for values in zip(*found, strict=True))
    assert iou > 0.33 and missed < 0.12


def test_real_faces(shared):
    from actonym import weights
    from actonym.errors import UserError

    try:
        weights.path("yunet")
    except UserError:
        pytest.skip("YuNet was not pulled on this machine")
    folder = shared / "data" / "jhmdb_train"
    near = [s for s in open_dataset(f"vp-jhmdb:{folder}").samples("test") if s.text == "brush hair"][:6]
    found = [yunet.find(sample.video.frames([10])[None].float() / 255).any() for sample in near]
    assert sum(map(bool, found)) >= len(found) / 2 > 0


def test_dilation_widens_and_the_surest_of_several_sizes_counts():
    one, other = torch.zeros(1, 1, 8, 8), torch.zeros(1, 1, 16, 16)
    one[..., 2, 2] = 1
    assert (spread([one], (8, 8), 1) > 0.5).sum() == 9 and (spread([one], (8, 8), 0) > 0.5).sum() == 1
    other[..., 14, 14] = 1
    both = spread([one, other], (16, 16), 0)
    assert both[..., 4:6, 4:6].max() > 0.5 and both[..., 14, 14] > 0.5
