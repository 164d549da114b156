"""Who is it? Counted by hand on coloured squares; with SFace and dlib on real faces where their weights are."""

import pytest
import torch
from videos import embed, find, has, video

from actonym.attacks.identity import identify, identity
from actonym.errors import UserError
from actonym.nets import centerface, sface

RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)
PEOPLE = ["a", "a", "b", "c"]
RAW = [video(RED), video((250, 20, 0), at=(12, 9)), video(GREEN), video(BLUE)]


def attack(anonymized, **settings):
    found = identity(
        list(zip(RAW, anonymized, strict=True)), PEOPLE, find=find, embedders={"colour": embed}, **settings
    )
    return found["strongest"], {entry["name"].split("/")[-1]: entry for entry in found["tried"]}


def test_raw_faces_are_recognized_and_chance_stands_beside():
    strongest, tried = attack(RAW)
    assert strongest == "identity/colour/found"
    for entry in tried.values():
        assert (entry["rank1"], entry["rank1_found"], entry["auc"]) == (1, 1, 1)
        assert entry["chance"] == {"rank1": pytest.approx(1 / 3), "auc": 0.5}
        assert (entry["queries"], entry["found"], entry["people"]) == (4, 4, 3)


def test_missing_faces_are_misses_but_who_knows_the_place_still_looks():
    """Darkened faces are not found; their colour still gives them away to the attacker who knows where to look."""
    strongest, tried = attack([video(RED), video((90, 5, 0), at=(12, 9)), video((0, 90, 0)), video(None)])
    assert (tried["found"]["rank1"], tried["found"]["rank1_found"], tried["found"]["found"]) == (0.25, 1, 1)
    assert tried["known"]["found"] == 4
    assert tried["known"]["rank1"] == 0.75, "of the black one nothing is left; its colour is nearest to red"
    assert strongest == "identity/colour/known"


def test_nothing_found_is_rank_one_zero_and_no_auc():
    _, tried = attack([video(None)] * 4)
    assert (tried["found"]["rank1"], tried["found"]["rank1_found"], tried["found"]["auc"]) == (0, None, None)


def test_without_the_own_raw_video_only_people_with_another_are_asked():
    _, tried = attack(RAW, own=False)
    assert tried["known"]["queries"] == 2 and tried["known"]["people"] == 3 and tried["known"]["rank1"] == 1
    first, other = (torch.eye(3)[k] for k in (0, 1))
    found = identify([first, other], [first, other], ["a", "b"])
    assert found["rank1"] == 1
    with pytest.raises(UserError, match="people with two raw videos"):
        identify([first, other], [first, other], ["a", "b"], own=False)


def test_a_query_does_not_find_itself_when_its_video_is_left_out():
    """The portraits of person a have nothing in common: without its own video each looks like b."""
    a, b = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([0.8, 0.6, 0.0])
    other_a = torch.tensor([0.0, 0.0, 1.0])
    portraits, people = [a, other_a, b], ["a", "a", "b"]
    assert identify(portraits, portraits, people, own=False)["rank1"] == pytest.approx(0.25), "other_a ties with both"


def test_one_person_is_nobody_to_be_told_from():
    with pytest.raises(UserError, match="two people or more"):
        identify([torch.eye(2)[0]], [torch.eye(2)[0]], ["a"])


@pytest.mark.skipif(not (has("centerface") and has("sface")), reason="no weights: actonym weights pull sface")
def test_sface_knows_a_real_person_again(shared):
    pytest.importorskip("onnxruntime")
    from actonym.video import FileVideo

    names = (
        "clap/boomsnapclap!_clap_u_nm_np1_fr_med_2",
        "clap/boomsnapclap!_clap_u_nm_np1_fr_med_1",
        "wave/Chris_Benoit_waving_goodbye_wave_u_nm_np1_fr_med_0",
    )
    vectors = []
    for name in names:
        frame = FileVideo(shared / "data/jhmdb_train/videos" / f"{name}.avi").frames([10]).transpose(0, 1)
        vectors.append(sface.embed(frame[0], centerface.find(frame)[0].points[:1])[0])
    same, others = vectors[0] @ vectors[1], (vectors[0] @ vectors[2], vectors[1] @ vectors[2])
    assert same > 0.363 > max(others), "0.363 is the threshold that its authors give"
