# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of one link: boot a kernel, send packets at given times over a given qdisc, and see when they arrive."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import crossing
from bench.crossing import FULL_BYTES, Arrivals, Packets, at_pace
from lab.node.plan import Spec
from tests.brief import folder_at
from tests.conftest import Bench

__all__ = ["FULL_BYTES", "Arrivals", "Spec", "at_pace", "cross"]
FILE = "steps.tsv"


def cross(
    bench: Bench,
    name: str,
    spec: Spec,
    packets: Packets,
    duration_s: float,
    series: Sequence[tuple[object, ...]] | None = None,
    steps: list[dict[str, Any]] | None = None,
) -> Arrivals:
    """Send packets over a link; `series` feeds one of the lab's own kinds, `steps` change one that tc knows."""
    folder = folder_at(bench.folder / f"link-{name}")
    (folder / FILE).write_text("".join("\t".join(map(str, row)) + "\n" for row in series or ()))
    run = crossing.in_virtual(bench.kernel, Path(bench.world.root))
    return crossing.cross(run, folder, spec, packets, duration_s, FILE if series else None, steps)
