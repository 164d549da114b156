import pytest
import torch

from actonym.bench.floors import RIDGE, action_prior, by_several_actions, chance, floors, shares_by_action

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


def several(videos: int, actions: int, seed: int = 0) -> torch.Tensor:
    return (torch.rand(videos, actions, generator=torch.Generator().manual_seed(seed)) < 0.4).float()


@pytest.mark.parametrize("videos, actions, attributes", [(30, 2, 1), (200, 5, 3), (60, 12, 4)])
def test_several_actions_predict_as_scikit_learns_regression(videos: int, actions: int, attributes: int) -> None:
    from sklearn.linear_model import LogisticRegression

    action, test = several(videos, actions), several(50, actions, 1)
    hints = action @ torch.randn(actions, attributes, generator=torch.Generator().manual_seed(2))
    labels = (hints + several(videos, attributes, 3) > hints.median(0).values).float()
    found = by_several_actions(action, labels, test)
    for k in range(attributes):
        slow = LogisticRegression(C=1 / RIDGE, tol=1e-10, max_iter=10_000).fit(
            action.double().numpy(), labels[:, k].numpy()
        )
        assert found[:, k].numpy() == pytest.approx(slow.predict_proba(test.double().numpy())[:, 1], abs=1e-4)


def test_floors_of_several_actions_and_kinds_of_attributes() -> None:
    """An object that one action always needs is given away by the action; a scene that is left to chance is not."""
    action = several(4000, 4)
    scene = several(4000, 1, 7)
    labels = torch.cat([action[:, :1], scene], 1)
    names = ["object: ball", "scene: sea"]
    found = floors(action[:2000], labels[:2000], action[2000:], labels[2000:], names)
    assert found["per_group"]["object"]["action_prior"] == pytest.approx(1.0)
    assert found["per_group"]["scene"]["action_prior"] == pytest.approx(0.4, abs=0.05)
    assert found["per_group"]["object"]["chance"] == pytest.approx(0.4, abs=0.03)
    assert found["chance"] == pytest.approx(0.4, abs=0.03) and found["utility"] == pytest.approx(0.4, abs=0.03)
    assert found["action_prior"] == pytest.approx(0.7, abs=0.04)
    single = floors(action[:2000, 0].long(), labels[:2000], action[2000:, 0].long(), labels[2000:], names)
    assert "utility" not in single


def test_an_action_that_never_occurs_and_an_attribute_that_is_always_there() -> None:
    action = torch.cat([several(50, 3), torch.zeros(50, 1)], 1)
    labels = torch.cat([torch.ones(50, 1), several(50, 1, 5)], 1)
    found = by_several_actions(action, labels, torch.eye(4))
    assert found.isfinite().all() and (found[:, 0] > 0.99).all()
    assert found[3, 1].item() == pytest.approx(by_several_actions(action, labels, torch.zeros(1, 4))[0, 1].item())
