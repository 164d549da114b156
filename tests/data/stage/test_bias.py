"""The biased worlds: who does what in training, and that testing is fair."""

import numpy as np
import pytest

from actonym.data import open_dataset
from actonym.data.stage.bias import FLIPPED


def shares(data, split):
    """The share of women among those who do each action."""
    samples, place = data.samples(split), data.attributes.index("female")
    return np.array([np.mean([s.privacy[place] for s in samples if s.action == a]) for a in range(len(data.actions))])


@pytest.mark.parametrize(("world", "rare"), [("bias-f", 0.05), ("bias-m", 0.95)])
def test_one_action_is_flipped_in_training_and_none_in_testing(world, rare):
    data = open_dataset(f"stage:world={world},train=400,val=200,test=100")
    flipped = data.actions.index(FLIPPED)
    for split in ("train", "val"):
        found = shares(data, split)
        assert found[flipped] == pytest.approx(1 - rare) and np.delete(found, flipped) == pytest.approx(rare)
    assert shares(data, "test") == pytest.approx(0.5)


def test_the_other_attributes_are_fair_and_the_knob_is_the_one_of_all_worlds():
    data = open_dataset("stage:world=bias-f,train=2000")
    others = [place for place, name in enumerate(data.attributes) if name != "female"]
    assert np.abs(np.array([s.privacy for s in data.samples("train")])[:, others].mean(0) - 0.5).max() < 0.05
    assert shares(open_dataset("stage:world=bias-f,train=400,correlation=0"), "train") == pytest.approx(0.5)
    assert set(shares(open_dataset("stage:world=bias-f,train=400,correlation=1"), "train")) == {0.0, 1.0}


def test_women_are_drawn_as_women():
    data = open_dataset("stage:world=bias-m,train=40")
    for row, sample in enumerate(data.samples("train")):
        actor = data.labels("train", row).actor
        assert actor.woman == actor.long_hair == sample.privacy[data.attributes.index("female")]
        assert (actor.hair.mean() > 90) == actor.woman, "fair or dark"
