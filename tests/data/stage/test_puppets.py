"""The first world: results rest on its pixels, so they must not change."""

import numpy as np
import pytest

from actonym.data import ATTRIBUTES, Stage

# Of the stage at 64 pixels: the mean of the frames, of the person mask and of the depth, each plain and weighted with a
# ramp over the clip.
MEANS = {
    ("train", 0): (129.7570, 64.2091, 0.0562, 0.0356, 5.6575, 2.7918),
    ("train", 3): (95.2232, 47.4723, 0.0361, 0.0185, 5.7621, 2.8438),
    ("test", 2): (67.0263, 33.4120, 0.0349, 0.0168, 5.6206, 2.7755),
}
LABELS = {
    "train": ["0 11100 dark-woman", "1 10001 light-man", "2 01001 dark-man", "3 11100 dark-woman"],
    "val": ["0 11110 dark-woman", "1 11101 dark-woman", "2 11001 dark-man"],
    "test": ["0 10000 light-man", "1 11011 dark-man", "2 00000 light-man"],
}


@pytest.fixture(scope="module")
def world():
    return Stage(size=64, train=6, val=3, test=3)


@pytest.mark.parametrize(("split", "row"), MEANS)
def test_pixels_are_what_they_were(world, split, row):
    """Machines may differ in the last bit of a pixel, not in these."""
    film = world.film(split, row)
    ramp = np.linspace(0, 1, film.mask.size).reshape(film.mask.shape)
    found = (film.frames, film.frames * ramp[..., None], film.mask > 0, film.mask * ramp, film.depth, film.depth * ramp)
    assert [value.mean() for value in found] == pytest.approx(MEANS[split, row], abs=2e-3, rel=1e-4)


def test_labels_are_what_they_were(world):
    for split, said in LABELS.items():
        for sample, line in zip(world.samples(split), said, strict=False):
            action, privacy, who = line.split()
            assert sample.action == int(action) and "".join(map(str, sample.privacy)) == privacy
            assert sample.subject == f"{split}-{who}-0" and sample.name.startswith(f"{split}/0000")
            assert sample.domain == "stage" and not (sample.source or sample.actions or sample.spans or sample.segments)
    assert world.attributes == ATTRIBUTES and world.actions[:2] == ("raise_arm", "lower_arm")
