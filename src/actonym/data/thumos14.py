"""THUMOS14: long videos of sports, in which 20 actions begin and end."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from actonym.data.base import DatasetCard, Segment, register
from actonym.data.files import FolderDataset, Label, fields, folder, list_files, read_json
from actonym.errors import UserError

ACTIONS = (
    *("BaseballPitch", "BasketballDunk", "Billiards", "CleanAndJerk", "CliffDiving", "CricketBowling", "CricketShot"),
    *("Diving", "FrisbeeCatch", "GolfSwing", "HammerThrow", "HighJump", "JavelinThrow", "LongJump", "PoleVault"),
    *("Shotput", "SoccerPenalty", "TennisSwing", "ThrowDiscus", "VolleyballSpiking"),
)
SPLIT = {"validation": "train", "train": "train", "test": "test"}  # the field trains on the validation part

Seen = dict[str, list[tuple[float, float, str]]]  # of each video: start, end, action


@register("thumos14")
class Thumos14(FolderDataset):
    """The action of a video is the one seen most often in it; `actions` are all, `segments` say when.

    The official files name 213 test videos. Lists of the field leave out those whose labels are wrong: ActionFormer's
    has 212, BaSNet's 210. A cliff dive counts as a dive too, as the official files have it.
    """

    card = DatasetCard(
        title="THUMOS14 (Jiang et al., 2014)",
        about="413 long videos of sports, 20 actions with start and end; trained on the validation part, 200 videos",
        licence="research use; videos of YouTube",
        source="https://www.crcv.ucf.edu/THUMOS14",
        papers=("SPLAVU",),
        layout="video_validation_N.mp4, video_test_N.mp4, and CLASS_val.txt with CLASS_test.txt or thumos14.json",
        actions=len(ACTIONS),
    )
    actions = ACTIONS
    subset = True  # most videos of the two parts have no start and end

    def __init__(self, path: str, annotations: str = "", partial: bool = False) -> None:
        """`annotations` is a JSON file such as ActionFormer's, or the folder of the official files."""
        root = folder(path)
        super().__init__(read_labels(Path(annotations or root).expanduser()), list_files(root, 1), partial)


def read_labels(place: Path) -> list[Label]:
    """What a JSON file, or the annotations in a folder, say; no video is needed for it."""
    if place.is_file():
        return _labels(*read_database(place))
    root = folder(place)
    official = list_files(root, 1, (".txt",))
    if any(f"{action}_val" in official for action in ACTIONS):
        return _labels(*read_official(root, official))
    for paths in list_files(root, 1, (".json",)).values():
        if paths[0].name.startswith(("thumos", "gt")):
            return _labels(*read_database(paths[0]))
    raise UserError(f"{root} has neither {ACTIONS[0]}_val.txt and so on nor thumos14.json")


def read_official(root: Path, files: Mapping[str, list[Path]]) -> tuple[Seen, dict[str, str]]:
    """The official files, one for each action and part; what they call ambiguous is left out."""
    seen: Seen = {}
    splits = {}
    for split, ending in (("train", "val"), ("test", "test")):
        for action in ACTIONS:
            if f"{action}_{ending}" not in files:
                raise UserError(f"{root} has no {action}_{ending}.txt")
            path = files[f"{action}_{ending}"][0]
            for video, start, end, *_ in fields(path, 3):
                seen.setdefault(video, []).append((*_seconds(path, video, start, end), action))
                splits[video] = split
    return seen, splits


def read_database(path: Path) -> tuple[Seen, dict[str, str]]:
    """A JSON file in the format of ActivityNet. Seconds are numbers (ActionFormer) or strings (BaSNet)."""
    table = read_json(path)
    if not isinstance(table, Mapping) or not isinstance(table.get("database"), Mapping):
        raise UserError(f"{path.name} has no 'database' of videos")
    seen: Seen = {}
    splits = {}
    for video, said in table["database"].items():
        try:
            splits[video] = SPLIT[str(said["subset"]).lower()]
            seen[video] = [
                (*_seconds(path, video, *one["segment"]), str(one["label"])) for one in said.get("annotations", ())
            ]
        except (KeyError, TypeError) as error:
            raise UserError(f"{path.name}: the labels of {video} cannot be read ({error})") from error
    return seen, splits


def _seconds(path: Path, video: str, start: Any, end: Any) -> tuple[float, float]:
    try:
        found = float(start), float(end)
    except (TypeError, ValueError) as error:
        raise UserError(f"{path.name}: {video} has no seconds {start!r} to {end!r}") from error
    if not 0 <= found[0] <= found[1]:
        raise UserError(f"{path.name}: in {video} something ends before it begins, {start} to {end}")
    return found


def _labels(seen: Seen, splits: Mapping[str, str]) -> list[Label]:
    labels = []
    for video, parts in sorted(seen.items()):
        counts = Counter(action for _, _, action in parts)
        for action in counts:
            if action not in ACTIONS:
                raise UserError(f"thumos14: {video} has the unknown action {action!r}")
        if not parts:
            continue
        labels.append(
            Label(
                video,
                max(sorted(counts), key=lambda name: counts[name]),
                splits[video],
                source=video,
                actions=tuple(sorted(counts)),
                segments=tuple(Segment(start, end, ACTIONS.index(action)) for start, end, action in sorted(parts)),
            )
        )
    return labels
