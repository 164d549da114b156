"""What there is: methods and datasets, as rows for people and programs."""

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
            "actions": len(dataset.actions),
            "attributes": list(dataset.attributes),
        }
        for name, dataset in data.registry().items()
    ]
