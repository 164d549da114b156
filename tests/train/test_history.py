import pytest

from actonym.train.history import History, PhaseHistory, best, flat_at_end, stalled


@pytest.mark.parametrize(
    ("curve", "patience", "min_gain", "expected"),
    [
        ([], 1, 0.0, False),
        ([0.5], 1, 0.0, False),
        ([0.5, 0.5], 1, 0.0, True),
        ([0.5, 0.6], 1, 0.0, False),
        ([0.5, 0.55, 0.6], 2, 0.2, True),
        ([0.5, 0.6, 0.72], 2, 0.2, False),  # small gains add up
        ([0.5, 0.4, 0.3], None, 0.0, False),
    ],
)
def test_stalled(curve: list[float], patience: int | None, min_gain: float, expected: bool) -> None:
    assert stalled(curve, patience, min_gain) is expected


def test_flat_at_end() -> None:
    assert flat_at_end([0.1, 0.5, 0.6, 0.6], 0.0)
    assert not flat_at_end([0.1, 0.5, 0.6, 0.7], 0.05)
    assert flat_at_end([0.1, 0.5, 0.6, 0.64], 0.05)
    assert not flat_at_end([0.6, 0.6, 0.6], 0.0)  # too short to tell
    assert not flat_at_end([], 0.0)


def test_a_run_has_converged_when_all_validated_phases_have() -> None:
    done, rising = PhaseHistory("a", [0.5], converged=True), PhaseHistory("b", [0.5])
    assert History([done, PhaseHistory("unwatched")]).converged
    assert not History([done, rising]).converged
    assert not History([]).converged
    assert best([0.1, 0.9, 0.9]) == 1
