import pytest
import torch
from layouts import film, write

from actonym.data import load_clips, open_dataset
from actonym.data.p_hvu import LISTS, TAGS, read_labels
from actonym.errors import UserError
from actonym.run.checking import check

CATEGORIES = "Tag,Category\nrun,action\nswim,action\nball,object\nboat,object\nsea,scene\nwedding,event\n"
HEAD = "Tags,youtube_id,time_start,time_end\n"


def layout(root):
    """Training videos swim, and some run too; one has no object, and so is not of P-HVU."""
    write(root / TAGS, CATEGORIES)
    rows = [f"swim|{'run|' if k % 2 else ''}boat|sea|wedding,-id{k},{k},{k + 10}" for k in range(8)]
    write(root / LISTS["train"], HEAD + "\n".join([*rows, "swim|sea,none,0,10"]) + "\n")
    write(root / LISTS["test"], f"{HEAD}run|ball|sea,test1,5,15\nswim|boat|ball|sea,test2,5,15\n")
    film(*(root / "videos" / f"-id{k}_{k:06d}_{k + 10:06d}.mp4" for k in range(8)))
    film(*(root / "videos" / f"test{k}_000005_000015.mp4" for k in (1, 2)))
    return root


def test_official_layout(tmp_path):
    data = open_dataset(f"p-hvu:{layout(tmp_path)}")
    assert data.actions == ["run", "swim"] and data.attributes == ["object: ball", "object: boat", "scene: sea"]
    assert len(data.samples("train")) + len(data.samples("val")) == 8 and data.problems.whole
    first, second = data.samples("test")
    assert first.action == 0 and first.actions == (0,) and list(first.privacy) == [1, 0, 1]
    assert list(second.privacy) == [1, 1, 1] and second.text == "swim" and second.privacy_at(0) == (1, 1, 1)
    both = next(s for s in data.samples("train") if len(s.actions) > 1)
    assert both.actions == (1, 0) and both.action == 1
    clips = load_clips(data, "test", frames=2, size=16)
    assert torch.equal(clips.privacy, torch.tensor([[1.0, 0, 1], [1, 1, 1]]))
    assert torch.equal(clips.action, torch.eye(2)), "actions are labels of their own: a video may have several"
    assert check(f"p-hvu:{tmp_path}")["splits"]["train"]["actions"]["run"] > 0
    assert check(f"p-hvu:{tmp_path}")["splits"]["test"]["attributes"] == {
        "object: ball": 2,
        "object: boat": 1,
        "scene: sea": 2,
    }


def test_one_kind_of_tags_can_be_hidden(tmp_path):
    data = open_dataset(f"p-hvu:path={layout(tmp_path)},hide=scene")
    assert data.attributes == ["scene: sea"] and list(data.samples("test")[0].privacy) == [1]
    with pytest.raises(UserError, match="unknown kind of tags to hide 'scenes'; did you mean 'scene'"):
        open_dataset(f"p-hvu:path={tmp_path},hide=scenes")


def test_labels_and_videos_that_do_not_fit(tmp_path):
    layout(tmp_path)
    (tmp_path / "videos" / "test1_000005_000015.mp4").unlink()
    film(tmp_path / "videos" / "other_000000_000010.mp4", tmp_path / "more" / "-id1_000001_000011.mp4")
    with pytest.raises(UserError, match=r"1 of 10 videos are missing \(test1_000005_000015\)"):
        open_dataset(f"p-hvu:{tmp_path}")
    problems = open_dataset(f"p-hvu:path={tmp_path},partial=true").problems
    assert problems.duplicates == ["-id1_000001_000011"] and not problems.unlabelled, "HVU has more videos"


def test_bad_lists(tmp_path):
    with pytest.raises(UserError, match=f"has no {TAGS}"):
        open_dataset(f"p-hvu:{tmp_path}")
    layout(tmp_path)
    write(tmp_path / LISTS["test"], f"{HEAD}run|ball|sea,test1,a,15\n")
    with pytest.raises(UserError, match=r"row 2: no seconds in 'a', '15'"):
        read_labels(tmp_path)
    (tmp_path / LISTS["test"]).unlink()
    with pytest.raises(UserError, match="has no HVU_Val"):
        read_labels(tmp_path)
    write(tmp_path / TAGS, "Tag,Category\nrun,action\n")
    with pytest.raises(UserError, match="no tags of the category 'object'"):
        read_labels(tmp_path)
