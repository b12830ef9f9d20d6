# SPDX-License-Identifier: GPL-2.0-or-later
"""Change the program in small ways and count what the unit tests notice; results/bench/mutants.json.

All changes of the rooms by default, which takes hours; `--sample N` makes N per room, the same ones for a seed as long
as their code stays. Exit status 1: fewer than 85 % are noticed in a room, or a survivor of the whole run is not listed.
"""

import argparse
import os
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from queue import Queue

from rich.console import Console

from lab.base import paths
from lab.base.errors import UserError
from lab.base.scratch import scratch_folder
from lab.base.stats import wilson_pct
from lab.bench import measured
from lab.bench.measured import Figure
from lab.bench.mutants import concern, copies, kernel, rooms, survivors
from lab.bench.mutants.copies import Copy
from lab.bench.mutants.rooms import ROOMS, Tally

REQUIRED = 0.85


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
            chosen = rooms.sample(possible, options.sample, options.seed)
            found.append(rooms.run(room, chosen, tally, concerned, free, show))
            show(f"{room:<12}{tally.made} changes, {tally.share:.1%} noticed")
        return found


def figures(found: list[Tally]) -> Iterator[Figure]:
    """Yield what was made and noticed in each room."""
    for tally in found:
        yield {"name": f"`lab/{tally.room}`: possible", "value": tally.possible, "unit": "changes"}
        yield {"name": f"`lab/{tally.room}`: made", "value": tally.made, "unit": "changes"}
        yield {"name": f"`lab/{tally.room}`: noticed", "value": len(tally.noticed), "unit": "changes"}
        value, target = round(100 * tally.share, 1), f"at least {REQUIRED:.0%}"
        yield {"name": f"`lab/{tally.room}`: share", "value": value, "unit": "%", "target": target}


def faults(found: list[Tally], *, is_whole: bool) -> Iterator[str]:
    """Yield a line for each room under the required share, each unlisted survivor, and each listed one that is none.

    A sample is under it where the share's 95 % interval is: few changes do not show more.
    """
    listed = survivors.known()
    for tally in found:
        missed = sum(key not in listed for key in tally.survivors)
        if not _is_enough(len(tally.noticed), missed, is_whole=is_whole):
            yield f"lab/{tally.room}: noticed={tally.share:.1%}: must be at least {REQUIRED:.0%}"
        yield from (f"listed, but noticed now: {key}" for key in tally.noticed if key in listed)
        if is_whole:
            yield from (f"not listed: {key}" for key in tally.survivors if key not in listed)


def _is_enough(noticed: int, missed: int, *, is_whole: bool) -> bool:
    if is_whole:
        return noticed >= REQUIRED * (noticed + missed)
    _, most_pct = wilson_pct(noticed, noticed + missed)
    return most_pct is None or most_pct >= 100 * REQUIRED


def main() -> None:
    """Change, count, and store what was found."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--sample", type=int, help="changes per room; all without it")
    parser.add_argument("--seed", type=int, default=1, help="which sample")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rooms", nargs="+", choices=ROOMS, default=ROOMS)
    parser.add_argument("--kernel", nargs="*", metavar="WORD", help="the list of C changes instead, or those named so")
    options, console = parser.parse_args(), Console(highlight=False, soft_wrap=True)
    begun_s = time.monotonic()
    try:
        found = measure(options, console)
    except UserError as error:
        print(error, file=sys.stderr)
        raise SystemExit(2) from None
    survived = sorted({key for tally in found for key in tally.survivors})
    details = {
        "note": "Small changes of the program, and how many of them the tests notice.",
        "minutes": round((time.monotonic() - begun_s) / 60, 1),
        "survivors": survived,
    }
    command = f"make mutants BENCH={shlex.quote(' '.join(sys.argv[1:]))}" if sys.argv[1:] else "make mutants"
    name = "mutants" if options.kernel is None else "mutants-kernel"
    file = measured.store(name, command, list(figures(found)), details)
    unlisted = paths.results() / "bench" / f"{name}-survivors.toml"
    unlisted.write_text(survivors.toml(key for key in survived if key not in survivors.known()))
    wrong = list(faults(found, is_whole=options.sample is None))
    for line in (*wrong, f"survivors {unlisted}", f"mutants   {file}"):
        console.print(line, markup=False)
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
