"""The gender of the people of a dataset, from a file of the user's: no dataset of the field publishes it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from actonym.data.files import Label, some
from actonym.data.table import read_rows
from actonym.errors import UserError

ATTRIBUTE = "female"  # as perceived, 1 or 0: the two classes that the bias protocols of SPLAVU know
WORDS = {"f": 1, "female": 1, "m": 0, "male": 0}
COLUMNS = ("subject", "gender")


def read_genders(path: str | Path) -> dict[int, int]:
    """A CSV with the columns `subject` (P001, p02 or 3) and `gender` (F or M) as number of the subject to 1 or 0."""
    place = Path(str(path)).expanduser()
    found: dict[int, int] = {}
    for number, row in read_rows(place, COLUMNS):
        where = f"{place.name}, row {number}"
        digits = re.fullmatch(r"[A-Za-z]*0*(\d+)", row["subject"])
        if digits is None:
            raise UserError(f"{where}: {row['subject']!r} is no subject such as P001 or 1")
        if row["gender"].lower() not in WORDS:
            raise UserError(f"{where}: gender is {row['gender']!r}; it is F or M")
        subject = int(digits[1])
        if subject in found:
            raise UserError(f"{where}: subject {subject} is there twice")
        found[subject] = WORDS[row["gender"].lower()]
    if not found:
        raise UserError(f"{place.name} has no rows")
    return found


def with_genders(labels: Sequence[Label], genders: Mapping[int, int], needed: bool = False) -> list[Label]:
    """Labels with the gender of their subject as the only attribute.

    A subject without one keeps none, and its videos are told of later; where it is `needed`, that is an error now.
    """
    lost = sorted({label.subject for label in labels if label.split and number(label) not in genders})
    if needed and lost:
        raise UserError(f"{len(lost)} subjects have no gender in the file ({some(lost)})")
    bits = {subject: (gender,) for subject, gender in genders.items()}
    return [replace(label, privacy=bits.get(number(label), ())) for label in labels]


def number(label: Label) -> int:
    """7 of the subject `P007`."""
    return int(re.sub(r"\D", "", label.subject) or -1)
