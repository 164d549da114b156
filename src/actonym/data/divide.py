"""Split videos by who and where: whole groups, the same on every machine, every action in every part."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence


def divide(videos: Sequence[tuple[str, str]], shares: Mapping[str, float], salt: str = "") -> dict[str, str]:
    """Where each group goes: to one of the parts in `shares`, or to `train`. `videos` are pairs of group and action.

    Of each action's videos every part gets about its share, the rare actions first; the order in which groups are
    taken follows from a hash of their names and the salt. An action always stays in training.
    """
    sizes: dict[str, Counter[str]] = defaultdict(Counter)
    for group, action in videos:
        sizes[group][action] += 1
    groups: dict[str, list[str]] = defaultdict(list)
    for group in sorted(sizes, key=lambda name: hashlib.sha256(f"{salt}{name}".encode()).digest()):
        for action in sizes[group]:
            groups[action].append(group)
    totals = Counter(action for _, action in videos)
    free = Counter({action: len(names) for action, names in groups.items()})
    have: Counter[tuple[str, str]] = Counter()
    place: dict[str, str] = {}

    def can_go(group: str) -> bool:
        return group not in place and all(free[action] > 1 for action in sizes[group])

    def helps(group: str, part: str) -> bool:
        """Whether its actions, taken together, come nearer to the share of the part."""
        lacking = sum(shares[part] * totals[action] - have[part, action] for action in sizes[group])
        return 2 * lacking >= sizes[group].total()

    def put(group: str, part: str) -> None:
        place[group] = part
        for action, size in sizes[group].items():
            have[part, action] += size
            free[action] -= 1

    for action in sorted(groups, key=lambda name: (len(groups[name]), name)):
        for part, share in shares.items():
            for group in groups[action]:
                if have[part, action] < share * totals[action] and can_go(group) and helps(group, part):
                    put(group, part)
            rest = [group for group in groups[action] if can_go(group)]
            if share and not have[part, action] and rest:
                put(min(rest, key=lambda name: sizes[name][action]), part)
    return {group: place.get(group, "train") for group in sizes}
