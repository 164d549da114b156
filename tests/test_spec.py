import pytest

from actonym.errors import UserError
from actonym.spec import assign, check, parse, text, with_settings


def test_parse_reads_values_as_yaml():
    assert parse("downsample") == ("downsample", {})
    assert parse("stage:size=64,correlation=0.5") == ("stage", {"size": 64, "correlation": 0.5})
    assert parse("blur:strength=weak") == ("blur", {"strength": "weak"})


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


def test_check_names_the_nearest_setting():
    with pytest.raises(UserError, match="did you mean 'factor'"):
        check("downsample", {"facto": 2}, lambda factor=4: None)


def test_settings_behind_settings():
    assert with_settings("stprivacy", {"keep": 0.5}) == "stprivacy:keep=0.5"
    assert with_settings("runs/a=b/mine", {"keep": 0.5}) == "runs/a=b/mine:keep=0.5"
    assert with_settings("stprivacy:train.privacy=3", {"keep": 0.5}) == "stprivacy:train.privacy=3,keep=0.5"
