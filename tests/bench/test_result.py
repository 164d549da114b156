import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actonym.bench.result import Result, flags, problem, read, read_folder, write
from actonym.bench.table import markdown
from actonym.errors import ActonymError, UserError

Make = Callable[..., Result]


def changed(result: Result, path: str, value: Any) -> Result:
    """The result with one value changed, or removed (value ...)."""
    *folders, key = path.split(".")
    node = result
    for folder in folders:
        node = node[folder]
    if value is ...:
        del node[key]
    else:
        node[key] = value
    return result


def test_a_result_survives_the_disk(make: Make, tmp_path: Path) -> None:
    result = make("blur:strength=weak", top1=0.8)
    path = write(result, tmp_path / "deep" / "blur.json")
    assert read(path) == result
    assert os.listdir(path.parent) == ["blur.json"]


@pytest.mark.parametrize("path, value", [
    ("kept", None), ("closed", None), ("closed", 1.4), ("closed", -0.3), ("kept", 1.1), ("seed", 7),
    ("reported", {"vp-hmdb51": {"top1": 0.5, "f1": 0.6, "cmap": 0.7}}), ("picture", "raw-0.png"),
    ("privacy.per_attribute.face", {"ap": None, "f1": None, "ap_gain": None, "f1_gain": None, "prevalence": 1.0}),
    ("floors.per_attribute.face", {"chance": 1.0, "action_prior": None}), ("settings", {"epochs": 3}),
])  # fmt: skip
def test_the_schema_accepts(make: Make, path: str, value: Any) -> None:
    assert problem(changed(make(), path, value)) is None


@pytest.mark.parametrize("path, value", [
    ("utility.top1", 91.2), ("utility.top1", "0.9"), ("utility.recognizer.converged", "yes"), ("privacy.cmap", None),
    ("privacy.per_attribute", {}), ("floors.action_prior", ...), ("raw.cmap", ...), ("seed", -1), ("seed", 0.5),
    ("schema", 2), ("kept", ...), ("method", ""), ("extra", 1), ("attacker.tried", []), ("flags", "none"),
    ("attacker.strongest", "nobody"), ("picture", "../../secret.png"), ("picture", "/etc/x.png"),
    ("picture", "page.html"), ("versions", {"a": 1}),
])  # fmt: skip
def test_the_schema_refuses(make: Make, tmp_path: Path, path: str, value: Any) -> None:
    result = changed(make(), path, value)
    with pytest.raises(ActonymError, match="schema"):
        write(result, tmp_path / "bad.json")
    (tmp_path / "bad.json").write_text(json.dumps(result))
    with pytest.raises(UserError, match=r"bad\.json is not a result") as error:
        read(tmp_path / "bad.json")
    assert "\n" not in str(error.value) and len(str(error.value)) < 400


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null", '"raw"', '{"a": 1}', "\x00\x01", "[" * 100_000])
def test_a_damaged_or_foreign_file_is_named_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(UserError, match=r"odd\.json") as error:
        read(tmp_path / "odd.json")
    assert "\n" not in str(error.value)


def test_bytes_that_are_no_text_are_damage(tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_bytes(b"\xff\xfe\x80")
    with pytest.raises(UserError, match="damaged"):
        read(tmp_path / "odd.json")


def test_numbers_that_are_not_finite_are_refused(make: Make, tmp_path: Path) -> None:
    result = make() | {"closed": float("nan")}
    with pytest.raises(ActonymError, match="finite"):
        write(result, tmp_path / "nan.json")
    assert not os.listdir(tmp_path)
    (tmp_path / "nan.json").write_text(json.dumps(result))
    with pytest.raises(UserError, match="damaged"):
        read(tmp_path / "nan.json")


def test_a_failed_write_leaves_the_old_result(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(make(), tmp_path / "raw.json")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ActonymError, match="No space left"):
        write(make(seed=1), path)
    assert read(path)["seed"] == 0 and os.listdir(tmp_path) == ["raw.json"]


def test_a_folder_is_read_to_its_depths(make: Make, tmp_path: Path) -> None:
    write(make(seed=1), tmp_path / "b.json")
    write(make(seed=0), tmp_path / "a" / "c.json")
    assert [(path.name, result["seed"]) for path, result in read_folder(tmp_path).items()] == [
        ("c.json", 0),
        ("b.json", 1),
    ]


def test_one_run_twice_is_not_two_seeds(make: Make, tmp_path: Path) -> None:
    write(make(), tmp_path / "a.json")
    write(make(top1=0.8), tmp_path / "b.json")
    with pytest.raises(UserError, match=r"a\.json and .*b\.json"):
        read_folder(tmp_path)


def test_an_empty_or_missing_folder_is_a_users_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no results"):
        read_folder(tmp_path)
    with pytest.raises(UserError, match="not a folder"):
        read_folder(tmp_path / "absent")


def test_a_sound_result_has_no_flags(make: Make) -> None:
    assert flags(make()) == []


def test_flags_name_what_did_not_converge(make: Make) -> None:
    result = make()
    result["utility"]["recognizer"]["converged"] = False
    result["attacker"]["tried"][1]["converged"] = False
    assert flags(result) == ["weaker attacker did not converge: frame/cnn/tuned", "recognizer did not converge"]
    result["attacker"]["tried"][0]["converged"] = False
    assert flags(result)[0] == "attacker did not converge"


@pytest.mark.parametrize("cmap, top1, flagged", [(0.49, 0.9, True), (0.49, 0.4, False), (0.51, 0.9, False)])
def test_a_leak_below_the_action_prior_is_flagged_where_the_action_is_kept(
    make: Make, cmap: float, top1: float, flagged: bool
) -> None:
    assert ("below the action-prior floor" in flags(make("ours", top1=top1, cmap=cmap))) == flagged


def test_a_weak_raw_attacker_and_left_out_attributes_are_flagged(make: Make) -> None:
    result = make(raw={"top1": 0.9, "cmap": 0.54, "f1": 0.5})
    result["privacy"]["per_attribute"]["face"]["ap"] = None
    assert flags(result) == ["raw attacker weak", "attribute left out: face"]


def test_results_that_are_published_stay_readable() -> None:
    """Whatever is added to the schema, and to the report."""
    folder = Path(__file__).parents[2] / "results"
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        assert markdown(read_folder(place).values()).startswith("# Actonym report")
