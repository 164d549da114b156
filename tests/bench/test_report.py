import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from actonym.bench.report import LARGEST, picture, report
from actonym.bench.result import Result, write
from actonym.errors import ActonymError, UserError

Make = Callable[..., Result]
OUTPUTS = ["report.md", "tradeoff.png", "kept_closed.png", "report.html"]


def test_a_report_is_written_beside_the_results_and_ignores_itself(make: Make, tmp_path: Path) -> None:
    write(make(), tmp_path / "raw.json")
    write(make("blur", top1=0.6, cmap=0.7), tmp_path / "deeper" / "blur.json")
    paths = report(tmp_path)
    assert paths == [tmp_path / name for name in OUTPUTS]
    first = [path.read_bytes() for path in paths]
    assert [path.read_bytes() for path in report(tmp_path)] == first
    assert sorted(os.listdir(tmp_path)) == sorted([*OUTPUTS, "raw.json", "deeper"])
    text = paths[0].read_text()
    assert "| blur | 0.600 |" in text and "(tradeoff.png)" in text and "(kept_closed.png)" in text


def test_an_empty_folder_is_a_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no results"):
        report(tmp_path)
    assert not os.listdir(tmp_path)


def test_a_damaged_result_stops_the_report_and_is_named(make: Make, tmp_path: Path) -> None:
    write(make(), tmp_path / "raw.json")
    (tmp_path / "blur.json").write_text((tmp_path / "raw.json").read_text()[:300])
    with pytest.raises(UserError, match=r"blur\.json is damaged"):
        report(tmp_path)
    assert not (tmp_path / "report.md").exists()


def test_a_full_disk_leaves_no_half_report(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(make(), tmp_path / "raw.json")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ActonymError, match="No space left"):
        report(tmp_path)
    assert os.listdir(tmp_path) == ["raw.json"]


@pytest.mark.parametrize("height, width, shown", [(64, 48, (128, 96)), (112, 112, (112, 112)), (240, 320, (112, 149)),
                                                  (30, 40, (120, 160)), (150, 100, (150, 100))])  # fmt: skip
def test_a_picture_has_raw_above_and_anonymized_below(
    tmp_path: Path, height: int, width: int, shown: tuple[int, int]
) -> None:
    raw = torch.zeros(3, 16, height, width, dtype=torch.uint8)
    raw[0] = torch.linspace(0, 255, 16).round().to(torch.uint8).view(16, 1, 1)  # red tells the frame
    anonymized = torch.zeros_like(raw)
    anonymized[2] = 200
    image = np.asarray(Image.open(picture([raw, anonymized], tmp_path / "a" / "strip.png")).convert("RGB"))
    high, wide = shown
    assert image.shape == (2 * high + 4, 6 * (wide + 4) - 4, 3)
    middles = [i * (wide + 4) + wide // 2 for i in range(6)]
    assert [int(image[high // 2, x, 0]) for x in middles] == [0, 51, 102, 153, 204, 255]
    assert all(image[high + 4 + high // 2, x].tolist() == [0, 0, 200] for x in middles)


def test_enlarging_keeps_the_pixels(tmp_path: Path) -> None:
    raw = torch.randint(256, (3, 2, 28, 28), dtype=torch.uint8)
    image = np.asarray(Image.open(picture([raw, raw], tmp_path / "strip.png", frames=9)))
    assert image.shape == (2 * 112 + 4, 2 * (112 + 4) - 4, 3)  # two frames are all there are
    assert (image[:112:4, :112:4] == raw[:, 0].permute(1, 2, 0).numpy()).all()


def test_the_busiest_picture_stays_small(tmp_path: Path) -> None:
    noise = torch.randint(256, (3, 16, 112, 112), dtype=torch.uint8)
    assert picture([noise, noise.flip(-1)], tmp_path / "strip.png").stat().st_size < LARGEST


def test_variants_bring_a_picture_of_their_own(make: Make, tmp_path: Path) -> None:
    write(make("tint"), tmp_path / "tint.json")
    about = {"of": "tint", "factor": "start", "label": "dark"}
    write(make("tint@dark", top1=0.6, cmap=0.7, variant=about), tmp_path / "dark.json")
    paths = report(tmp_path)
    assert tmp_path / "ablations.png" in paths
    assert "(ablations.png)" in paths[0].read_text() and "<h3>Ablations</h3>" in paths[-1].read_text()
