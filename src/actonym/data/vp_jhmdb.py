"""VP-JHMDB: the clips of JHMDB with VP-HMDB51's attributes and person masks, split by source film."""

import csv
from collections.abc import Sequence
from pathlib import Path

from actonym.data.base import ATTRIBUTES, DatasetCard, register
from actonym.data.files import Label, folder, locate, some, warn
from actonym.data.jhmdb import ACTIONS, MaskedDataset, list_masks
from actonym.data.table import read_rows
from actonym.errors import UserError

SPLITS_FILE = Path(__file__).parent / "splits" / "vp_jhmdb.csv"  # made by splits/vp_jhmdb.py


@register("vp-jhmdb")
class VpJhmdb(MaskedDataset):
    card = DatasetCard(
        title="VP-JHMDB (ours: JHMDB with the labels of VP-HMDB51)",
        about="real clips, 21 actions, five private attributes, source films, person masks; split by film, for good",
        licence="labels MIT; clips for research use, not for redistribution",
        source="clips and masks http://jhmdb.is.tue.mpg.de; labels https://github.com/ming1993li/stprivacy",
        layout="manifest.csv (video, action, source, five attributes), videos/CLASS/CLIP.avi, masks/CLASS/CLIP.mat",
        actions=len(ACTIONS),
    )
    actions = ACTIONS
    attributes = ATTRIBUTES

    def __init__(self, path: str, partial: bool = False) -> None:
        root = folder(path)
        super().__init__(read_labels(root), root, list_masks(root), partial)


def read_labels(root: Path) -> list[Label]:
    """The manifest below `root` with the fixed split; no video is needed for it."""
    manifest = locate(root, "manifest.csv")
    place = read_split()
    labels = []
    for number, row in read_rows(manifest, ("video", "action", "source", *ATTRIBUTES)):
        bits = [row[name] for name in ATTRIBUTES]
        if set(bits) - {"0", "1"}:
            raise UserError(f"{manifest.name}, row {number}: attributes are 0 or 1, not {', '.join(bits)}")
        labels.append(
            Label(
                row["video"],
                row["action"],
                place.get(row["source"], ""),
                privacy=tuple(map(int, bits)),
                source=row["source"],
            )
        )
    _tell_unplaced(labels)
    return labels


def read_split() -> dict[str, str]:
    """Where each source film goes, as it is fixed in the package."""
    with SPLITS_FILE.open(encoding="utf-8", newline="") as file:
        return {row["source"]: row["split"] for row in csv.DictReader(file)}


def _tell_unplaced(labels: Sequence[Label]) -> None:
    films = sorted({label.source for label in labels if not label.split})
    if films:
        warn(f"vp-jhmdb: {len(films)} source films are not in the fixed split and are left out ({some(films)})")
