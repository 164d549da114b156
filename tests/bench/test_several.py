"""Videos with several actions at once, and attributes of several kinds: object- and scene-preserving recognition."""

import pytest
import torch
from small import TINY

from actonym.bench.evaluate import Evaluation
from actonym.bench.plot import kept_closed_figure, trade_off_figure
from actonym.bench.summary import summarize
from actonym.bench.table import markdown


@pytest.fixture(scope="module")
def measured(tmp_path_factory, learnable):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTONYM_CACHE", str(tmp_path_factory.mktemp("cache")))
        evaluation = Evaluation("stage:world=rooms,train=40,val=30,test=30", assignments=TINY, progress=False)
        out = tmp_path_factory.mktemp("out")
        results = [evaluation.run(name, 0, out / f"{name}.json") for name in ("raw", "downsample", "tint")]
        yield results, evaluation.parts.data.splits["test"]


def test_the_utility_is_the_cmap_of_actions(measured):
    (raw, coarse, _), test = measured
    assert "top1" not in coarse["utility"] and "top1" not in coarse["raw"]
    assert coarse["raw"]["action_cmap"] == raw["utility"]["cmap"] and raw["kept"] == 1
    assert coarse["kept"] == pytest.approx(coarse["utility"]["cmap"] / raw["utility"]["cmap"])
    assert test.action.sum(1).max() > 1 and coarse["floors"]["utility"] == pytest.approx(mean_share(test.action))


def mean_share(labels):
    shares = labels.double().mean(0)
    return shares[(shares > 0) & (shares < 1)].mean().item()


def test_the_leak_has_groups(measured):
    result, test = measured[0][1], measured[1]
    found, floors = result["privacy"], result["floors"]
    assert found["per_group"].keys() == {"object", "scene"} == floors["per_group"].keys()
    for place, kind in enumerate(("object", "scene")):
        each = [entry["ap"] for name, entry in found["per_attribute"].items() if name.startswith(f"{kind}: ")]
        counted = [ap for ap in each if ap is not None]
        assert found["per_group"][kind]["cmap"] == pytest.approx(sum(counted) / len(counted))
        labels = test.privacy[:, :8] if place == 0 else test.privacy[:, 8:]
        assert floors["per_group"][kind]["chance"] == pytest.approx(mean_share(labels))
    assert floors["chance"] == pytest.approx(mean_share(test.privacy))


def test_tables_and_plots_call_it_by_its_name(measured):
    results, _ = measured
    text = markdown(results)
    assert "| method | action cMAP | leak cMAP |" in text and "| method | object | scene |" in text
    assert "top-1" not in text
    groups = summarize(results)
    assert "action cMAP" in trade_off_figure(groups).axes[0].get_ylabel()
    assert "action cMAP" in kept_closed_figure(groups).axes[0].get_ylabel()


def test_the_same_set_of_actions_is_the_same_action_for_linkage():
    from actonym.bench.residue import actions_of
    from actonym.data import Clips

    sets = torch.tensor([[1.0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
    clips = Clips(torch.zeros(4, 2), sets, torch.zeros(4, 1), [""] * 4)
    found = actions_of(clips).tolist()
    assert found[0] == found[2] and len(set(found)) == 3
