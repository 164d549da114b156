"""CelebV-HQ: faces that show one of eight expressions; STPrivacy keeps the expression and hides the face's traits."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from actonym.data.base import DatasetCard, Segment, register
from actonym.data.divide import divide
from actonym.data.files import FolderDataset, Label, folder, list_files, plain, read_json
from actonym.errors import UserError

ACTIONS = ("neutral", "happy", "sad", "anger", "fear", "surprise", "contempt", "disgust")
ATTRIBUTES = ("young", "pointy_nose", "male", "rosy_cheeks", "brown_hair")  # STPrivacy, section 4.8
LABELS = "celebvhq_info.json"
TEST_SHARE = 0.4  # STPrivacy: a random 60 % for training; ours by whole films, since theirs is not released


@register("celebv-hq")
class CelebvHq(FolderDataset):
    """The task FAPDER of STPrivacy. A clip with several expressions has the one that lasts longest, and `segments`."""

    card = DatasetCard(
        title="CelebV-HQ (Zhu et al., ECCV 2022)",
        about="35,666 clips of faces, eight expressions to keep, five traits of the face to hide; 60 % for training",
        licence="labels for non-commercial research; videos of YouTube",
        source="https://github.com/CelebV-HQ/CelebV-HQ",
        papers=("STPrivacy",),
        layout=f"{LABELS} and CLIP.mp4, cut out as its tools do",
        actions=len(ACTIONS),
    )
    actions = ACTIONS
    attributes = ATTRIBUTES

    def __init__(self, path: str, labels: str = "", partial: bool = False) -> None:
        """`labels` is the JSON file where it does not lie with the clips."""
        root = folder(path)
        super().__init__(read_labels(Path(labels).expanduser() if labels else root), list_files(root, 1), partial)


def read_labels(place: Path) -> list[Label]:
    """What the official file (or the one in a folder) says, divided 60/40; no video is needed for it."""
    path = place if place.is_file() else _find(place)
    table = read_json(path)
    try:
        about = table.get("meta_info") or table["mete_info"]  # the description of the format has it misspelt
        columns = _columns(path, about["appearance_mapping"])
        found = [_label(path, name, said, columns) for name, said in table["clips"].items()]
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        raise UserError(f"{path.name} cannot be read as the labels of CelebV-HQ ({error})") from error
    place_of = divide([(label.source, label.action) for label in found], {"test": TEST_SHARE})
    return [replace(label, split=place_of[label.source]) for label in found]


def _find(root: Path) -> Path:
    found = list_files(root, 1, (".json",))
    if Path(LABELS).stem not in found:
        raise UserError(f"{root} has no {LABELS}")
    return found[Path(LABELS).stem][0]


def _columns(path: Path, names: list[str]) -> list[int]:
    """Where the five traits stand among the forty."""
    places = {plain(name): place for place, name in enumerate(names)}
    for name in ATTRIBUTES:
        if plain(name) not in places:
            raise UserError(f"{path.name} has no appearance {name!r}")
    return [places[plain(name)] for name in ATTRIBUTES]


def _label(path: Path, name: str, said: Mapping[str, Any], columns: list[int]) -> Label:
    attributes = said["attributes"]
    bits = tuple(int(attributes["appearance"][column]) for column in columns)
    if set(bits) - {0, 1}:
        raise UserError(f"{path.name}: {name} has traits other than 0 and 1")
    shown = attributes["emotion"]["labels"]
    if isinstance(shown, str):
        return Label(name, shown.lower(), privacy=bits, source=str(said["ytb_id"]))
    lasts: dict[str, float] = defaultdict(float)
    segments = []
    for one in shown:
        emotion, start, end = str(one["emotion"]).lower(), float(one["start_sec"]), float(one["end_sec"])
        if emotion not in ACTIONS:
            raise UserError(f"{path.name}: {name} has the unknown expression {emotion!r}")
        lasts[emotion] += end - start
        segments.append(Segment(start, end, ACTIONS.index(emotion)))
    if not segments:
        raise UserError(f"{path.name}: {name} has no expression")
    return Label(
        name,
        max(lasts, key=lambda emotion: lasts[emotion]),
        privacy=bits,
        source=str(said["ytb_id"]),
        actions=tuple(emotion for emotion in ACTIONS if emotion in lasts),
        segments=tuple(segments),
    )
