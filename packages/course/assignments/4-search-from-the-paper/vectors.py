# SPDX-License-Identifier: GPL-2.0-or-later
"""Streams of ACKs for the module: slow starts into a bottleneck, as the seed makes them, and their C header."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Ack = tuple[int, int, int]  # time and RTT sample in microseconds, all bytes that were delivered so far
Sum = tuple[int, int]  # bytes of the newest window and of the earlier one
MSS = 1448
SUMS = 16
ROUND_ACKS = 14  # of a round, so that an ACK comes several times per bin
PUBLIC_SEED = 4


@dataclass(frozen=True)
class Vector:
    """A named stream; `kind` is what can go wrong with it."""

    name: str
    kind: str
    acks: tuple[Ack, ...]
    sums: tuple[Sum, ...]  # for the decision alone: no windows of these ACKs, which a header could read


KINDS: dict[str, dict[str, Any]] = {
    "doubling": {"full_after": 99, "rounds": 9},
    "capacity": {"full_after": 6, "rounds": 14},
    "growing_rtt": {"full_after": 6, "rounds": 15, "queue_pct": 65},
    "silence": {"full_after": 7, "rounds": 12, "silence": True},
}


def vectors(seed: int, draws: int = 1) -> list[Vector]:
    """Return so many streams of each kind; the seed decides all numbers."""
    rng = random.Random(seed)  # noqa: S311 (no secret)
    return [
        Vector(f"{kind}{draw or ''}", kind, tuple(_slow_start(rng, **how)), tuple(_sums(f"{seed} {kind}{draw}", kind)))
        for draw in range(draws)
        for kind, how in KINDS.items()
    ]


def _slow_start(
    rng: random.Random, full_after: int, rounds: int, queue_pct: int = 0, silence: bool = False
) -> Iterator[Ack]:
    """Deliver twice as much each round until the path is full; then the queue makes each round longer."""
    base_us = rng.randrange(20_000, 600_000)
    now_us, delivered = rng.randrange(1, 1 << 32), rng.randrange(1, 1 << 20)
    yield now_us, base_us, delivered
    for number in range(rounds):
        late = max(number - full_after, 0)
        spacing_us = base_us // ROUND_ACKS
        bytes_each = 10 * MSS * 2 ** min(number, full_after) // ROUND_ACKS
        for place in range(ROUND_ACKS):
            now_us += max(spacing_us + rng.randrange(-spacing_us // 3, spacing_us // 3), 1)
            delivered += bytes_each + rng.randrange(MSS)
            rtt_us = base_us + base_us * late * queue_pct // 100 + rng.randrange(base_us // 8)
            if silence and number in (4, 9) and place == ROUND_ACKS // 2:
                now_us += base_us * rng.randrange(120, 190) // 100
            yield now_us, rtt_us, delivered


def _sums(seed: str, kind: str) -> Iterator[Sum]:
    """Make both windows of a path that is full, or still doubles: by how far the newest is below twice the other."""
    rng = random.Random(seed)  # noqa: S311 (no secret)
    for _ in range(SUMS):
        prev = rng.randrange(MSS, 1 << 30)
        yield 2 * prev * (1000 - rng.randrange(-500, 250 if kind == "doubling" else 900)) // 1000, prev


def header(given: list[Vector]) -> str:
    """Return the text of vectors.h."""
    lines = [
        "/* SPDX-License-Identifier: GPL-2.0-or-later */",
        "/* Streams of ACKs: time, RTT sample, bytes delivered so far; sums of two windows.  Written by vectors.py. */",
        "#ifndef VECTORS_H",
        "#define VECTORS_H",
        "",
        "struct paper_ack {\n\tu64 now_us;\n\tu32 rtt_us;\n\tu64 delivered_bytes;\n};",
        "",
        "struct paper_sum {\n\tu64 curr_bytes;\n\tu64 prev_bytes;\n};",
        "",
        "struct paper_vector {\n\tconst char *name;\n\tu32 acks;\n\tconst struct paper_ack *ack;"
        "\n\tu32 sums;\n\tconst struct paper_sum *sum;\n};",
    ]
    for vector in given:
        rows = "".join(f"\t{{ {now}ULL, {rtt}, {delivered}ULL }},\n" for now, rtt, delivered in vector.acks)
        lines += ["", f"static const struct paper_ack paper_{vector.name}[] = {{\n{rows}}};"]
        rows = "".join(f"\t{{ {curr}ULL, {prev}ULL }},\n" for curr, prev in vector.sums)
        lines += ["", f"static const struct paper_sum paper_{vector.name}_sums[] = {{\n{rows}}};"]
    lines += ["", "static const struct paper_vector paper_vectors[] = {"]
    lines += [
        f'\t{{ "{name}", ARRAY_SIZE(paper_{name}), paper_{name}, ARRAY_SIZE(paper_{name}_sums), paper_{name}_sums }},'
        for name in (each.name for each in given)
    ]
    return "\n".join([*lines, "};", "", "#endif /* VECTORS_H */", ""])
