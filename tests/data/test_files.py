from pathlib import Path

import pytest
from layouts import film, write

from actonym.data.files import (
    Label,
    fields,
    folder,
    join,
    list_files,
    locate,
    read_json,
    stem,
    with_shared_validation,
    with_validation,
    words,
)
from actonym.errors import UserError


def test_a_folder_is_listed_by_class_and_name(tmp_path):
    film(tmp_path / "deep" / "clap" / "a.avi", tmp_path / "wave" / "a.MP4", tmp_path / ".hidden.avi")
    write(tmp_path / "clap" / "notes.txt", "no video")
    assert list(list_files(tmp_path)) == ["clap/a", "wave/a"]
    assert list(list_files(tmp_path, parts=1)) == ["a"]


def test_labels_and_files_that_do_not_fit_are_told():
    labels = [Label(name, "x", "train") for name in ("c/here", "c/gone", "c/here")] + [Label("c/unused", "x")]
    files = {"c/here": [Path("1"), Path("2")], "c/extra": [Path("3")]}
    found, problems = join(labels, files)
    assert [(label.name, str(path)) for label, path in found] == [("c/here", "1")]
    assert problems.missing == ["c/gone"] and problems.unlabelled == ["c/extra"] and problems.duplicates == ["c/here"]
    assert not problems.whole


def test_names_match_on_letters_and_digits_where_they_differ_in_the_rest():
    labels = [Label("c/Goal_#1_&_2", "x", "train"), Label("c/Goal_1_1", "x", "train")]
    found, problems = join(labels, {"c/Goal_@1_@_2": [Path("loose")], "c/Goal_1_1": [Path("exact")]})
    assert [str(path) for _, path in found] == ["loose", "exact"] and problems.whole


def test_a_loose_match_must_be_the_only_one():
    _, problems = join([Label("c/a#b", "x", "train")], {"c/a@b": [Path("1")], "c/a&b": [Path("2")]})
    assert problems.missing == ["c/a#b"]


def test_videos_without_their_attributes_are_not_used():
    labels = [Label("a", "x", "train", privacy=(1, 0)), Label("b", "x", "train")]
    found, problems = join(labels, {"a": [Path("a")], "b": [Path("b")]}, attributes=2)
    assert len(found) == 1 and problems.bare == ["b"]


def test_validation_is_whole_films_of_training_and_never_of_test():
    labels = [
        Label(f"{film}{k}", "x", "train" if film < "h" else "test", source=film) for film in "abcdefghi" for k in "123"
    ]
    after = with_validation(labels)
    films = {split: {label.source for label in after if label.split == split} for split in ("train", "val", "test")}
    assert films["val"] and films["train"] | films["val"] == set("abcdefg") and not films["train"] & films["val"]
    assert films["test"] == set("hi")
    assert with_validation(after) == after, "a validation part that is there stays"


def test_list_files_are_read_line_by_line(tmp_path):
    path = write(tmp_path / "list.txt", "a.avi 1 \n\nb.avi 2\r\n")
    assert list(fields(path, 2)) == [["a.avi", "1"], ["b.avi", "2"]]
    with pytest.raises(UserError, match=r"list.txt, line 2: cannot read 'b.avi'"):
        list(fields(write(path, "a.avi 1\nb.avi\n"), 2))
    with pytest.raises(UserError, match="cannot be read"):
        list(fields(tmp_path / "none.txt", 2))


def test_things_are_found_some_folders_down(tmp_path):
    write(tmp_path / "a" / "b" / "labels.txt", "")
    assert locate(tmp_path, "labels.txt").parent.name == "b"
    with pytest.raises(UserError, match=r"has no other\.txt"):
        locate(tmp_path, "other.txt")
    with pytest.raises(UserError, match="is not a folder"):
        folder(tmp_path / "none")


def test_names_in_words():
    assert words("ApplyEyeMakeup") == "apply eye makeup" and words("brush_hair") == "brush hair"
    assert stem("Class\\a.b.avi") == "Class/a.b" and stem("a.5") == "a.5"


def test_a_validation_part_with_every_person_of_training():
    labels = [Label(f"{who}{k}", "x", "test" if k == 9 else "train", subject=who) for who in "abc" for k in range(10)]
    after = with_shared_validation(labels)
    people = {split: {label.subject for label in after if label.split == split} for split in ("train", "val", "test")}
    assert people["train"] == people["val"] == people["test"] == set("abc")
    assert [label.name for label in after if label.split == "test"] == ["a9", "b9", "c9"]


def test_json_files(tmp_path):
    assert read_json(write(tmp_path / "a.json", '{"a": [1]}')) == {"a": [1]}
    with pytest.raises(UserError, match=r"a\.json is no JSON"):
        read_json(write(tmp_path / "a.json", "{"))
    with pytest.raises(UserError, match="cannot be read"):
        read_json(tmp_path / "none.json")
