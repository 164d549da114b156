import os
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = Path(__file__).parent / "leave_with_parent.py"


def test_processes_of_a_bench_that_is_killed_do_not_work_on():
    parent = subprocess.Popen([sys.executable, str(SCRIPT)], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    until = time.monotonic() + 40  # it may still be importing torch beside other work
    while alive(child) and time.monotonic() < until:
        time.sleep(0.1)
    assert not alive(child)


def alive(pid):
    """A process that has ended and that nobody has asked after is none."""
    try:
        os.kill(pid, 0)
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
