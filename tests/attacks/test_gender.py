"""Gender from faces, on coloured squares: red is a man."""

import pytest
from videos import find, video

from actonym.attacks.gender import gender, gender_leak
from actonym.errors import UserError


def redness(frame, points):
    x, y = points[:, 0].long().T
    return frame[0, y, x].float() / 255


MAN, WOMAN = video((255, 0, 0)), video((0, 255, 0))


def test_without_labels_the_raw_video_is_the_truth():
    pairs = [(MAN, video((90, 0, 0))), (MAN, MAN), (MAN, MAN), (WOMAN, MAN), (video(None), MAN)]
    found = gender(pairs, find=find, score=redness)
    tried = {entry["name"]: entry for entry in found["tried"]}
    assert found["truth"] == "raw" and found["raw"] is None
    assert tried["gender/found"]["videos"] == 4, "no face in raw, nothing to be told"
    assert tried["gender/found"]["chance"]["accuracy"] == 0.75
    assert (tried["gender/found"]["found"], tried["gender/found"]["accuracy_found"]) == (3, pytest.approx(2 / 3))
    assert tried["gender/found"]["accuracy"] == 0.75, "the face that is not found is guessed to be a man's"
    assert (tried["gender/known"]["found"], tried["gender/known"]["accuracy"]) == (4, 0.5)
    assert found["strongest"] == "gender/found"


def test_with_labels_the_leak_of_raw_video_stands_beside():
    found = gender([(MAN, WOMAN), (WOMAN, WOMAN), (MAN, MAN)], [1, 0, None], find=find, score=redness)
    assert found["truth"] == "labels"
    assert (found["raw"]["accuracy"], found["raw"]["auc"], found["raw"]["videos"]) == (1, 1, 2)
    assert found["tried"][0]["accuracy"] == 0.5 and found["tried"][0]["auc"] == 0.5


def test_no_labels_and_no_faces_is_an_error():
    with pytest.raises(UserError, match="faces in the raw videos"):
        gender_leak([None, 0.3], [None, None])
