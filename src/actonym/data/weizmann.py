"""Weizmann: nine people, ten actions, one still camera."""

import re

from actonym.data.base import DatasetCard, register
from actonym.data.files import FolderDataset, Label, folder, list_files
from actonym.errors import unknown

ACTIONS = {
    "bend": "bend down",
    "jack": "jumping jack",
    "jump": "jump forward on two legs",
    "pjump": "jump in place on two legs",
    "run": "run",
    "side": "gallop sideways",
    "skip": "skip",
    "walk": "walk",
    "wave1": "wave one hand",
    "wave2": "wave two hands",
}
PEOPLE = ("daria", "denis", "eli", "ido", "ira", "lena", "lyova", "moshe", "shahar")
TWICE = {("lena", "run"), ("lena", "skip"), ("lena", "walk")}  # lena_run1, lena_run2


@register("weizmann")
class Weizmann(FolderDataset):
    """One person is left out for testing, as the field does it; average over all nine."""

    card = DatasetCard(
        title="Weizmann (Blank et al., ICCV 2005)",
        about="93 videos of nine people, ten actions; one person is left out for testing",
        licence="no licence stated; research use",
        source="https://www.wisdom.weizmann.ac.il/~vision/SpaceTimeActions.html",
        layout="daria_bend.avi and so on",
        actions=len(ACTIONS),
    )
    actions = tuple(ACTIONS)

    def __init__(self, path: str, test: str = PEOPLE[-1], partial: bool = False) -> None:
        """`test` is the person who is left out."""
        super().__init__(read_labels(test), list_files(folder(path), 1), partial)


def read_labels(test: str = PEOPLE[-1]) -> list[Label]:
    """All 93 videos."""
    if test not in PEOPLE:
        raise unknown("person of weizmann", test, PEOPLE)
    names = [
        f"{person}_{action}{take}"
        for person in PEOPLE
        for action in ACTIONS
        for take in (("1", "2") if (person, action) in TWICE else ("",))
    ]
    return [_label(name, test) for name in names]


def _label(name: str, test: str) -> Label:
    person, _, action = name.partition("_")
    if action not in ACTIONS:
        action = re.sub(r"\d$", "", action)
    return Label(name, action, "test" if person == test else "train", subject=person, text=ACTIONS[action])
