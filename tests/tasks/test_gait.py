import pytest
import torch

from actonym.data.casia_b import read_labels
from actonym.errors import UserError
from actonym.tasks.base import VideoFeatures
from actonym.tasks.gait import gait, walk_of

PEOPLE, VIEWS = ("001", "002", "003"), ("000", "018", "036")
WALKS = [f"nm-{n:02d}" for n in range(1, 7)] + ["bg-01", "bg-02", "cl-01", "cl-02"]


def walks(seed=0, noise=1.0):
    generator = torch.Generator().manual_seed(seed)
    made = []
    for p, person in enumerate(PEOPLE):
        for walk in WALKS:
            for view in VIEWS:
                own = torch.zeros(6)
                own[p] = 1
                made.append(
                    VideoFeatures(own + noise * torch.randn(2, 6, generator=generator), f"{person}-{walk}-{view}")
                )
    return made


def test_rank1_is_that_of_a_slow_twin():
    videos = walks()
    means = {video.name: video.features.mean(0) for video in videos}
    for condition, probes in (("nm", WALKS[4:6]), ("bg", WALKS[6:8]), ("cl", WALKS[8:])):
        shares = []
        for seen in VIEWS:
            for other in VIEWS:
                if seen == other:
                    continue
                right = []
                for person in PEOPLE:
                    for walk in probes:
                        x = means[f"{person}-{walk}-{seen}"]
                        names = [f"{q}-{g}-{other}" for q in PEOPLE for g in WALKS[:4]]
                        best = max(names, key=lambda name: float(torch.cosine_similarity(x, means[name], dim=0)))
                        right.append(best.startswith(person))
                shares.append(sum(right) / len(right))
        assert gait(videos)[condition] == pytest.approx(sum(shares) / 6)
    found = gait(videos)
    assert found["rank1"] == pytest.approx((found["nm"] + found["bg"] + found["cl"]) / 3)
    assert 0 < found["any_view"] < 1


def test_the_identical_view_is_no_help():
    """Features that know a person from one side only identify nobody across sides, though every video has a twin."""
    sides = {}
    torch.manual_seed(0)
    for video in walks():
        sides.setdefault((video.name[:3], video.name[-3:]), torch.randn(1, 64))
    videos = [VideoFeatures(sides[video.name[:3], video.name[-3:]], video.name) for video in walks()]
    found = gait(videos)
    assert found["any_view"] == 1 and found["rank1"] < 0.7


def test_features_that_are_all_alike_identify_at_chance():
    blank = gait([VideoFeatures(torch.ones(1, 6), video.name) for video in walks()])
    assert blank["rank1"] == pytest.approx(1 / 3) and blank["any_view"] == pytest.approx(1 / 3)
    assert gait(walks(noise=0.0))["rank1"] == 1


def test_names_are_those_of_the_dataset():
    labels = read_labels()
    assert {walk_of(label.name).person for label in labels} == {label.subject for label in labels}
    assert {(walk_of(x.name).condition, x.domain) for x in labels} == {
        ("nm", "gallery"),
        ("nm", "probe"),
        ("bg", "probe"),
        ("cl", "probe"),
    }
    with pytest.raises(UserError, match="not named as"):
        walk_of("ward-03")


def test_what_is_missing_is_said():
    videos = walks()
    with pytest.raises(UserError, match="gallery"):
        gait([video for video in videos if "nm-0" not in video.name])
    with pytest.raises(UserError, match="two views"):
        gait([video for video in videos if video.name.endswith("000")])
    assert set(gait([video for video in videos if "-cl-" not in video.name])) == {"nm", "bg", "rank1", "any_view"}
