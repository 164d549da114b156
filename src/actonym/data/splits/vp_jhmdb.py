"""Make vp_jhmdb.csv: `python vp_jhmdb.py FOLDER`. Of many hashed splits of whole films, the most even one."""

import csv
import sys
from collections import Counter
from pathlib import Path

from actonym.data.base import ATTRIBUTES
from actonym.data.divide import divide

SHARES = {"train": 0.60, "val": 0.15, "test": 0.25}
ASKED = {"test": 0.235, "val": 0.135}  # whole films make more of it
TRIES = 2000

Rows = list[dict[str, str]]


def unevenness(rows: Rows, place: dict[str, str]) -> float:
    """How far clips, actions and attributes are from their shares, over all splits; a missing action is worst."""
    total = 0.0
    for split, share in SHARES.items():
        part = [row for row in rows if place[row["source"]] == split]
        total += 20 * abs(len(part) / len(rows) - share)
        actions, here = Counter(row["action"] for row in rows), Counter(row["action"] for row in part)
        total += sum(abs(here[action] / count - share) + (not here[action]) for action, count in actions.items())
        for name in ATTRIBUTES:
            overall, mine = (sum(row[name] == "1" for row in some) / max(1, len(some)) for some in (rows, part))
            total += 2 * abs(mine - overall)
    return total


def main(folder: Path) -> None:
    with (folder / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    videos = [(row["source"], row["action"]) for row in rows]
    tries = (divide(videos, ASKED, salt=f"vp-jhmdb {seed}") for seed in range(TRIES))
    place = min(tries, key=lambda one: unevenness(rows, one))
    with Path(__file__).with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("source", "split"))
        writer.writerows(sorted(place.items()))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
