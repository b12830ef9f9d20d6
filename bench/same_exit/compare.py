# SPDX-License-Identifier: GPL-2.0-or-later
"""Which implementations decided otherwise, stream by stream."""

from collections.abc import Iterator, Mapping, Sequence

from bench.measured import Figure
from bench.same_exit.stream import EXIT, Decisions

By = Mapping[str, Sequence[Decisions]]  # by the implementation, a stream's decisions


def exit_ack(decisions: Decisions) -> int | None:
    """Return the number of the ACK on which slow start was left."""
    return decisions[-1][0] if decisions and decisions[-1][-1] == EXIT else None


def differences(names: Sequence[str], by: By) -> Iterator[str]:
    """Yield a line per stream and implementation that decided a bin otherwise than the first implementation."""
    first, *others = by
    for number, name in enumerate(names):
        expected = by[first][number]
        for other in others:
            found = by[other][number]
            if found != expected:
                bins = zip(expected, found, strict=False)
                place = next((at for at, pair in enumerate(bins) if pair[0] != pair[1]), min(len(expected), len(found)))
                left = f"exit on ACK {exit_ack(expected)} and {exit_ack(found)}"
                yield f"{name}: {first} and {other}: {left}, first difference in decision {place}"


def figures(names: Sequence[str], by: By) -> Iterator[Figure]:
    """Count streams, exits, decisions and differences."""
    first = next(iter(by))
    acks = [exit_ack(decisions) for decisions in by[first]]
    yield {"name": "recorded ACK streams", "value": len(names), "unit": "streams", "target": "at least 200"}
    yield {"name": "streams that SEARCH leaves", "value": sum(ack is not None for ack in acks), "unit": "streams"}
    yield {"name": "bins decided", "value": sum(map(len, by[first])), "unit": "bins"}
    for name in list(by)[1:]:
        pairs = list(zip(by[first], by[name], strict=True))
        other_ack = sum(exit_ack(one) != exit_ack(other) for one, other in pairs)
        other_bin = sum(one != other for one, other in pairs)
        none: Figure = {"name": "", "value": 0, "unit": "streams", "target": "0"}
        yield none | {"name": f"{name}: exits on another ACK than {first}'s", "value": other_ack}
        yield none | {"name": f"{name}: streams with a bin decided otherwise", "value": other_bin}
