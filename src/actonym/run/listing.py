"""What there is: methods and datasets, as rows for people and programs."""

from collections.abc import Iterator
from typing import Any

from actonym import data, methods, presets


def method_rows() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "kind": method.kind,
            "title": method.card.title,
            "idea": method.card.idea,
            "paper": method.card.paper,
            "year": method.card.year,
            "needs": sorted(method.card.needs),
            "knobs": method.card.knobs,
            "live": sorted(method.card.live),
            "presets": presets.names(name),
        }
        for name, method in methods.registry().items()
    ]


def dataset_rows() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "title": dataset.card.title,
            "about": dataset.card.about,
            "licence": dataset.card.licence,
            "source": dataset.card.source,
            "papers": list(dataset.card.papers),
            "layout": dataset.card.layout,
            "actions": len(dataset.actions) or dataset.card.actions,
            "attributes": list(dataset.attributes),
        }
        for name, dataset in _datasets()
    ]


def _datasets() -> Iterator[tuple[str, Any]]:
    """All of them, and the worlds of those that have several."""
    for name, dataset in data.registry().items():
        yield name, dataset
        yield from getattr(dataset, "variants", {}).items()


def dataset_text() -> str:
    """Each dataset on a few lines: what it is, under which licence, where to get it, and which papers use it."""
    blocks = []
    for row in dataset_rows():
        said = {
            "licence": row["licence"],
            "from": row["source"],
            "folder": row["layout"],
            "used by": ", ".join(row["papers"]),
        }
        lines = [f"{row['name']}: {row['title']}", f"  {row['about']}"]
        blocks.append("\n".join(lines + [f"  {key}: {value}" for key, value in said.items() if value]))
    return "\n\n".join(blocks)
