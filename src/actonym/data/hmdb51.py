"""HMDB51: 6,766 clips of films and the web, 51 actions, three official splits."""

import re
from pathlib import Path

from actonym.data.base import DatasetCard, register
from actonym.data.files import FolderDataset, Label, fields, folder, list_files, locate, one_of, stem
from actonym.errors import UserError

LISTS = "testTrainMulti_7030_splits"
SPLIT = {"0": "", "1": "train", "2": "test"}  # of the 70 and 30 clips of each class; the others are left out
ACTIONS = (
    *("brush_hair", "cartwheel", "catch", "chew", "clap", "climb", "climb_stairs", "dive", "draw_sword", "dribble"),
    *("drink", "eat", "fall_floor", "fencing", "flic_flac", "golf", "handstand", "hit", "hug", "jump", "kick"),
    *("kick_ball", "kiss", "laugh", "pick", "pour", "pullup", "punch", "push", "pushup", "ride_bike", "ride_horse"),
    *("run", "shake_hands", "shoot_ball", "shoot_bow", "shoot_gun", "sit", "situp", "smile", "smoke", "somersault"),
    *("stand", "swing_baseball", "sword", "sword_exercise", "talk", "throw", "turn", "walk", "wave"),
)


@register("hmdb51")
class Hmdb51(FolderDataset):
    """The clips as the class archives unpack, and the split lists anywhere beside or above them."""

    card = DatasetCard(
        title="HMDB51 (Kuehne et al., ICCV 2011)",
        about="6,766 clips of films and the web, 51 actions, splits 1-3; no private attributes",
        licence="CC BY 4.0",
        source="https://serre.lab.brown.edu/hmdb51.html",
        papers=("LaF-Privacy", "SPLAVU", "STPrivacy"),
        layout=f"CLASS/CLIP.avi and {LISTS}/",
        actions=len(ACTIONS),
    )
    actions = ACTIONS

    def __init__(self, path: str, split: int = 1, lists: str = "", partial: bool = False) -> None:
        """`lists` is the folder with the split files where they do not lie with the clips."""
        root = folder(path)
        super().__init__(read_labels(folder(lists or root), split), list_files(root), partial)


def read_labels(root: Path, split: int = 1) -> list[Label]:
    """What the official lists below `root` say; no video is needed for it."""
    one_of("official split of HMDB51", split, (1, 2, 3))
    ending = f"_test_split{split}.txt"
    files = sorted(locate(root, LISTS).glob(f"*{ending}"))
    actions = [path.name.removesuffix(ending) for path in files]
    lost = [action for action in ACTIONS if action not in actions]
    if lost:
        raise UserError(f"{LISTS} has no list of split {split} for {', '.join(lost[:3])}; {len(lost)} are missing")
    labels = []
    for action, path in zip(actions, files, strict=True):
        for clip, part in fields(path, 2):
            if part not in SPLIT:
                raise UserError(f"{path.name}: {clip} is in part {part!r}; parts are 0, 1 and 2")
            labels.append(Label(f"{action}/{stem(clip)}", action, SPLIT[part], source=film(stem(clip), action)))
    return labels


def film(clip: str, action: str) -> str:
    """The film a clip was cut from: its name before the action and the codes of body part, camera, people and view."""
    cut = re.fullmatch(rf"(.+)_{re.escape(action)}_[a-z]_[a-z]+_np\d+_[a-z]+_[a-z]+_\d+", clip)
    return cut[1] if cut else clip
