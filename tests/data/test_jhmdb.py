from itertools import chain

import numpy as np
import pytest
import torch
from layouts import FRAMES, film, write

from actonym.data import load_clips, open_dataset
from actonym.data.jhmdb import ACTIONS, read_masks
from actonym.data.vp_jhmdb import read_split
from actonym.errors import UserError

io = pytest.importorskip("scipy.io")


def person(path, frames=FRAMES):
    """A person who walks to the right, one column a frame."""
    mask = np.zeros((24, 32, frames), np.uint8)
    for t in range(frames):
        mask[4:20, t : t + 4, t] = 1
    path.parent.mkdir(parents=True, exist_ok=True)
    io.savemat(path, {"part_mask": mask}, do_compression=True)


def jhmdb(root):
    for action in ACTIONS:
        clips = [f"film_@{k}_{action}_u_nm_np1_fr_med_0" for k in range(4)] if action in ("clap", "wave") else []
        lines = "".join(f"{clip}.avi {2 if k == 0 else 1} \n" for k, clip in enumerate(clips))
        for split in (1, 2, 3):
            write(root / "splits" / f"{action}_test_split{split}.txt", lines)
        for clip in clips:
            film(root / "ReCompress_Videos" / action / f"{clip}.avi")
            person(root / "puppet_mask" / action / clip / "puppet_mask.mat")
    return root


def test_official_layout_with_masks(tmp_path):
    data = open_dataset(f"jhmdb:{jhmdb(tmp_path)}")
    assert {s: len(data.samples(s)) for s in ("train", "val", "test")} == {"train": 4, "val": 2, "test": 2}
    sample = data.samples("test")[0]
    mask = sample.video.mask([0, 3, 99])
    assert mask.shape == (1, 3, 24, 32) and mask.dtype == torch.uint8
    assert mask[0, 1, 10].nonzero().flatten().tolist() == [3, 4, 5, 6]
    assert torch.equal(mask[0, 2], sample.video.mask([FRAMES - 1])[0, 0]), "after the last mask, the last"
    assert sample.source == "film_@0"
    clips = load_clips(data, "train", frames=4, size=16)
    assert clips.mask is not None and set(clips.mask.unique().tolist()) == {0, 1}


def test_masks_that_cannot_be_read(tmp_path):
    with pytest.raises(UserError, match="holds no person masks"):
        read_masks(write(tmp_path / "bad.mat", "rubbish"))
    io.savemat(tmp_path / "other.mat", {"other": np.zeros(3)})
    with pytest.raises(UserError, match="holds no person masks"):
        read_masks(tmp_path / "other.mat")


def test_videos_without_masks_are_told(tmp_path, capsys, monkeypatch):
    jhmdb(tmp_path)
    next((tmp_path / "puppet_mask" / "clap").rglob("*.mat")).unlink()
    data = open_dataset(f"jhmdb:{tmp_path}")
    assert "jhmdb: 1 videos have no person masks" in capsys.readouterr().err
    assert sum(s.video.mask([0]) is None for part in ("train", "val", "test") for s in data.samples(part)) == 1
    monkeypatch.setattr("actonym.data.jhmdb.find_spec", lambda name: None)
    assert open_dataset(f"jhmdb:{tmp_path}").samples("test")[0].video.mask([0]) is None
    assert "pip install 'actonym[masks]'" in capsys.readouterr().err


def test_wrong_lists(tmp_path):
    jhmdb(tmp_path)
    write(tmp_path / "splits" / "clap_test_split1.txt", "a.avi 7\n")
    with pytest.raises(UserError, match="is in part '7'"):
        open_dataset(f"jhmdb:{tmp_path}")
    (tmp_path / "splits" / "clap_test_split1.txt").unlink()
    with pytest.raises(UserError, match=r"clap_test_split1\.txt cannot be read"):
        open_dataset(f"jhmdb:{tmp_path}")


def vp_jhmdb(root):
    """One clip for each of three films of each split."""
    films = {split: [f for f, s in read_split().items() if s == split][:3] for split in ("train", "val", "test")}
    lines = ["video,action,source,face,skin_color,gender,nudity,relationship,pa_hmdb51"]
    for place, source in enumerate(chain(*films.values())):
        clip = f"wave/{source}_wave_u_nm_np1_fr_med_0"
        film(root / "videos" / f"{clip}.avi")
        person(root / "masks" / f"{clip}.mat")
        lines.append(f"{clip},wave,{source},1,0,{place % 2},0,0,0")
    write(root / "manifest.csv", "\n".join(lines) + "\n")
    return films


def test_vp_jhmdb_keeps_its_split(tmp_path, capsys):
    films = vp_jhmdb(tmp_path)
    data = open_dataset(f"vp-jhmdb:{tmp_path}")
    assert {s: [x.source for x in data.samples(s)] for s in films} == films
    sample = data.samples("val")[0]
    assert sample.privacy == (1, 0, 1, 0, 0) and sample.video.mask([0]).sum() == 64
    manifest = tmp_path / "manifest.csv"
    write(manifest, manifest.read_text().replace(films["val"][0], "A film of mine"))
    open_dataset(f"vp-jhmdb:path={tmp_path},partial=true")
    assert "1 source films are not in the fixed split" in capsys.readouterr().err
    write(manifest, manifest.read_text().replace(",1,0,", ",x,0,"))
    with pytest.raises(UserError, match=r"manifest.csv, row 2: attributes are 0 or 1"):
        open_dataset(f"vp-jhmdb:{tmp_path}")


def test_the_real_clips(shared):
    data = open_dataset(f"vp-jhmdb:{shared / 'data' / 'jhmdb_train'}")
    parts = {split: data.samples(split) for split in ("train", "val", "test")}
    sizes = {split: len(samples) / 665 for split, samples in parts.items()}
    assert sizes == pytest.approx({"train": 0.6, "val": 0.15, "test": 0.25}, abs=0.02)
    assert sum(map(len, parts.values())) == 665 and data.problems.whole
    for samples in parts.values():
        assert {sample.action for sample in samples} == set(range(21))
    films = [{sample.source for sample in samples} for samples in parts.values()]
    assert len(set.union(*films)) == sum(map(len, films)) == 248
    video = parts["test"][0].video
    assert video.frames([0]).shape == (3, 1, 240, 320) and 0.01 < video.mask([0]).float().mean() < 0.9
