"""Small copies of official layouts: real videos of a few frames where the datasets have theirs."""

from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import cv2
import numpy as np

from actonym.video import VideoWriter

FRAMES = 6


@cache
def _video() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder, "film.mp4")
        with VideoWriter(path, 32, 24, Fraction(10)) as writer:
            for t in range(FRAMES):
                writer.write(np.full((24, 32, 3), 30 * t + 20, np.uint8), Fraction(t, 10))
        return path.read_bytes()


def film(*paths: Path) -> None:
    """A video of `FRAMES` frames, each brighter than the one before. FFmpeg looks inside, not at the ending."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_video())


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def hmdb51(root: Path, clips: dict[str, str] | None = None, actions: tuple[str, ...] = ()) -> Path:
    """Clips by `class/name` with their part (0, 1 or 2); each of the 51 classes has its lists, most of them empty."""
    from actonym.data.hmdb51 import ACTIONS, LISTS

    clips = hmdb51_clips() if clips is None else clips
    for action in actions or ACTIONS:
        mine = {name: part for name, part in clips.items() if name.split("/")[0] == action}
        for split in (1, 2, 3):
            lines = [f"{name.split('/')[1]}.avi {part} \n" for name, part in mine.items()]
            write(root / LISTS / f"{action}_test_split{split}.txt", "".join(lines))
    film(*(root / f"{name}.avi" for name in clips))
    return root


def hmdb51_clips(actions: tuple[str, ...] = ("clap", "climb_stairs")) -> dict[str, str]:
    """Four training films of two clips each, a test film, and a clip that no split uses."""
    codes = "u_nm_np1_fr_med"
    return {
        f"{action}/{film}_{action}_{codes}_{number}": part
        for action in actions
        for film, part in {**{f"film_{k}": "1" for k in range(4)}, "other_film": "2", "unused": "0"}.items()
        for number in range(2)
    }


def ucf101(root: Path, classes: tuple[str, ...] = ("Archery", "YoYo")) -> Path:
    """Groups 1 and 2 are for testing, 3 to 6 for training, as in the official lists; two clips each."""
    clips = [
        (name, g, f"{name}/v_{name}_g{g:02d}_c{c:02d}.avi") for name in classes for g in range(1, 7) for c in (1, 2)
    ]
    for split in (1, 2, 3):
        train = "".join(f"{clip} {classes.index(name) + 1}\n" for name, g, clip in clips if g > 2)
        write(root / "ucfTrainTestlist" / f"trainlist0{split}.txt", train)
        write(root / "ucfTrainTestlist" / f"testlist0{split}.txt", "".join(f"{c}\r\n" for _, g, c in clips if g <= 2))
    film(*(root / "UCF-101" / clip for _, _, clip in clips))
    return root


def picture(path: Path, colour: tuple[int, int, int]) -> None:
    """A picture of one colour, RGB."""
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), np.full((24, 32, 3), colour[::-1], np.uint8))


def arid(root: Path) -> Path:
    """Two groups of each class for training, one for testing, one in neither; clips by group and number."""
    from actonym.data.arid import ACTIONS

    write(root / "list_cvt" / "mapping_table.txt", "".join(f"{k}\t{name}\n" for k, name in enumerate(ACTIONS)))
    for part, groups in {"train": (1, 2), "test": (11,), "other": (3,)}.items():
        clips = [(k, f"{name}/{name}_{g}_{c}") for k, name in enumerate(ACTIONS) for g in groups for c in (1, 11)]
        lines = "".join(f"{row}\t{k}\t{clip}.avi\n" for row, (k, clip) in enumerate(clips))
        for split in (1, 2, 3):
            write(root / "list_cvt" / f"ARID_split{split}_{part}.txt", lines)
        film(*(root / "clips_v1.5" / f"{clip}.mp4" for _, clip in clips))
    return root


def kinetics400(root: Path, classes: tuple[str, ...] = ("abseiling", "high jump")) -> Path:
    """Eight training videos of each class, and two in the other lists."""
    for part, count in {"train": 8, "val": 2, "test": 2}.items():
        lines = ["label,youtube_id,time_start,time_end,split"]
        for k, name in enumerate(classes):
            for video in range(count):
                lines.append(f'"{name}",-{part}_{k}{video},{video},{video + 10},{part}')
                film(root / part / f"-{part}_{k}{video}_{video:06d}_{video + 10:06d}.mp4")
        write(root / "annotations" / f"{part}.csv", "\n".join(lines) + "\n")
    return root


def nec_drone(root: Path, prefix: str = "NEC-Drone-16", classes: int = 3) -> Path:
    """Six frames of each video, of which the lists take those from 2 to 5; actors are in one part only."""
    for part, actors in {"train": (1, 2), "val": (3,), "test": (4,)}.items():
        lines = []
        for label in range(classes):
            for actor in actors:
                place = f"NEC-Phantom-001/A{label + 1:04d}/P{actor:04d}/V0001"
                lines.append(f"{place.replace('/', ',')},2,5,{label}")
                for k in range(1, 7):
                    picture(root / "Frames" / place / f"{k:06d}.jpg", (30 * k, 0, 0))
        write(root / "Annotation" / f"{prefix}_Annotation_{part}list.csv", "\n".join(lines) + "\n")
    return root
