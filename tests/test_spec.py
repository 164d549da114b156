import pytest

from actonym.errors import UserError
from actonym.spec import assign, check, parse, text, with_settings


def test_parse_reads_values_as_yaml():
    assert parse("downsample") == ("downsample", {})
    assert parse("stage:size=64,correlation=0.5") == ("stage", {"size": 64, "correlation": 0.5})
    assert parse("blur:strength=weak") == ("blur", {"strength": "weak"})
    assert parse("a:lr=1e-3,decay=2.5E4,name=1e") == ("a", {"lr": 0.001, "decay": 25000.0, "name": "1e"})


@pytest.mark.parametrize("spec", ["downsample", "stage:size=64,correlation=0.5", "csv:path=a.csv,partial=true"])
def test_text_is_what_parse_reads(spec):
    assert text(*parse(spec)) == spec


def test_parse_refuses_a_setting_without_value():
    with pytest.raises(UserError, match="key=value"):
        parse("blur:strong")


def test_assign_sets_what_exists_and_leaves_the_original_alone():
    tree = {"clip": {"size": 64, "frames": 16}, "attackers": ["a"]}
    assert assign(tree, ["clip.size=112", "attackers=[b, c]"]) == {
        "clip": {"size": 112, "frames": 16},
        "attackers": ["b", "c"],
    }
    assert tree["clip"]["size"] == 64


@pytest.mark.parametrize(
    ("text", "message"),
    [("clip.sise=3", "did you mean 'clip.size'"), ("klip.size=3", "did you mean 'clip'"), ("clip.size", "key=value")],
)
def test_assign_refuses_what_does_not_exist(text, message):
    with pytest.raises(UserError, match=message):
        assign({"clip": {"size": 64}}, [text])


KINDS = {
    "lr": 0.1,
    "epochs": 2,
    "noise": False,
    "betas": [0.5, 0.9],
    "start": "grey",
    "nets": [],
    "ceiling": None,
    "clip": {},
}


@pytest.mark.parametrize("said", ["lr=1", "epochs=0.5", "noise=true", "betas=[1]", "start=null", "ceiling=3", "nets=a"])
def test_assign_takes_what_is_of_the_same_kind(said):
    assert assign(KINDS, [said]) != KINDS


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("lr=fast", "--set lr must be a number, not 'fast'"),
        ("epochs=true", "a number, not True"),
        ("noise=1", "true or false, not 1"),
        ("betas=0.5", "a list of numbers, not 0.5"),
        ("start=3", "a word or a list of words, not 3"),
        ("clip=3", "a section, not 3"),
    ],
)
def test_assign_refuses_what_is_of_another_kind(said, message):
    with pytest.raises(UserError, match=message):
        assign(KINDS, [said])


def test_check_names_the_nearest_setting():
    with pytest.raises(UserError, match="did you mean 'factor'"):
        check("downsample", {"facto": 2}, lambda factor=4: None)


def test_settings_behind_settings():
    assert with_settings("stprivacy", {"keep": 0.5}) == "stprivacy:keep=0.5"
    assert with_settings("runs/a=b/mine", {"keep": 0.5}) == "runs/a=b/mine:keep=0.5"
    assert with_settings("stprivacy:train.privacy=3", {"keep": 0.5}) == "stprivacy:train.privacy=3,keep=0.5"
