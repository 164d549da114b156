import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
import torch

from actonym.bench.page import MEANING, page
from actonym.bench.report import picture
from actonym.bench.result import Result, flags

Make = Callable[..., Result]
VOID = {"meta", "img", "wbr"}
PARTS = (
    "2 methods on stage", "How to read this", "floor: action prior", "Leak per attribute", "Leak per attacker",
    "No flags", "frame/cnn/tuned", "kept", "torch", "2.13.0", "top to bottom: raw, anonymized",
)  # fmt: skip


class Reader(HTMLParser):
    """Checks that tags nest, and collects them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.text += data


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return reader


@pytest.fixture
def results(make: Make, tmp_path: Path) -> dict[Path, Result]:
    clip = torch.randint(256, (3, 8, 32, 32), dtype=torch.uint8)
    picture([clip, clip // 2], tmp_path / "blur-0.png")
    blur = make("blur:strength=weak", top1=0.6, cmap=0.7, picture="blur-0.png")
    return {tmp_path / "raw-0.json": make(picture="gone.png"), tmp_path / "blur-0.json": blur}


def test_the_page_has_all_its_parts(results: dict[Path, Result]) -> None:
    reader = read(page(results))
    for part in PARTS:
        assert part in reader.text, part
    assert sum(tag == "img" for tag, _ in reader.tags) == 3  # two plots, one strip; the picture that is gone is skipped


def test_the_page_asks_for_nothing_from_outside(results: dict[Path, Result]) -> None:
    text = page(results)
    for tag, attributes in read(text).tags:
        assert tag not in {"script", "link", "iframe", "object", "embed", "base", "form"}
        assert "href" not in attributes
        assert (attributes.get("src") or "data:image/png;base64,").startswith("data:image/png;base64,")
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in text and "@import" not in text and not re.search(r"https?://", text)
    assert "default-src &#x27;none&#x27;" in text
    assert "prefers-color-scheme: dark" in text and "width=device-width" in text


def test_everything_from_a_file_is_escaped(make: Make, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"
    result = make(
        evil, data=evil, protocol=evil, preset=evil, flags=[evil], settings={evil: evil}, versions={evil: evil}
    )
    result["attacker"]["tried"][0]["name"] = result["attacker"]["strongest"] = evil
    result["privacy"]["per_attribute"][evil] = result["privacy"]["per_attribute"].pop("face")
    result["floors"]["per_attribute"][evil] = result["floors"]["per_attribute"].pop("face")
    reader = read(page({tmp_path / "evil.json": result}))
    assert not any(tag == "script" for tag, _ in reader.tags)
    assert all((attributes.get("src") or "").startswith("data:") for tag, attributes in reader.tags if tag == "img")
    assert evil in reader.text


def test_flags_are_explained_in_plain_words(make: Make, tmp_path: Path) -> None:
    result = make("blur", cmap=0.45, raw={"top1": 0.9, "cmap": 0.52, "f1": 0.5})
    result["utility"]["recognizer"]["converged"] = False
    for entry in result["attacker"]["tried"]:
        entry["converged"] = False
    result["privacy"]["per_attribute"]["face"]["ap"] = None
    result["flags"] = flags(result)
    assert {flag.partition(":")[0] for flag in result["flags"]} == set(MEANING)  # no flag without an explanation
    text = read(page({tmp_path / "blur.json": result})).text
    assert all(meaning in text for meaning in MEANING.values())


def test_a_picture_that_is_no_png_is_skipped(make: Make, tmp_path: Path) -> None:
    (tmp_path / "raw.png").write_text("not a picture")
    reader = read(page({tmp_path / "raw.json": make(picture="raw.png")}))
    assert "What it looks like" not in reader.text
