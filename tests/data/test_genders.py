import pytest
from layouts import write

from actonym.data.files import Label
from actonym.data.genders import read_genders, with_genders
from actonym.errors import UserError


def test_subjects_are_written_in_many_ways(tmp_path):
    path = write(tmp_path / "g.csv", "subject,gender\nP001,F\np02,male\n3,m\n010,Female\n")
    assert read_genders(path) == {1: 1, 2: 0, 3: 0, 10: 1}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("subject,sex\nP001,F\n", "no column 'gender'"),
        ("subject,gender\nP001,F\n1,M\n", "row 3: subject 1 is there twice"),
        ("subject,gender\nP001,X\n", "row 2: gender is 'X'; it is F or M"),
        ("subject,gender\nanna,F\n", "row 2: 'anna' is no subject"),
        ("subject,gender\n", "has no rows"),
    ],
)
def test_bad_files(tmp_path, text, problem):
    with pytest.raises(UserError, match=problem):
        read_genders(write(tmp_path / "g.csv", text))


def test_labels_get_the_gender_of_their_subject():
    labels = [Label("a", "x", "train", subject="P001"), Label("b", "x", "train", subject="P002")]
    assert [label.privacy for label in with_genders(labels, {1: 1})] == [(1,), ()]
    with pytest.raises(UserError, match=r"1 subjects have no gender in the file \(P002\)"):
        with_genders(labels, {1: 1}, needed=True)
