"""PA-HMDB51: 515 videos of HMDB51 with private attributes frame by frame."""

import json
from pathlib import Path
from typing import Any

from actonym.data import hmdb51
from actonym.data.base import ATTRIBUTES, DatasetCard, Span, register
from actonym.data.divide import divide
from actonym.data.files import FolderDataset, Label, folder, list_files, locate, stem
from actonym.errors import UserError

LABELS = "PrivacyAttributes"
TEST_SHARE = (
    0.4  # STPrivacy, section 4.7: a random 60 % for training; ours by whole films, since theirs is not released
)


@register("pa-hmdb51")
class PaHmdb51(FolderDataset):
    """Attributes count as present where they can be told (any value but 0), as in VP-HMDB51.

    A sample's `privacy` is 1 where some frame shows the attribute; `privacy_at` asks for one frame; `spans` hold the
    values themselves: face 1 partly 2 fully seen, skin colour 1 to 3, gender 1 male 2 female, nudity 1 and 2.
    """

    card = DatasetCard(
        title="PA-HMDB51 (Wu et al., TPAMI 2020)",
        about="515 videos of HMDB51 with five private attributes frame by frame; 60 % for training",
        licence="labels for non-commercial research only; videos CC BY 4.0",
        source=f"labels https://github.com/VITA-Group/PA-HMDB51; videos {hmdb51.Hmdb51.card.source}",
        papers=("SPLAVU", "STPrivacy"),
        layout=f"CLASS/CLIP.avi of HMDB51 and {LABELS}/CLASS.json",
        actions=len(hmdb51.ACTIONS),
    )
    actions = hmdb51.ACTIONS
    attributes = ATTRIBUTES
    subset = True

    def __init__(self, path: str, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the labels where they do not lie with the clips."""
        root = folder(path)
        super().__init__(read_labels(folder(lists or root)), list_files(root), partial)


def read_labels(root: Path) -> list[Label]:
    """The labels below `root`, divided 60/40; no video is needed for it."""
    found = []
    for path in sorted(locate(root, LABELS).glob("*.json")):
        try:
            table = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise UserError(f"{path.name} is no JSON: {error}") from error
        found += [(path.stem, clip, _spans(path.name, clip, said)) for clip, said in table.items()]
    if not found:
        raise UserError(f"{LABELS} has no labels")
    films = [hmdb51.film(stem(clip), action) for action, clip, _ in found]
    place = divide([(film, action) for film, (action, _, _) in zip(films, found, strict=True)], {"test": TEST_SHARE})
    return [
        Label(
            f"{action}/{stem(clip)}",
            action,
            place[film],
            privacy=tuple(int(any(any(span.values) for span in each)) for each in spans),
            source=film,
            spans=spans,
        )
        for film, (action, clip, spans) in zip(films, found, strict=True)
    ]


def _spans(file: str, clip: str, said: Any) -> tuple[tuple[Span, ...], ...]:
    """Of each attribute `[first, last, value]` again and again; a value may be a list."""
    try:
        return tuple(
            tuple(Span(int(a), int(b), tuple(v) if isinstance(v, list) else (int(v),)) for a, b, v in said[name])
            for name in ATTRIBUTES
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{file}: the labels of {clip} cannot be read ({error})") from error
