# SPDX-License-Identifier: GPL-2.0-or-later
"""Change the program in small ways and count what the unit tests notice; results/bench/mutants.json.

All changes of the rooms by default, which takes hours; `--sample N` makes N per room, the same ones for a seed as long
as their code stays. `--per-commit N` makes N per room that the committed lab/ decides, and judges all rooms together.
Exit status 1: fewer than 85 % are noticed, or a survivor of the whole run is not listed (bench/mutants/faults.py).
"""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from queue import Queue

from rich.console import Console

from bench import measured
from bench.measured import Figure
from bench.mutants import concern, copies, faults, kernel, rooms, survivors
from bench.mutants.copies import Copy
from bench.mutants.faults import REQUIRED
from bench.mutants.rooms import ROOMS, Tally
from lab.base import paths
from lab.base.commit import program
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder


def seed_of(seed: int, per_commit: int | None) -> int:
    """Return which sample to make: the one of the present program, which no test was written for, or a given one."""
    if per_commit is None:
        return seed
    name = program()
    if not name:
        raise UserError("make mutants: --per-commit: must run in a checkout, with git")
    return int(name[:12], 16)


def measure(options: argparse.Namespace, console: Console) -> list[Tally]:
    """Make the changes that the options choose."""
    if options.kernel is None:
        return tallies(options, console)
    return [kernel.run(options.kernel, lambda line: console.print(line, markup=False))]


def tallies(options: argparse.Namespace, console: Console) -> list[Tally]:
    """Make the changes of the chosen rooms in copies of the checkout."""
    with scratch_folder() as scratch, ExitStack() as stack:
        free: Queue[Copy] = Queue()
        for number in range(options.jobs):
            free.put(stack.enter_context(copies.opened(scratch / f"copy-{number}")))

        def show(line: str) -> None:
            console.print(line, markup=False)

        concerned = concern.measure(free, options.jobs, show)
        found = []
        for room in options.rooms:
            possible = list(rooms.of_room(room))
            tally = Tally(room, len(possible))
            chosen = rooms.sample(possible, options.per_commit or options.sample, options.seed)
            found.append(rooms.run(room, chosen, tally, concerned, free, show))
            show(tally.line)
        return found


def figures(found: list[Tally]) -> Iterator[Figure]:
    """Yield what was made and noticed in each room; what no test can notice is not counted in the share."""
    for tally in found:
        equivalent = len(tally.survivors) - len(tally.unlisted)
        for quantity, value in (
            ("possible", tally.possible),
            ("made", tally.made),
            ("noticed", len(tally.noticed)),
            ("listed: no test can notice it", equivalent),
            ("unnoticed", len(tally.unlisted)),
        ):
            yield {"name": f"`lab/{tally.room}`: {quantity}", "value": value, "unit": "changes"}
        share_pct, target = round(100 * tally.share, 1), f"at least {REQUIRED:.0%}"
        yield {"name": f"`lab/{tally.room}`: share", "value": share_pct, "unit": "%", "target": target}


def parsed() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--sample", type=int, help="changes per room; all without it")
    parser.add_argument("--seed", type=int, default=1, help="which sample")
    parser.add_argument("--per-commit", type=int, metavar="N", help="a sample that the commit decides, as CI makes it")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS)
    parser.add_argument("--kernel", nargs="*", metavar="WORD", help="the list of C changes instead, or those named so")
    return parser.parse_args()


def stored(options: argparse.Namespace, found: list[Tally], minutes: float) -> Path:
    """Store what was found, and the entries of the survivors that are not listed; return the file of those."""
    command = f"make mutants BENCH={shlex.quote(' '.join(sys.argv[1:]))}" if sys.argv[1:] else "make mutants"
    kinds = {"mutants-kernel": options.kernel is not None, "mutants-commit": options.per_commit is not None}
    name = next((name for name, is_it in kinds.items() if is_it), "mutants")
    details = {
        "note": "Small changes of the program, and how many of them the tests notice.",
        "seed": options.seed,
        "survivors": sorted({key for tally in found for key in tally.survivors}),
    }
    took: Figure = {"name": "`the whole run`: time", "value": minutes, "unit": "minutes"}
    measured.store(name, command, [*figures(found), took], details)
    unlisted = paths.results() / "bench" / f"{name}-survivors.toml"
    unlisted.write_text(survivors.toml(sorted({key for tally in found for key in tally.unlisted})))
    return unlisted


def main() -> None:
    """Change, count, and store what was found."""
    options, console = parsed(), Console(highlight=False, soft_wrap=True)
    begun_s = time.monotonic()
    try:
        options.seed = seed_of(options.seed, options.per_commit)
        found = measure(options, console)
    except UserError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    unlisted = stored(options, found, round((time.monotonic() - begun_s) / 60, 1))
    if options.per_commit is not None:
        wrong = list(faults.of_commit(found))
    else:
        wrong = list(faults.of_rooms(found, is_whole=options.sample is None))
    lines = [*wrong, faults.together(found).line]
    if any(tally.unlisted for tally in found):
        lines.append(f"survivors {unlisted}: write the test that notices each one, or copy its entry to")
        lines.append(f"          {survivors.FILE} with the reason why no test can")
    for line in lines:
        console.print(line, markup=False)
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
