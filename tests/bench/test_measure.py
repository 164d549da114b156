from actonym import presets
from actonym.bench.measure import how_to_fit


def test_attackers_learn_at_the_rate_of_their_own_networks():
    """A transformer's rate hardly moves networks of 100,000 weights: they would pass for privacy."""
    paper, stage = (presets.load("evaluation", name) for name in ("paper", "stage"))
    slow = how_to_fit(paper["attack"], "vit-small", "scratch")
    assert slow.lr == paper["attack"]["fit"]["lr"] and slow.epochs == 80
    for net in ("frame", "frame-wide", "moving", "d3d-both"):
        small = how_to_fit(paper["attack"], net, "scratch")
        assert small.epochs == 80
        assert (small.lr, small.batch_size) == (stage["attack"]["fit"]["lr"], stage["attack"]["fit"]["batch_size"])
    assert how_to_fit(paper["attack"], "resnet50", "raw").lr == slow.lr / 2
    assert how_to_fit(stage["attack"], "frame", "raw").lr == stage["attack"]["finetune"]["lr"]


def test_attackers_of_a_fixed_start_do_not_move_clips():
    plan = presets.load("evaluation", "stage")
    assert how_to_fit(plan["attack"], "frame", "fixed").shift == 0 < how_to_fit(plan["attack"], "frame", "raw").shift
