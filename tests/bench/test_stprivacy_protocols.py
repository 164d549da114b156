"""STPrivacy itself through every protocol of its paper, on the stage's worlds for them, from training to the result."""

import pytest
from small import TINY

from actonym.bench.evaluate import Evaluation

FEW = "train=12,val=8,test=8"
ONCE = ",".join(f"train.{phase}=1" for phase in ("rehearsal", "drill", "initialization", "adversarial"))
SMALL = f"stprivacy:dim=24,heads=2,frames=8,side=32,{ONCE},train.batch_size=4,train.crowd=1"
PROTOCOLS = {  # section: protocol, data, source, what is kept, some of what is hidden
    "4.4 known": ("known", f"stage:{FEW}", None, "top1", {"face", "gender"}),
    "4.4 unseen": ("unseen", f"stage:world=park,{FEW}", f"stage:{FEW}", "top1", {"face", "gender"}),
    "4.7 frame": ("frame", f"stage:world=turning,{FEW}", f"stage:{FEW}", "top1", {"face", "gender"}),
    "4.8 FAPDER": ("known", f"stage:world=faces,{FEW}", None, "top1", {"young", "pointy_nose"}),
    "4.8 OSPAR": ("known", f"stage:world=rooms,{FEW}", None, "cmap", {"object: ball"}),
}


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ACTONYM_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize("section", PROTOCOLS)
def test_it_is_trained_and_measured(section, tmp_path):
    protocol, data, source, kept, hidden = PROTOCOLS[section]
    evaluation = Evaluation(data, protocol, assignments=TINY, progress=False, source=source)
    found = evaluation.run(SMALL, 0, tmp_path / "result.json")
    assert [phase["name"] for phase in found["training"]["phases"]] == [
        "rehearsal", "drill", "initialization", "adversarial",
    ]  # fmt: skip
    assert found["utility"][kept] is not None and found["raw"]["action_cmap" if kept == "cmap" else kept] > 0
    assert hidden <= found["privacy"]["per_attribute"].keys() and 0 < found["floors"]["chance"] < 1
    assert found["shown"] == ["raw", "after sparsification", "anonymized"], "figure 3"
    assert found.get("source") == source and all(
        one["attack"] == "frame" for one in found["attacker"]["tried"] if protocol == "frame"
    )
