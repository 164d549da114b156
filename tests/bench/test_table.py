from collections.abc import Callable
from statistics import stdev

import pytest

from actonym.bench.result import Result, problem
from actonym.bench.summary import Mean, finding, headline, natural, summarize
from actonym.bench.table import ablations, attackers, markdown, measured, per_attribute, per_group, reported
from actonym.methods.blacken import Blacken
from actonym.methods.raw import Raw
from actonym.methods.stprivacy import STPrivacy

Make = Callable[..., Result]


def lines(text: str, start: str) -> list[list[str]]:
    """The cells of all table lines that start with a name."""
    rows = [
        [cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line.startswith("|")
    ]
    return [row for row in rows if row[0] == start]


def test_one_seed_by_hand(make: Make) -> None:
    text = markdown([make(), make("blacken", top1=0.45, cmap=0.56, f1=0.55)])
    assert lines(text, "raw")[0] == [
        "raw", "0.900", "0.800", "0.700", "+0.200", "1.000", "0.000", "attribute/d3d/scratch", "yes", "1",
    ]  # fmt: skip
    assert lines(text, "blacken")[0][1:7] == ["0.450", "0.560", "0.550", "+0.050", "0.500", "0.800"]
    assert lines(text, "floor: chance")[0][:5] == ["floor: chance", "–", "0.500", "0.500", "+0.000"]
    assert lines(text, "floor: action prior")[0][:5] == ["floor: action prior", "–", "0.520", "0.510", "+0.010"]
    assert "±" not in "".join(line for line in text.splitlines() if line.startswith("|"))


@pytest.mark.parametrize("seeds", [1, 2, 3, 5])
def test_the_spread_is_printed_from_three_seeds_up(make: Make, seeds: int) -> None:
    values = [0.80 + 0.02 * seed for seed in range(seeds)]
    row = lines(markdown([make(seed=seed, top1=value) for seed, value in enumerate(values)]), "raw")[0]
    mean = f"{sum(values) / seeds:.3f}"
    assert row[1] == (f"{mean} ± {stdev(values):.3f}" if seeds >= 3 else mean)
    assert row[-1] == str(seeds)


def test_raw_comes_first_then_names_with_numbers_in_order(make: Make) -> None:
    names = ["downsample:factor=16", "downsample:factor=2", "raw", "blacken"]
    [group] = summarize([make(name, seed) for seed in (1, 0) for name in names])
    assert [row.method for row in group.rows] == ["raw", "blacken", "downsample:factor=2", "downsample:factor=16"]
    assert [result["seed"] for result in group.rows[0].results] == [0, 1]
    assert sorted(["a10b", "a2b", "b", "2", ""], key=natural) == ["", "2", "a2b", "a10b", "b"]


def test_data_protocol_and_preset_are_never_mixed(make: Make) -> None:
    changes = [{}, {"data": "other"}, {"protocol": "unseen"}, {"preset": "paper"}, {"source": "third"}]
    groups = summarize([make(**change) for change in changes])
    assert len(groups) == 5 and all(len(group.results) == 1 for group in groups)
    text = markdown([make(**change) for change in changes])
    assert "## other, protocol known, preset stage" in text
    assert "## stage, protocol known (source third), preset stage" in text


def test_the_order_of_the_results_does_not_matter(make: Make) -> None:
    results = [make(name, seed, top1=0.5 + 0.1 * seed) for name in ("raw", "blur", "blacken") for seed in range(3)]
    assert markdown(results) == markdown(results[::-1])


def test_a_closed_that_does_not_exist_is_a_dash(make: Make) -> None:
    results = [make(seed=0, closed=None), make(seed=1, closed=0.2)]
    assert lines(markdown(results), "raw")[0][6] == "–"


def test_convergence_and_the_strongest_attacker_over_seeds(make: Make) -> None:
    results = [make(seed=seed) for seed in range(3)]
    results[1]["utility"]["recognizer"]["converged"] = False
    results[2]["attacker"]["strongest"] = "frame/cnn/tuned"
    row = lines(markdown(results), "raw")[0]
    assert row[7:9] == ["attribute/d3d/scratch (2 of 3)", "2 of 3"]
    for result in results:
        result["attacker"]["tried"][0]["converged"] = result["attacker"]["tried"][1]["converged"] = False
    assert lines(markdown(results), "raw")[0][8] == "no"


def test_reported_values_stand_beside_ours(make: Make) -> None:
    results = [make(reported=Raw.card.reported[""]), make("blacken", top1=0.45, reported=Blacken.card.reported[""])]
    text = markdown([*results, make("new")])
    assert "### Reported by the papers, not comparable" in text
    [_, row, *_] = lines(text, "blacken")
    kept, closed = 0.3827 / 0.5144, (0.7558 - 0.7406) / (0.7558 - 0.583)
    assert row[1:6] == ["0.500", "0.000", "0.383 / 0.741 / 0.649", f"{kept:.3f}", f"{closed:.3f}"]
    assert row[8] == f"{(0.7662 - 0.7537) / (0.7662 - 0.587):.3f}"
    [group] = summarize([*results, make("new")])
    table = reported(group)
    assert table is not None and [line[0] for line in table.rows] == ["raw", "blacken"]
    assert reported(summarize([make()])[0]) is None


def test_a_papers_numbers_do_not_stand_beside_a_knob_that_was_turned(make: Make) -> None:
    said = {"reported": STPrivacy.card.reported[""]}
    itself = make("stprivacy", knobs={"of": "stprivacy", "values": {"keep": 0.5}}, **said)
    turned = make("stprivacy:keep=0.3", knobs={"of": "stprivacy", "values": {"keep": 0.3}}, **said)
    table = reported(summarize([itself, turned])[0])
    assert table is not None and [line[0] for line in table.rows] == ["stprivacy"]


def test_a_papers_own_raw_row_is_used_where_it_gives_one(make: Make) -> None:
    said = {"vp-hmdb51": {"top1": 0.6, "cmap": 0.7, "f1": 0.6, "raw": {"top1": 0.8, "cmap": 0.783}}}
    row = lines(markdown([make("new", reported=said)]), "new")[1]
    assert row[4:9] == ["0.750", "0.415", "–", "–", "–"]


def test_the_leak_per_attribute_has_the_floors_below_it(make: Make) -> None:
    result = make()
    result["privacy"]["per_attribute"]["gender"]["ap"] = 0.61
    result["floors"]["per_attribute"]["gender"] = {"chance": 0.4, "action_prior": 0.45}
    text = markdown([result])
    assert lines(text, "raw")[1] == ["raw", "0.800", "0.610"]
    assert lines(text, "floor: chance")[1] == ["floor: chance", "0.500", "0.400"]
    assert lines(text, "floor: action prior")[1] == ["floor: action prior", "0.520", "0.450"]


def test_the_strongest_of_all_attackers_is_bold(make: Make) -> None:
    [group] = summarize([make(seed=seed, cmap=0.7 + 0.1 * seed) for seed in range(2)])
    table = attackers(group)
    assert table.header == ["method", "attribute/d3d/scratch", "frame/cnn/tuned"]
    assert table.rows == [["raw", "0.750", "0.650"]] and table.bold == {(0, 1)}
    assert "| raw | **0.750** | 0.650 |" in markdown(group.results)


def test_the_headline_says_what_was_measured(make: Make) -> None:
    [group] = summarize([make(), make("blur", top1=0.6, cmap=0.7), make("blur", 1, top1=0.6, cmap=0.7)])
    text = headline(group)
    for part in ("2 methods on stage", "200 test videos", "1 to 2 seeds", "2 attackers tried", "frame/cnn/tuned"):
        assert part in text
    assert finding(group) == "blur keeps most and closes most (kept 0.667, closed 0.333)."
    assert finding(summarize([make()])[0]) == ""


def test_the_headline_says_who_met_fewer_attackers(make: Make) -> None:
    few, all_of_them = make("blur"), make("blacken")
    few["attacker"]["tried"] = few["attacker"]["tried"][:1]
    assert headline(summarize([few, all_of_them])[0]).endswith(" Some met fewer, who can only find less: blur 1.")
    assert headline(summarize([all_of_them])[0]).endswith("the strongest counts.")


def test_the_finding_names_who_is_linked_least(make: Make) -> None:
    def linked(rank1: float) -> dict[str, object]:
        return {"linkage": {"rank1": rank1, "chance": {"rank1": 0.2}}}

    both = [make("blur", raw=make()["raw"] | {"linkage": 0.8}, **linked(0.5)), make("blacken", **linked(0.6))]
    [group] = summarize([make(**linked(0.1)), *both])
    assert finding(group).endswith("). blur is linked least (rank-1 0.500, raw 0.800, chance 0.200).")


def test_flags_name_method_and_seeds(make: Make) -> None:
    text = markdown(
        [make(), make("blur", 0, flags=["raw attacker weak"]), make("blur", 2, flags=["raw attacker weak"])]
    )
    assert "- raw attacker weak: blur (seeds 0, 2)" in text
    assert "### Flags" not in markdown([make()])


def test_a_name_cannot_break_a_table(make: Make) -> None:
    text = markdown([make("a|b\n<script>")])
    assert "a\\|b &lt;script>" in text and "<script" not in text


def test_results_with_other_attributes_leave_dashes(make: Make) -> None:
    odd = make("blur")
    for place in (odd["privacy"], odd["floors"]):
        del place["per_attribute"]["gender"]
    [group] = summarize([make(), odd])
    assert lines(markdown(group.results), "blur")[1] == ["blur", "0.800", "–"]
    assert measured(group).rows[1][0] == "blur"
    assert Mean(None).text() == "–"


def test_linkage_stands_in_a_table_of_its_own(make: Make) -> None:
    def linked(rank1: float, closed: float) -> dict[str, object]:
        tried = [{"name": "features/metric/anonymized", "rank1": rank1, "map": rank1 / 2}]
        best = {"rank1": rank1, "map": rank1 / 2, "strongest": tried[0]["name"], "closed": closed}
        return {**best, "tried": tried, "chance": {"rank1": 0.2, "map": 0.1}, "queries": 40}

    text = markdown([make(linkage=linked(0.8, 0.0)), make("blacken", linkage=linked(0.5, 0.5))])
    assert lines(text, "blacken")[1] == ["blacken", "0.500", "0.250", "0.500", "features/metric/anonymized"]
    assert lines(text, "floor: chance")[1] == ["floor: chance", "0.200", "0.100", "–", "–"]
    assert "Linkage" not in markdown([make()])
    mixed = markdown([make(linkage=linked(0.8, 0.0)), make("blacken")])
    assert lines(mixed, "blacken")[1] == ["blacken", "–", "–", "–", "–"], "linkage was not tried on all"


def test_detectors_show_their_strongest_attacker_and_its_floor(make: Make) -> None:
    tried = [
        {"name": "identity/sface/found", "rank1": 0.1, "auc": 0.6, "chance": {"rank1": 0.05, "auc": 0.5}},
        {"name": "identity/sface/known", "rank1": 0.3, "auc": 0.7, "chance": {"rank1": 0.05, "auc": 0.5}},
    ]
    rate = {"raw": 10, "still": 4, "rate": 0.4}
    found = {
        "faces": {"faces": rate, "videos": {**rate, "rate": None}},
        "identity": {"strongest": "identity/sface/known", "tried": tried},
    }
    text = markdown([make("blur", detectors=found)])
    assert lines(text, "blur")[1] == ["blur", "0.400", "–", "0.300", "0.700", "–", "–"]
    assert lines(text, "floor: chance")[1] == ["floor: chance", "–", "–", "0.050", "0.500", "–", "–"]


def test_the_time_of_training_has_a_column_where_there_was_one(make: Make) -> None:
    def trained(seconds: float) -> dict[str, object]:
        return {"seconds": seconds, "phases": [{"name": "one", "epochs": 2, "seconds": seconds}]}

    results = [make(), make("learned", 0, training=trained(60)), make("learned", 1, training=trained(180))]
    text = markdown([*results, make("quick", training=trained(5))])
    assert [lines(text, name)[0][-1] for name in ("raw", "learned", "quick")] == ["–", "2 min", "5 s"]
    assert lines(text, "floor: chance")[0][-1] == "–"
    assert "training" not in measured(summarize(results[:1])[0]).header


def test_several_actions_have_another_utility(make: Make) -> None:
    """OSPAR: the cMAP of actions, and the leak of each kind of tags."""
    result = make("blur")
    result["utility"] = {"cmap": 0.3, "recognizer": result["utility"]["recognizer"]}
    result["raw"] = {"action_cmap": 0.4, "cmap": 0.8, "f1": 0.7}
    result["floors"] |= {"utility": 0.1, "per_group": {"object": {"chance": 0.2, "action_prior": 0.25}}}
    result["privacy"]["per_group"] = {"object": {"cmap": 0.6, "f1": 0.5}}
    assert problem(result) is None
    text = markdown([result])
    assert lines(text, "blur")[0][:3] == ["blur", "0.300", "0.800"]
    assert lines(text, "method")[0][:3] == ["method", "action cMAP", "leak cMAP"]
    assert lines(text, "floor: chance")[0][:3] == ["floor: chance", "0.100", "0.500"]
    [group] = summarize([result])
    table = per_group(group)
    assert table is not None and table.header == ["method", "object"]
    assert [row[1] for row in table.rows] == ["0.600", "0.200", "0.250"]
    assert per_group(summarize([make()])[0]) is None


def test_hundreds_of_attributes_get_no_columns(make: Make) -> None:
    result = make()
    for place in (result["privacy"], result["floors"]):
        place["per_attribute"] = {f"object: {k}": place["per_attribute"]["face"] for k in range(200)}
    [group] = summarize([result])
    assert per_attribute(group) is None and "object: 7" not in markdown([result])


def test_variants_are_told_by_how_far_they_are_from_the_corner(make: Make) -> None:
    """Kept 8/9 and closed .5 against less of both, more kept than there is, and a closed that does not exist."""

    def variant(label: str, **values: object) -> Result:
        return make(f"m@{label}", variant={"of": "m", "factor": "part", "label": label}, **values)

    variants = [variant("less", top1=0.45, cmap=0.74), variant("leaky", top1=0.99, cmap=0.8)]
    [group] = summarize([make(), make("m", top1=0.8, cmap=0.65), *variants, variant("odd", closed=None)])
    table = ablations(group)
    assert table is not None
    cells = {row[0]: row[1:] for row in table.rows}
    assert cells["m"] == ["part", "0.889", "0.500", "0.512", "1"]
    assert cells["less"][-2] == "0.943" and cells["leaky"][-2] == "1.000" and cells["odd"][-2] == "–"
    assert table.bold == {(0, 4)}
    assert ablations(summarize([make()])[0]) is None
    table = ablations(summarize([variant("odd", closed=None)])[0])
    assert table is not None and not table.bold, "nobody is nearest"
