"""Videos with several actions at once, and attributes of several kinds: object- and scene-preserving recognition."""

from dataclasses import replace

import pytest
import torch
from small import TINY

from actonym.bench.evaluate import Evaluation
from actonym.bench.plot import kept_closed_figure, trade_off_figure
from actonym.bench.summary import summarize
from actonym.bench.table import markdown
from actonym.data import Stage
from actonym.data.base import _REGISTRY


class Several(Stage):
    """A stage whose videos have a second action, and whose attributes are called objects and scenes."""

    name = "several"

    def __init__(self, size: int = 32, frames: int = 16, train: int = 4, val: int = 2, test: int = 2) -> None:
        super().__init__(size=size, frames=frames, train=train, val=val, test=test)
        self.attributes = ("object: face", "object: skin", "scene: one", "scene: two", "scene: three")

    def samples(self, split):
        return [
            replace(s, actions=(s.action, (s.action + 1 + k % 2) % 10)) for k, s in enumerate(super().samples(split))
        ]


@pytest.fixture(scope="module")
def results(tmp_path_factory, learnable):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACTONYM_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setitem(_REGISTRY, "several", Several)
        evaluation = Evaluation("several:train=40,val=30,test=30", assignments=TINY, progress=False)
        out = tmp_path_factory.mktemp("out")
        yield [evaluation.run(name, 0, out / f"{name}.json") for name in ("raw", "downsample", "tint")]


def test_the_utility_is_the_cmap_of_actions(results):
    raw, coarse, _ = results
    assert "top1" not in coarse["utility"] and "top1" not in coarse["raw"]
    assert coarse["raw"]["action_cmap"] == raw["utility"]["cmap"] and raw["kept"] == 1
    assert coarse["kept"] == pytest.approx(coarse["utility"]["cmap"] / raw["utility"]["cmap"])
    assert coarse["floors"]["utility"] == pytest.approx(0.2, abs=0.001), "two of ten actions in each video"


def test_the_leak_has_groups(results):
    found = results[1]["privacy"]
    scenes = [entry["ap"] for name, entry in found["per_attribute"].items() if name.startswith("scene: ")]
    assert found["per_group"].keys() == {"object", "scene"} == results[1]["floors"]["per_group"].keys()
    assert found["per_group"]["scene"]["cmap"] == pytest.approx(sum(scenes) / 3)
    assert found["cmap"] == pytest.approx((2 * found["per_group"]["object"]["cmap"] + sum(scenes)) / 5)


def test_tables_and_plots_call_it_by_its_name(results):
    text = markdown(results)
    assert "| method | action cMAP | leak cMAP |" in text and "| method | object | scene |" in text
    assert "top-1" not in text
    groups = summarize(results)
    assert "action cMAP" in trade_off_figure(groups).axes[0].get_ylabel()
    assert "action cMAP" in kept_closed_figure(groups).axes[0].get_ylabel()


def test_the_same_set_of_actions_is_the_same_action_for_linkage(results):
    from actonym.bench.residue import _actions
    from actonym.data import Clips

    sets = torch.tensor([[1.0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
    clips = Clips(torch.zeros(4, 2), sets, torch.zeros(4, 1), [""] * 4)
    found = _actions(clips).tolist()
    assert found[0] == found[2] and len(set(found)) == 3
