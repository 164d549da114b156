"""Write docs/results.md: the main table of every folder in results/, with a link to all its others.

python scripts/results_page.py
"""

from pathlib import Path

from actonym.bench.result import read_folder
from actonym.bench.table import markdown

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "results.md"
BEGINNING = """# What was measured

Made by `python scripts/results_page.py` from the files in `results/`, which the program wrote. **kept** is utility on
anonymized over utility on raw video; **closed** is the share of the leak above chance that is gone, against the
strongest attacker. How it is measured: [protocols.md](protocols.md); what attackers do: [attacks.md](attacks.md)."""


def results_page() -> str:
    """The page as it follows from the results."""
    parts = [BEGINNING]
    for page in sorted((ROOT / "results").rglob("report.md")):
        name = page.parent.relative_to(ROOT).as_posix()
        for group in markdown(read_folder(page.parent).values()).split("\n## ")[1:]:
            title, headline, _, table, note = group.split("\n\n")[:5]
            parts += [
                f"## {title} ({page.parent.name})",
                headline,
                table,
                note,
                f"All tables, per attribute and attacker: [{name}](../{name}/report.md).",
            ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(results_page())
