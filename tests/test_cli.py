"""The command line as other programs see it: exit codes, one line per error, JSON alone on stdout."""

import json
import subprocess
import sys

import pytest

from actonym import cli


def call(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "actonym.cli", *map(str, words)], capture_output=True, text=True, **options
    )


def run(capsys, *words):
    """In this process: (exit code, stdout, stderr)."""
    try:
        cli.main([str(word) for word in words])
        code = 0
    except SystemExit as end:
        code = end.code or 0
    out = capsys.readouterr()
    return code, out.out, out.err


def test_methods_as_json_alone_on_stdout():
    done = call("methods", "--json")
    rows = json.loads(done.stdout)
    assert done.returncode == 0 and {"raw", "downsample", "blur", "blacken"} <= {row["name"] for row in rows}
    assert all(row["idea"] and row["kind"] in ("pixel", "latent") for row in rows)


def test_datasets_for_people_and_programs(capsys):
    assert "stage" in run(capsys, "datasets")[1]
    rows = {row["name"]: row for row in json.loads(run(capsys, "datasets", "--json")[1])}
    assert rows["stage"]["actions"] >= 8 and len(rows["stage"]["attributes"]) == 5
    assert all(row["licence"] and row["source"] and row["about"] for row in rows.values())


def test_datasets_check_says_what_is_there(capsys):
    code, out, _ = run(capsys, "datasets", "check", "stage:train=40,val=10,test=20", "--json")
    found = json.loads(out)
    assert code == 0 and found["whole"] and found["splits"]["test"]["videos"] == 20
    assert 0 < found["floors"]["chance"] <= 1 and 0 < found["floors"]["action_prior"] <= 1
    assert "action prior" in run(capsys, "datasets", "check", "stage:train=40,val=10,test=20")[1]
    assert run(capsys, "datasets", "check")[0] == 2
    assert run(capsys, "datasets", "check", "hmdb51")[0] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["anonymize", "no.mp4", "out.mp4"], "no.mp4"),
        (["anonymize", "no.mp4", "out.mp4", "--method", "blurr"], "did you mean 'blur'"),
        (["anonymize", "no.mp4", "out.mp4", "--method", "downsample", "--keep", "0.5"], "downsample has no keep"),
        (
            ["anonymize", "no.mp4", "out.mp4", "--method", "stprivacy", "--keep", "most"],
            "--keep must be a number, not 'most'",
        ),
        (["evaluate", "raw", "--keep", "0.5"], "unknown setting of raw 'keep'; there are none"),
        (["evaluate", "raw", "--seed", "1.5"], "--seed must be a whole number, not '1.5'"),
        (["anonymize", "no.mp4", "out.mp4", "--method", "raw"], "raw changes nothing"),
        (["evaluate", "raw", "--data", "stagge"], "did you mean 'stage'"),
        (["evaluate", "raw", "--set", "images=nowhere.pth"], "there is no file nowhere.pth"),
        (["train", "spact", "--set", "images=nowhere.pth"], "there is no file nowhere.pth"),
        (["train", "spact", "--set", "clip.rat=4"], "did you mean 'clip.rate'"),
        (["evaluate", "raw", "--preset", "paper", "--set", "clip.rate=fast"], "clip.rate must be a whole number"),
        (["train", "spact", "--preset", "paper", "--set", "clip.rate=true"], "clip.rate must be a whole number"),
        (["evaluate", "raw", "--preset", "paper", "--set", "clip.rate=0"], "clip.rate must be a whole number"),
        (["evaluate", "downsample", "--keep", "0.5"], "unknown setting of downsample 'keep'"),
        (["evaluate", "raw", "--protocol", "knwon"], "did you mean 'known'"),
        (["evaluate", "raw", "--preset", "papr"], "did you mean 'paper'"),
        (["evaluate", "raw", "--set", "clip.sise=3"], "did you mean 'clip.size'"),
        (["train", "downsample", "--set", "method.facto=3"], "did you mean 'method.factor'"),
        (["train", "rawr"], "did you mean 'raw'"),
        (["report", "nowhere"], "nowhere"),
        (["anonymise"], "anonymize"),
        (["anonymize", "a.mp4"], "target"),
    ],
)
def test_the_users_mistake_is_one_line_and_exit_code_2(capsys, tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *words)
    assert code == 2 and out == ""
    assert message in err and err.count("\n") == 1 and err.startswith("actonym: ")
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_set_may_be_repeated(tmp_path, capsys):
    words = ["train", "downsample", "--out", tmp_path / "out", "--data", "stage:train=2,val=1,test=1"]
    code, _, err = run(capsys, *words, "--set", "method.factor=3", "--set", "method.working_size=56")
    assert code == 0, err
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["factor"] == 3 and config["working_size"] == 56


def test_version_and_help(capsys):
    from actonym import __version__

    assert run(capsys, "--version")[1].strip() == __version__
    code, out, _ = run(capsys, "--help")
    assert code == 0 and all(verb in out for verb in cli.VERBS)


def test_a_learned_method_must_be_trained_first(capsys, tmp_path, monkeypatch, learnable):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "anonymize", "in.mp4", "out.mp4", "--method", "tint")
    assert code == 2 and out == "" and err.count("\n") == 1
    assert "actonym train tint --data ... --out DIR, then --method DIR" in err
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_the_record_names_the_checkpoint_and_the_knob(capsys, tmp_path, learnable):
    from make_video import make

    from actonym import methods

    folder = methods.save(methods.create("tint"), tmp_path / "mine")
    make(tmp_path / "a.mp4", count=4)
    for words in (["--method", folder, "--keep", "0.25"], ["--method", f"{folder}:keep=0.25"]):
        code, _, err = run(capsys, "anonymize", tmp_path / "a.mp4", tmp_path / "b.mp4", "--force", "--quiet", *words)
        assert code == 0, err
        record = json.loads((tmp_path / "b.mp4.json").read_text())
        assert record["settings"]["keep"] == 0.25
        assert record["checkpoint_sha256"] == json.loads((folder / "config.json").read_text())["sha256"]


def test_methods_of_a_bench_and_their_settings():
    assert cli._names("raw, a+b/run:x=1+y=2,tint@dark") == ["raw", "a+b/run:x=1,y=2", "tint@dark"]


def test_a_second_dataset_goes_with_its_protocols_only(capsys):
    for protocol, source, message in (
        ("known", ["--source", "stage"], "protocol known has no --source"),
        ("unseen", [], "add --source NAME"),
        ("frame", [], "needs labels of single frames, which stage does not have"),
    ):
        code, _, err = run(capsys, "evaluate", "raw", "--protocol", protocol, *source)
        assert code == 2 and message in err and err.count("\n") == 1
