"""Any folder of videos with a CSV: what most users have. `--data csv:videos.csv`."""

import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from actonym.data.base import SPLITS, DatasetCard, register
from actonym.data.divide import divide
from actonym.data.files import FolderDataset, Label, some, warn
from actonym.errors import UserError, unknown

NEEDED = ("path", "action")
KNOWN = (*NEEDED, "subject", "source", "split", "domain", "text")  # all other columns are attributes

Row = dict[str, str]


@register("csv")
class Table(FolderDataset):
    """Paths are relative to the CSV. Attribute columns hold 0 or 1. Without a `split` column whole subjects (or
    sources, where there are none) are divided, the same way every time.
    """

    card = DatasetCard(
        title="your own videos",
        about="any folder of videos with a CSV: path, action, attributes of 0 and 1, subject, source, split",
        licence="yours",
        source="yours",
        layout="a CSV with the columns path and action, and if you have them attributes, subject, source, split",
    )

    def __init__(self, path: str, val: float = 0.15, test: float = 0.25, partial: bool = False) -> None:
        """`val` and `test` are the shares of the videos where the CSV has no `split` column."""
        for name, share in (("val", val), ("test", test)):
            if not 0 < share < 1 or val + test >= 1:
                raise UserError(f"csv: {name}={share}; val and test are shares between 0 and 1, below 1 together")
        place = Path(str(path)).expanduser()
        rows = list(read_rows(place, NEEDED))
        if not rows:
            raise UserError(f"{place.name} has no rows")
        self.attributes = tuple(column for column in rows[0][1] if column not in KNOWN)
        files = _files(place, rows, partial)
        super().__init__(_labels(place, rows, self.attributes, {"test": test, "val": val}), files, partial)
        _tell_shared_subjects(self.labels)


def read_rows(path: Path, needed: Sequence[str]) -> Iterator[tuple[int, Row]]:
    """The rows of a CSV with their numbers as an editor shows them; the columns that are needed must be there."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            columns = [name.strip() for name in reader.fieldnames or ()]
            reader.fieldnames = columns
            for column in needed:
                if column not in columns:
                    raise UserError(f"{path.name} has no column {column!r}; it has {', '.join(columns) or 'none'}")
            if len(set(columns)) < len(columns):
                raise UserError(f"{path.name} has a column twice: {', '.join(columns)}")
            for row in reader:
                if None in row or None in row.values():
                    raise UserError(f"{path.name}, row {reader.line_num}: not as many fields as columns")
                yield reader.line_num, {name: value.strip() for name, value in row.items()}
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path.name} is no CSV in UTF-8: {error}") from error


def _files(place: Path, rows: Sequence[tuple[int, Row]], partial: bool) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for number, row in rows:
        video = place.parent / row["path"]
        if row["path"] and video.is_file():
            found[row["path"]] = [video]
        elif not partial:
            hint = f"write csv:path={place},partial=true to go on without"
            raise UserError(f"{place.name}, row {number}: there is no file {row['path']!r}; {hint}")
    return found


def _labels(
    place: Path, rows: Sequence[tuple[int, Row]], attributes: Sequence[str], shares: dict[str, float]
) -> list[Label]:
    labels = []
    for number, row in rows:
        where = f"{place.name}, row {number}"
        bits = [row[name] for name in attributes]
        for name, bit in zip(attributes, bits, strict=True):
            if bit not in ("0", "1"):
                raise UserError(f"{where}: attribute {name!r} is {bit!r}; attributes are 0 or 1")
        if not row["action"]:
            raise UserError(f"{where}: no action")
        split = row.get("split", "").lower()
        if "split" in row and split not in SPLITS:
            raise UserError(f"{where}: {unknown('split', row['split'], SPLITS)}")
        labels.append(
            Label(
                name=row["path"],
                action=row["action"],
                split=split,
                privacy=tuple(map(int, bits)),
                subject=row.get("subject", ""),
                source=row.get("source", ""),
                domain=row.get("domain", ""),
                text=row.get("text", ""),
            )
        )
    if "split" in rows[0][1]:
        return labels
    parts = divide([(label.group, label.action) for label in labels], shares)
    return [replace(label, split=parts[label.group]) for label in labels]


def _tell_shared_subjects(labels: Sequence[Label]) -> None:
    splits: dict[str, set[str]] = defaultdict(set)
    for label in labels:
        if label.subject:
            splits[label.subject].add(label.split)
    both = sorted(subject for subject, parts in splits.items() if len(parts) > 1)
    if both:
        warn(f"csv: {len(both)} subjects are in more than one split ({some(both)}); results will look too good")
