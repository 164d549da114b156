"""P-HVU: everyday videos with many tags; the actions are kept, objects and scenes are hidden."""

from pathlib import Path

from actonym.data.base import DatasetCard, register
from actonym.data.files import FolderDataset, Label, folder, list_files
from actonym.data.table import read_rows
from actonym.errors import UserError, unknown

TAGS = "HVU_Tags_Categories_V1.0.csv"
LISTS = {"train": "HVU_Train_V1.0.csv", "test": "HVU_Val_V1.0.csv"}
KINDS = {"object": ("object",), "scene": ("scene",), "both": ("object", "scene")}


@register("p-hvu")
class PHvu(FolderDataset):
    """The task OSPAR of STPrivacy. `actions` are all actions of a video, and its `action` is the first of them.

    The attributes are the tags of the kind that is hidden: object, scene or both. The dataset comes from SPAct, whose
    list is not released; we take the videos of HVU that have an action, an object and a scene, and HVU's validation
    part for testing, as the description of P-HVU has it.
    """

    card = DatasetCard(
        title="P-HVU (Dave et al., CVPR 2022), of HVU (Diba et al., ECCV 2020)",
        about="videos with several actions to keep, and objects and scenes to hide: the tags of HVU",
        licence="of the tags see its page; videos of YouTube",
        source="https://github.com/holistic-video-understanding/HVU-Dataset",
        papers=("STPrivacy",),
        layout=f"{LISTS['train']}, {LISTS['test']}, {TAGS} and YOUTUBEID_000010_000020.mp4 (start and end in seconds)",
        actions=739,
    )
    subset = True  # HVU has more videos

    def __init__(self, path: str, hide: str = "both", lists: str = "", partial: bool = False) -> None:
        """`hide` is object, scene or both; `lists` the folder with HVU's tables if not that of the videos."""
        root, tables = folder(path), folder(lists or path)
        tags = read_tags(tables)
        self.actions = tags["action"]
        self.attributes = hidden(tags, hide)
        super().__init__(read_labels(tables, hide), list_files(root, 1), partial)


def read_tags(root: Path) -> dict[str, list[str]]:
    """The tags of each category, in the order of the official table."""
    path = _find(root, TAGS)
    tags: dict[str, list[str]] = {}
    for _, row in read_rows(path, ("Tag", "Category")):
        tags.setdefault(row["Category"].lower(), []).append(row["Tag"])
    for kind in ("action", "object", "scene"):
        if kind not in tags:
            raise UserError(f"{path.name} has no tags of the category {kind!r}; it has {', '.join(sorted(tags))}")
    return tags


def hidden(tags: dict[str, list[str]], hide: str) -> list[str]:
    """The names of the attributes, such as `scene: beach`."""
    if hide not in KINDS:
        raise unknown("kind of tags to hide", hide, KINDS)
    return [f"{kind}: {tag}" for kind in KINDS[hide] for tag in tags[kind]]


def read_labels(root: Path, hide: str = "both") -> list[Label]:
    """The videos of HVU's lists that have tags of all three kinds; no video is needed for it."""
    tags = read_tags(root)
    places = {name: place for place, name in enumerate(hidden(tags, hide))}
    kind_of = {tag: kind for kind in ("action", "object", "scene") for tag in tags[kind]}
    labels = []
    for split, name in LISTS.items():
        path = _find(root, name)
        for number, row in read_rows(path, ("Tags", "youtube_id", "time_start", "time_end")):
            said: dict[str, list[str]] = {"action": [], "object": [], "scene": []}
            for tag in row["Tags"].split("|"):
                if tag in kind_of:  # events, attributes and concepts are not used
                    said[kind_of[tag]].append(tag)
            if all(said.values()):
                bits = bytearray(len(places))  # thousands of tags for a quarter of a million videos: a byte each
                for kind in KINDS[hide]:
                    for tag in said[kind]:
                        bits[places[f"{kind}: {tag}"]] = 1
                labels.append(
                    Label(
                        _name(path, number, row),
                        said["action"][0],
                        split,
                        privacy=bytes(bits),
                        source=row["youtube_id"],
                        actions=tuple(said["action"]),
                    )
                )
    return labels


def _name(path: Path, number: int, row: dict[str, str]) -> str:
    """As the official tool names a clip."""
    try:
        return f"{row['youtube_id']}_{int(float(row['time_start'])):06d}_{int(float(row['time_end'])):06d}"
    except ValueError as error:
        raise UserError(
            f"{path.name}, row {number}: no seconds in {row['time_start']!r}, {row['time_end']!r}"
        ) from error


def _find(root: Path, name: str) -> Path:
    found = list_files(root, 2, (".csv",))
    for key, paths in sorted(found.items()):
        if key.split("/")[-1] == Path(name).stem:
            return paths[0]
    raise UserError(f"{root} has no {name}")
