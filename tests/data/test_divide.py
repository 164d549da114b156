from collections import Counter

from actonym.data.divide import divide


def world(actions=5, groups=20):
    """Groups of one to four videos, some with two actions."""
    return [
        (f"film{a}-{g}" if g else "shared", f"act{a}")
        for a in range(actions)
        for g in range(groups)
        for _ in range(1 + g % 4)
    ]


def test_whole_groups_about_the_share_and_every_action_everywhere():
    videos = world()
    place = divide(videos, {"test": 0.25, "val": 0.15})
    assert set(place) == {group for group, _ in videos}
    for action in {action for _, action in videos}:
        counts = Counter(place[group] for group, a in videos if a == action)
        total = counts.total()
        assert abs(counts["test"] / total - 0.25) < 0.08 and abs(counts["val"] / total - 0.15) < 0.08


def test_the_same_whatever_the_order_and_another_with_another_salt():
    videos = world()
    place = divide(videos, {"val": 0.2})
    assert divide(videos[::-1], {"val": 0.2}) == place
    assert divide(videos, {"val": 0.2}, salt="x") != place


def test_an_action_with_one_group_stays_in_training():
    assert divide([("only", "a"), ("only", "a"), ("b1", "b"), ("b2", "b")], {"val": 0.1})["only"] == "train"


def test_few_groups_still_give_a_validation_part():
    place = divide([("x", "a")] * 10 + [("y", "a")] * 4, {"val": 0.1})
    assert place == {"x": "train", "y": "val"}
