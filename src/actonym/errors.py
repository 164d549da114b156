"""What can go wrong, told in one line: what was wrong and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """The user's mistake: the command line prints it as one line and exits with 2."""


class ActonymError(Exception):
    """Our failure, or the machine's (a full disk): one line, exit code 1."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UserError:
    """An error for a name that does not exist, with the nearest one that does."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names)}" if names else "there are none"
    return UserError(f"unknown {kind} {name!r}; {hint}")
