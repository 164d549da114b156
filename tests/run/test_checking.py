import numpy as np
import pytest

from actonym.run.checking import check, text
from actonym.video import VideoWriter


@pytest.fixture
def table(tmp_path):
    """Six people, two actions, one attribute that follows the action; one file is missing."""
    lines = ["path,action,face,subject,split"]
    for k in range(12):
        with VideoWriter(tmp_path / f"{k}.mp4", 32, 32) as writer:
            writer.write(np.zeros((32, 32, 3), np.uint8), 0)
        lines.append(f"{k}.mp4,{'sit' if k % 2 else 'run'},{k % 2},p{k // 2},{('train', 'val', 'test')[k // 4]}")
    (tmp_path / "mine.csv").write_text("\n".join(lines) + "\n")
    return tmp_path / "mine.csv"


def test_a_whole_dataset(table):
    found = check(f"csv:{table}")
    assert found["whole"] and found["splits"]["train"] == {
        "videos": 4,
        "subjects": 2,
        "sources": 0,
        "actions": {"run": 2, "sit": 2},
        "attributes": {"face": 2},
    }
    assert found["floors"]["chance"] == pytest.approx(0.5) and found["floors"]["action_prior"] == pytest.approx(1.0)
    said = text(found)
    assert "csv: whole" in said and "chance 0.500, action prior 1.000" in said


def test_what_is_missing_is_said(table):
    (table.parent / "0.mp4").unlink()
    (table.parent / "8.mp4").unlink()
    (table.parent / "10.mp4").unlink()
    found = check(f"csv:{table}")
    assert not found["whole"] and found["missing"]["files"] == ["0.mp4", "8.mp4", "10.mp4"]
    assert found["floors"] is None, "one class only in the test labels"
    assert "missing files: 3 (0.mp4, 8.mp4, 10.mp4)" in text(found) and "run 1/2/0, sit 2/2/2" in text(found)
