"""The results that are in the repository: files that the program wrote, and tables that follow from them."""

import re
from pathlib import Path
from runpy import run_path

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


def test_the_page_in_the_docs_follows_from_the_results():
    """It is made by a script, which is not part of the package."""
    script = RESULTS.parent / "scripts" / "results_page.py"
    made = run_path(str(script))["results_page"]()
    assert (DOCS / "results.md").read_text() == made, "run again: python scripts/results_page.py"


DOCS = Path(__file__).parent.parent / "docs"
SECTIONS = [
    pytest.param(text, name, id=f"{page.stem}-{name}")
    for page in sorted(DOCS.glob("*.md"))
    for text in page.read_text().split("\n## ")
    for name in set(re.findall(r"\(\.\./results/([\w-]+)/report\.md\)", text))
]


@pytest.mark.parametrize(("text", "name"), SECTIONS)
def test_numbers_in_words_are_in_the_tables(text, name):
    """A section that links to a report quotes it: every .12 or .123 is a number of its tables, rounded."""
    shown = {float(number) for number in re.findall(r"\d\.\d{3}", (RESULTS / name / "report.md").read_text())}
    quoted = re.findall(r"(?<![\w.])\d?\.\d{2,3}(?!\d)", text)
    places = {number: len(number.partition(".")[2]) for number in quoted}
    # Half a step of the last digit, and of the table's own rounding.
    strange = [n for n, p in places.items() if all(abs(float(n) - one) > 0.5 * 10**-p + 5e-4 for one in shown)]
    assert quoted and not strange, f"not in results/{name}: {strange}"
