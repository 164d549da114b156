import json

import pytest
from layouts import film, write

from actonym import cli
from actonym.data import load_clips, open_dataset
from actonym.errors import UserError

HEAD = "path,action,face,gender,subject,split\n"


def table(folder, text, videos=("a.mp4", "b.mp4", "c.mp4")):
    film(*(folder / "videos" / name for name in videos))
    return write(folder / "mine.csv", text)


def test_columns_become_labels(tmp_path):
    rows = "videos/a.mp4,sit_down,1,0,ann,train\nvideos/b.mp4,wave,0,1,bob,val\nvideos/c.mp4,wave,0,1,cid,TEST\n"
    data = open_dataset(f"csv:{table(tmp_path, HEAD + rows)}")
    assert data.actions == ["sit_down", "wave"] and data.attributes == ("face", "gender")
    sample = data.samples("train")[0]
    assert (sample.privacy, sample.subject, sample.text) == ((1, 0), "ann", "sit down")
    assert data.samples("test")[0].subject == "cid" and len(load_clips(data, "val", frames=4, size=16)) == 1


@pytest.mark.parametrize("column", ["subject", "source"])
def test_without_a_split_whole_people_or_sources_are_divided_the_same_every_time(tmp_path, column):
    names = [f"{k}.mp4" for k in range(40)]
    rows = "".join(f"videos/{name},{'sit' if k % 2 else 'run'},p{k // 4}\n" for k, name in enumerate(names))
    path = table(tmp_path, f"path,action,{column}\n{rows}", names)
    one, two = (open_dataset(f"csv:{path}") for _ in range(2))
    parts = {split: one.samples(split) for split in ("train", "val", "test")}
    assert [s.name for s in two.samples("test")] == [s.name for s in parts["test"]]
    groups = [{getattr(s, column) for s in samples} for samples in parts.values()]
    assert all(groups) and sum(map(len, groups)) == 10 and len(set.union(*groups)) == 10
    assert 5 <= len(parts["test"]) <= 15


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("video,action\nx,y\n", "mine.csv has no column 'path'; it has video, action"),
        ("", "mine.csv has no column 'path'; it has none"),
        ("path,action\n", "mine.csv has no rows"),
        ("path,action\nvideos/a.mp4,sit\nvideos/none.mp4,sit\n", "row 3: there is no file 'videos/none.mp4'"),
        ("path,action,face\nvideos/a.mp4,sit,2\n", "row 2: attribute 'face' is '2'; attributes are 0 or 1"),
        ("path,action,face\nvideos/a.mp4,sit,\n", "row 2: attribute 'face' is ''"),
        ("path,action,split\nvideos/a.mp4,sit,trian\n", "row 2: unknown split 'trian'; did you mean 'train'"),
        ("path,action\nvideos/a.mp4,\n", "row 2: no action"),
        ("path,action\nvideos/a.mp4\n", "row 2: not as many fields as columns"),
        ("path,action,action\nvideos/a.mp4,x,y\n", "has a column twice"),
    ],
)
def test_mistakes_are_one_line_with_the_row(tmp_path, text, message):
    with pytest.raises(UserError) as error:
        open_dataset(f"csv:{table(tmp_path, text)}")
    assert message in str(error.value) and "\n" not in str(error.value)


def test_no_such_csv_and_bad_shares(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        open_dataset(f"csv:{tmp_path / 'none.csv'}")
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="no CSV in UTF-8"):
        open_dataset(f"csv:{tmp_path / 'bytes.csv'}")
    with pytest.raises(UserError, match="shares between 0 and 1"):
        open_dataset(f"csv:path={tmp_path / 'none.csv'},test=1.5")


def test_going_on_without_missing_files_only_if_asked(tmp_path, capsys):
    path = table(
        tmp_path, "path,action,split\nvideos/a.mp4,sit,train\nvideos/none.mp4,sit,test\nvideos/b.mp4,sit,test\n"
    )
    data = open_dataset(f"csv:path={path},partial=true")
    assert data.problems.missing == ["videos/none.mp4"] and len(data.samples("test")) == 1
    with pytest.raises(SystemExit) as end:
        cli.main(["datasets", "check", f"csv:{path}", "--json"])
    out = capsys.readouterr()
    assert end.value.code == 1 and json.loads(out.out)["missing"]["files"] == ["videos/none.mp4"]
    assert "is not whole" in out.err


def test_a_video_named_twice_is_told_and_used_once(tmp_path, capsys):
    rows = "videos/a.mp4,sit,train\nvideos/b.mp4,sit,val\nvideos/a.mp4,sit,test\nvideos/c.mp4,sit,test\n"
    data = open_dataset(f"csv:{table(tmp_path, 'path,action,split' + chr(10) + rows)}")
    assert [s.name for s in data.samples("test")] == ["videos/c.mp4"]
    assert "1 names are there twice (videos/a.mp4)" in capsys.readouterr().err


def test_a_subject_in_two_splits_is_a_warning(tmp_path, capsys):
    rows = "videos/a.mp4,sit,1,0,ann,train\nvideos/b.mp4,sit,1,0,bob,val\nvideos/c.mp4,sit,0,0,ann,test\n"
    open_dataset(f"csv:{table(tmp_path, HEAD + rows)}")
    assert "1 subjects are in more than one split (ann)" in capsys.readouterr().err
