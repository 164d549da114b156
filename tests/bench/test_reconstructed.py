"""Pictures from a store of features: end to end from the command line, and what does not fit together is told."""

import json

import pytest
import torch
from PIL import Image
from torch import nn

from actonym import cli
from actonym.bench.reconstructed import measure_reconstruction, observe
from actonym.data import Stage
from actonym.data.features import Store
from actonym.errors import UserError
from actonym.methods import LatentMethod, MethodCard
from actonym.nets.encoder import PLAIN, Encoder
from actonym.run.features import anonymize, extract

pytest.importorskip("pyarrow")
DATA = "stage:size=32,frames=10,train=6,val=3,test=4"
QUICK = ["picture.size=32", "decoder.width=4", "fit.epochs=1", "fit.rounds=1"]


class Small(nn.Module):
    """Its features: the clip at four by four pixels."""

    def features(self, clip):
        return nn.functional.adaptive_avg_pool3d(clip, (1, 4, 4)).flatten(1)


class Gone(LatentMethod):
    name, card = "gone", MethodCard("Gone", "Leaves nothing.", "none", 2026)

    def forward(self, features, present=None):
        return torch.zeros_like(features)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Two clips of four frames of each of thirteen videos."""
    folder = tmp_path_factory.mktemp("reconstructed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTONYM_CACHE", str(folder / "cache"))
        dataset = Stage(size=32, frames=10, train=6, val=3, test=4)
        yield extract(
            dataset, Encoder(Small(), 32, 4, 48, PLAIN), folder / "s", data=DATA, name="small", progress=False
        )


def words(store, *more):
    changes = [word for change in QUICK for word in ("--set", change)]
    return ["attacks", "reconstruct", "--data", DATA, "--store", str(store.folder), "--quiet", *changes, *more]


def test_before_and_after_a_method_from_the_command_line(store, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cli, "_latent_method", lambda folder: Gone())
    out, picture = tmp_path / "found.json", tmp_path / "found.png"
    cli.main(words(store, "--method", "gone", "--out", str(out), "--picture", str(picture)))
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert found == json.loads(out.read_text()) and printed.err == ""
    assert found["videos"] == {"train": 6, "val": 3, "test": 4} and found["pairs"]["train"] == 12
    assert set(found["floors"]) == {"chance", "action_prior"} and found["floors"]["chance"]["rank1"] == 0.25
    for part in (found["raw"], found["anonymized"], *found["floors"].values()):
        assert part["ssim"] <= 1 and part["psnr"] > 0 and 0 <= part["rank1"] <= 1
    assert set(found["closed"]) == {"ssim", "psnr", "rank1"} and found["anonymized"]["rank1"] == 0.25
    columns, rows = (round(side / 128) for side in Image.open(picture).size)  # 32 pixels are shown four times as large
    assert (columns, rows) == (4, 3), "four test videos; true, from raw features, from anonymized ones"


def test_without_a_method_there_are_scores_and_no_picture(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = measure_reconstruction(DATA, store, changes=QUICK, progress=False)
    assert {"ssim", "psnr", "rank1", "training"} == set(found["scores"]) and "closed" not in found
    assert not list(tmp_path.iterdir())


def test_pictures_are_the_middles_of_the_clips(store):
    dataset = Stage(size=32, frames=10, train=6, val=3, test=4)
    samples = {("train", sample.name): sample for sample in dataset.samples("train")}
    ways = {"raw": lambda x: x, "turned": lambda x: x.flip(1)}
    both = observe(store, "train", samples, 32, 4, ways)
    first = dataset.samples("train")[0].video
    assert torch.equal(both["raw"].pictures[:2], first.frames([1, 5]).transpose(0, 1))
    assert torch.equal(both["turned"].features[0], both["raw"].features[1]), "a method sees the whole video"
    middle = observe(store, "train", samples, 16, 1, ways)["raw"]
    assert middle.pictures.shape == (6, 3, 16, 16) and torch.equal(middle.features, both["raw"].features[1::2])


def test_what_does_not_fit_together_is_told_in_one_line(store, tmp_path, capsys):
    def fails(message, data=DATA, given=store, **how):
        with pytest.raises(UserError, match=message):
            measure_reconstruction(data, given, changes=[*QUICK, *how.pop("changes", [])], progress=False, **how)

    fails("9 of 13 videos of .* are not in stage.*give the dataset that it was made of", "stage:train=2,val=1,test=1")
    fails("fewer frames than the store says", DATA.replace("frames=10", "frames=4"))
    safe = anonymize(store.folder, tmp_path / "safe", Gone(), progress=False)
    fails("safe is anonymized: give the raw store", given=safe)
    kept = anonymize(store.folder, tmp_path / "kept", Gone(), labels="keep", progress=False)
    fails("kept is anonymized: give the raw store", given=kept, method=Gone())
    assert measure_reconstruction(DATA, kept, changes=QUICK, progress=False)["scores"]["rank1"] == 0.25
    fails("not 33", changes=["picture.size=33"])
    fails("picture.clips must be at least 1", changes=["picture.clips=0"])
    fails("did you mean 'fit.epochs'", changes=["fit.epoch=2"])
    half = Store.make(tmp_path / "half", dict(store.about))
    half.append(entry for entry in store.entries() if entry.split != "val")
    half.finish()
    fails("no videos in its val split", given=half)
    capsys.readouterr()
    for given in (["--data", DATA], ["--store", str(store.folder)]):
        with pytest.raises(SystemExit) as ended:
            cli.main(["attacks", "reconstruct", *given])
        error = capsys.readouterr().err
        assert ended.value.code == 2 and "--data NAME:PATH --store FOLDER" in error and error.count("\n") == 1
