"""The first world: results rest on its pixels, so they must not change."""

import numpy as np
import pytest

from actonym.data import ATTRIBUTES, Stage

# Of the stage at 64 pixels: the mean of the frames, of the person mask and of the depth, each plain and weighted with a
# ramp over the clip.
MEANS = {
    ("train", 0): (130.3498, 64.5268, 0.0681, 0.0430, 5.7651, 2.8476),
    ("train", 3): (95.8699, 47.8035, 0.0441, 0.0225, 5.8796, 2.9053),
    ("test", 2): (66.8518, 33.3323, 0.0422, 0.0204, 5.7372, 2.8365),
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
