import pytest
import torch

from actonym.bench.floors import action_prior, chance, floors, shares_by_action

NAMES = ["face", "gender"]


def test_chance_by_hand() -> None:
    labels = torch.tensor([[1, 0], [1, 0], [1, 1], [0, 0]])
    found = chance(labels, NAMES)
    assert found["per_attribute"] == {"face": 0.75, "gender": 0.25}
    assert found["cmap"] == 0.5
    assert found["f1"] == pytest.approx((0.75 / 1.25 + 0.25 / 0.75) / 2)


def test_chance_leaves_out_what_the_attackers_leave_out() -> None:
    assert chance(torch.tensor([[1, 1], [0, 1]]), NAMES)["cmap"] == 0.5


def test_shares_are_drawn_to_the_overall_share() -> None:
    action, labels = torch.tensor([0, 0, 0, 1]), torch.tensor([[1.0], [1.0], [0.0], [0.0]])
    shares = shares_by_action(action, labels, classes=3)
    assert shares.flatten().tolist() == pytest.approx(
        [2.5 / 4, 0.5 / 2, 0.5]
    )  # an action never seen: the overall share


def test_independent_attributes_have_an_action_prior_near_chance() -> None:
    generator = torch.Generator().manual_seed(0)
    action = torch.randint(8, (20_000,), generator=generator)
    labels = (torch.rand(20_000, 2, generator=generator) < torch.tensor([0.5, 0.2])).float()
    found = floors(action[:10_000], labels[:10_000], action[10_000:], labels[10_000:], NAMES)
    assert found["action_prior"] == pytest.approx(found["chance"], abs=0.015)
    assert found["chance"] == pytest.approx(0.35, abs=0.01)


def test_an_attribute_given_by_the_action_has_an_action_prior_of_one() -> None:
    action = torch.arange(8).repeat(10)
    labels = torch.stack([action < 4, action % 2 == 0], 1).float()
    found = floors(action, labels, action, labels, NAMES)
    assert found["action_prior"] == 1.0 and found["f1"]["action_prior"] == 1.0
    assert found["chance"] == 0.5
    assert found["per_attribute"] == {name: {"chance": 0.5, "action_prior": 1.0} for name in NAMES}


def test_the_prior_is_fitted_on_training_labels_only() -> None:
    action, train = torch.tensor([0, 0, 1, 1]), torch.tensor([[1.0], [1.0], [0.0], [0.0]])
    turned = action_prior(action, train, action, 1 - train, ["face"])
    assert turned["cmap"] == 0.5 and turned["f1"] == 0.0  # the test labels say the opposite of what was learned


def test_a_test_action_absent_from_training_is_no_error() -> None:
    found = action_prior(torch.tensor([0, 1]), torch.tensor([[1.0], [0.0]]), torch.tensor([0, 5]),
                         torch.tensor([[1.0], [0.0]]), ["face"])  # fmt: skip
    assert found["cmap"] == 1.0
