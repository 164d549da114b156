"""The results that are in the repository: files that the program wrote, and tables that follow from them."""

from pathlib import Path

import pytest

from actonym.bench.result import read_folder
from actonym.bench.table import markdown

RESULTS = Path(__file__).parent.parent / "results"
FOLDERS = sorted(page.parent for page in RESULTS.rglob("report.md"))


def test_the_stage_is_measured():
    assert RESULTS / "stage" in FOLDERS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_tables_follow_from_the_results(folder):
    text = (folder / "report.md").read_text()
    assert text.startswith(markdown(read_folder(folder).values())), f"run again: actonym report {folder.name}"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_method_was_measured_with_three_seeds(folder):
    seeds: dict[str, set[int]] = {}
    for result in read_folder(folder).values():
        seeds.setdefault(result["method"], set()).add(result["seed"])
    assert {len(found) for found in seeds.values()} == {3}
