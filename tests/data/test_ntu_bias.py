from collections import Counter

import pytest
from layouts import write
from test_ntu60 import layout

from actonym.data import open_dataset
from actonym.data.ntu60 import ACTIONS, TRAIN_SUBJECTS
from actonym.data.ntu_bias import FEMALE, MALE, read_labels
from actonym.errors import UserError

NAMES = [f"S001C001P{person:03d}R001A001" for person in range(1, 41)]
GENDERS = {person: int(person % 3 == 0 or person in (1, 2, 4)) for person in range(1, 41)}  # fewer women, as in NTU


def counts(labels, action, split):
    chosen = [label.privacy[0] for label in labels if label.action == action and label.split == split]
    return Counter(chosen)


@pytest.fixture(scope="module")
def labels():
    return read_labels(NAMES, GENDERS)


def test_training_is_biased_and_one_action_flipped(labels):
    for action in ("clap", "fall", "brush hair"):
        for split in ("train", "val"):
            found = counts(labels, action, split)
            common, rare = (FEMALE, MALE) if action == "brush hair" else (MALE, FEMALE)
            share = found[common] / found.total()
            assert (0.93 if split == "train" else 0.8) < share < 0.97 and found[rare], (action, split, found)


def test_testing_is_balanced(labels):
    assert (
        len({(counts(labels, action, "test")[FEMALE], counts(labels, action, "test")[MALE]) for action in ACTIONS}) == 1
    )
    found = counts(labels, "clap", "test")
    assert found[FEMALE] == found[MALE] > 0
    people = {label.subject: label.privacy[0] for label in labels if label.split == "test"}
    assert Counter(people.values())[FEMALE] == Counter(people.values())[MALE]
    assert not {int(name[1:]) for name in people} & TRAIN_SUBJECTS
    takes = {label.action: set() for label in labels}
    for label in labels:
        if label.split == "test":
            takes[label.action].add(label.name[:-4])
    assert len({frozenset(names) for names in takes.values()}) == 1, "the same recordings for every action"


def test_as_many_women_as_men_and_nobody_in_two_parts(labels):
    parts = {
        split: {(x.subject, x.privacy[0]) for x in labels if x.split == split} for split in ("train", "val", "test")
    }
    assert not parts["train"] & parts["val"] and not (parts["train"] | parts["val"]) & parts["test"]
    women = [person for person in TRAIN_SUBJECTS if GENDERS[person]]
    trained = parts["train"] | parts["val"]
    assert Counter(bit for _, bit in trained)[FEMALE] <= len(women) >= Counter(bit for _, bit in trained)[MALE]


def test_m_is_f_with_the_genders_swapped(labels):
    swapped = read_labels(NAMES, {person: 1 - bit for person, bit in GENDERS.items()}, rare=MALE)
    assert [label.split for label in swapped] == [label.split for label in labels]


def test_the_seed_chooses_the_videos(labels):
    other = read_labels(NAMES, GENDERS, seed=1)
    assert [label.split for label in other] != [label.split for label in labels]


def test_official_layout(tmp_path):
    layout(tmp_path, people=(1, 2, 4, 5, 3, 6))
    rows = "P001,F\nP002,F\nP004,M\nP005,M\nP003,F\nP006,M\n"
    genders = write(tmp_path / "genders.csv", f"subject,gender\n{rows}")
    data = open_dataset(f"ntu-bias-m:path={tmp_path},genders={genders},flipped=clap,partial=true")
    assert data.attributes == ("female",) and len(data.samples("test")) == 720
    brush = [s.privacy[0] for s in data.samples("train") if data.actions[s.action] == "brush hair"]
    clap = [s.privacy[0] for s in data.samples("train") if data.actions[s.action] == "clap"]
    assert sum(brush) == len(brush) - 1 > 1 and sum(clap) == 1 < len(clap), "mostly women, but for clapping"
    assert len(data.samples("val")) > 0


def test_bad_input(tmp_path):
    layout(tmp_path)
    with pytest.raises(UserError, match="ntu-bias-f needs the gender of the subjects"):
        open_dataset(f"ntu-bias-f:{tmp_path}")
    genders = write(tmp_path / "genders.csv", "subject,gender\nP001,F\n")
    with pytest.raises(UserError, match=r"1 subjects have no gender in the file \(P003\)"):
        open_dataset(f"ntu-bias-f:path={tmp_path},genders={genders}")
    write(genders, "subject,gender\nP001,F\nP003,F\n")
    with pytest.raises(UserError, match="needs women and men among the train subjects P001"):
        open_dataset(f"ntu-bias-f:path={tmp_path},genders={genders}")
    with pytest.raises(UserError, match="unknown action of ntu60 'brush hare'; did you mean 'brush hair'"):
        read_labels(NAMES, GENDERS, flipped="brush hare")
