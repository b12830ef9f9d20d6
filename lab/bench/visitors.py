# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare every fetched visitor that builds with CUBIC and SEARCH: twelve trials on every kind of link.

`python -m lab.bench.visitors [--resume]` runs `lab compare --fixed`, whose page shows all senders, and stores its
figures in results/bench/visitors.json. With `--resume` it goes on with the last such comparison.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from lab.base import paths
from lab.base.errors import UserError
from lab.bench.measured import Figure, store
from lab.evaluation.compare.measures import BY_NAME
from lab.evaluation.compare.record import FOLDER
from lab.kernel.visitors.fetch import is_fetched
from lab.runs.link_kinds import KINDS
from lab.schema.cca import load_ccas
from lab.schema.visitor import load_visitors

WITH = ("search", "cubic")  # SEARCH is the subject of the comparison
QUANTITIES = ("chokepoint", "throughput", "object_1000000", "queueing", "retransmits", "harm")
TITLE = "Senders of others, with SEARCH and CUBIC"
COMMAND = "make bench-visitors"


def compared() -> list[str]:
    """Return the senders; UserError where no visitor is fetched."""
    visitors = load_visitors()
    ready = [name for name, visitor in visitors.items() if not visitor.needs and is_fetched(name, visitor)]
    if not ready:
        raise UserError("lab senders: visitors=none: must be fetched: run 'lab senders fetch --all'")
    return [*WITH, *ready]


def compare(senders: list[str], *options: str) -> Path:
    """Run the comparison, or go on with it; return its folder."""
    argv = [sys.executable, "-m", "lab", "compare", "--fixed", "--no-pcap", "--cca", ",".join(senders), *options]
    if status := subprocess.run(argv, check=False).returncode:
        raise UserError(f"lab compare: status={status}: must be 0")
    return max((paths.results() / FOLDER).glob("[0-9]*"))


def figures(ranks: pl.DataFrame, labels: dict[str, str]) -> Iterator[Figure]:
    """Give the mean of each measure, link by link and sender by sender; null where a sender has none.

    ranks: the table ranks.csv of a comparison.
    """
    for link, sender, measure, unit, trials, mean in ranks.select(
        "link", "sender", "measure", "unit", "trials", "mean"
    ).iter_rows():
        if measure not in QUANTITIES:
            continue
        subject = f"{KINDS[link].title}, {labels[sender]}"
        share = unit == "share"
        value = None if mean is None else round(100 * mean) if share else float(f"{mean:.3g}")
        yield {"name": f"{subject}: {BY_NAME[measure].title}", "value": value, "unit": "%" if share else unit}
        if share:
            yield {"name": f"{subject}: trials judged", "value": trials, "unit": ""}


def main(options: list[str]) -> None:
    """Compare, and store."""
    labels = {name: visitor.label for name, visitor in load_visitors().items()}
    labels |= {name: cca.label for name, cca in load_ccas().items()}
    folder = compare(compared(), *options)
    found = list(figures(pl.read_csv(folder / "ranks.csv"), labels))
    print(store("visitors", COMMAND, found, {"title": TITLE}))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UserError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
