"""A folder of results becomes a report: Markdown, plots and one HTML page, beside the results."""

import os
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image
from torch import Tensor

from actonym.bench import plot
from actonym.bench.page import page
from actonym.bench.result import read_folder
from actonym.bench.summary import summarize
from actonym.bench.table import markdown
from actonym.errors import ActonymError

PLOTS = {
    "tradeoff.png": "Action-privacy trade-off",
    "kept_closed.png": "Kept and closed",
    "ablations.png": "Ablations, a chart per factor: the nearer to the upper left corner the better",
    "paths.png": "Paths of the trainings: every epoch's point on validation, large the one that was kept",
}
FRAME_HEIGHT = 112  # pixels of a frame in a picture
GAP = 4  # white pixels between the frames of a picture
LARGEST = 200_000  # bytes of a picture: a page holds one for every method


def report(folder: str | Path) -> list[Path]:
    """Read every result in the folder and below; write report.md, its plots and report.html."""
    folder = Path(folder)
    results = read_folder(folder)
    groups = summarize(results.values())
    plots = [plot.trade_off(groups), plot.kept_closed(groups), plot.ablations(groups), plot.paths(groups)]
    drawn = {name: data for name, data in zip(PLOTS, plots, strict=True) if data is not None}
    links = "\n\n".join(f"![{PLOTS[name]}]({name})" for name in drawn)
    text = f"{markdown(results.values())}\n{links}\n"
    files = {"report.md": text.encode(), **drawn, "report.html": page(results).encode()}
    return [_write(folder / name, data) for name, data in files.items()]


def picture(videos: Sequence[Tensor], path: str | Path, frames: int = 6) -> Path:
    """A PNG of `frames` frames, evenly spread: the videos, uint8 `[3, T, H, W]`, one below the other."""
    length = videos[0].shape[1]
    chosen = np.linspace(0, length - 1, min(frames, length)).round().astype(int).tolist()
    rows = [_strip([_frame(video, t) for t in chosen]) for video in videos]
    width, height = rows[0].size
    sheet = Image.new("RGB", (width, len(rows) * (height + GAP) - GAP), "white")
    for number, row in enumerate(rows):
        sheet.paste(row, (0, number * (height + GAP)))
    data = _png(sheet)
    if len(data) > LARGEST:  # a palette costs a third; only busy video needs it
        data = _png(sheet.quantize(256))
    return _write(Path(path), data)


def _frame(video: Tensor, t: int) -> Image.Image:
    """One frame: small ones enlarged by whole pixels, so that nothing is smoothed over; large ones reduced."""
    image = Image.fromarray(video[:, t].permute(1, 2, 0).contiguous().cpu().numpy())
    if (factor := round(FRAME_HEIGHT / image.height)) > 1:
        return image.resize((image.width * factor, image.height * factor), Image.Resampling.NEAREST)
    if image.height > 1.5 * FRAME_HEIGHT:
        return image.resize((round(image.width * FRAME_HEIGHT / image.height), FRAME_HEIGHT), Image.Resampling.BOX)
    return image


def _strip(images: list[Image.Image]) -> Image.Image:
    width, height = images[0].size
    strip = Image.new("RGB", (len(images) * (width + GAP) - GAP, height), "white")
    for i, image in enumerate(images):
        strip.paste(image, (i * (width + GAP), 0))
    return strip


def _png(image: Image.Image) -> bytes:
    file = BytesIO()
    image.save(file, "png", optimize=True)
    return file.getvalue()


def _write(path: Path, data: bytes) -> Path:
    """Whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise ActonymError(f"cannot write {path}: {error.strerror or error}") from error
    return path
