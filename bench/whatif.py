# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure how often `lab whatif` is right: predictions from captures of trials, against true trials of the same links.

`python -m bench.whatif [DRAWS [LINK[=DRAWS]...]]` runs what is not stored, and writes results/bench/whatif.json.
"""

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import typer
from lab_whatif.command import Request, answer
from lab_whatif.files import NUMBERS
from lab_whatif.replay import emulated
from lab_whatif.segments import of_capture
from rich.console import Console

from bench import measured
from bench.measured import Figure, run_command
from lab.backends.virtual import find_built
from lab.base import paths
from lab.base.errors import UserError
from lab.commands.prepare import prepared
from lab.commands.progress import TrialBar
from lab.kernel.recipe import Recipe
from lab.kernel.versions import DEFAULT
from lab.runs import find_run
from lab.runs.execute import execute
from lab.runs.experiment import try_link
from lab.runs.options import RunOptions
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial

LINKS: dict[str, dict[str, Any]] = {
    "geo-viasat": {"duration_s": 30, "mtu_bytes": 1360, "pacing": "fq"},
    "leo-starlink": {"duration_s": 10},
    "lte-verizon": {"duration_s": 15},
    "wifi-strong-wan": {"duration_s": 5},
    "wired-clean": {"duration_s": 10},
    "docsis-pie": {"duration_s": 10},
    "home-fq_codel": {"duration_s": 10},
    "wired-red": {"duration_s": 10},
    "wired-rival": {"duration_s": 10, "topology": "dumbbell", "rival": "cubic"},  # cross traffic, which a capture hides
}
RED = "queue: {kind: red, min_share: 0.2, max_share: 0.6, probability: 0.1}, "
# WiFi behind a path whose RTT time stamps of 1 ms can measure: behind one of 3 ms each capture is refused.
PROFILES = {  # extends, one-way delay in ms, what else its bottleneck has
    "wifi-strong-wan": ("wifi-strong", 10, ""),
    "wired-red": ("wired-clean", 20, RED),
    "wired-rival": ("wired-clean", 20, ""),
}
ORIGINALS, OTHERS = ("cubic", "cubic_plain"), ("search", "search9", "hystartpp", "bbr")
TIMES = ("1 MB", "5 MB", "20 MB")


Item = tuple[str, bool, float]  # quantity, whether the range holds the truth, its width in percent of its middle


@dataclass(frozen=True)
class Outcome:
    """What became of one capture: its answer, and for each stated range whether the truth lies in it."""

    link: str
    answer: str  # FITS, DOES NOT FIT, or REFUSED
    inside: list[Item]
    answer_s: float  # wall time, its trials included
    read_s: float  # of a processor, per 100,000 frames


def trials(link: str, draws: int, folder: Path, console: Console) -> list[Trial]:
    """Run all senders on draws of a link, or return those that are stored."""
    profile = str(_written(link, folder)) if link in PROFILES else link
    given = {"trials": draws} | LINKS[link]
    found = find_built(Recipe(DEFAULT))
    if found is None:
        raise UserError("kernel: must be built: lab kernel build")
    experiment, backend = prepared(try_link(profile, [*ORIGINALS, *OTHERS], given), found, console)
    with TrialBar(console, many_runs=False) as bar:
        executed = execute([experiment], find_run.matching, backend.site, RunOptions(), bar)
    return Run(executed.runs[0].folder).trials


def _written(link: str, folder: Path) -> Path:
    """Write the profile of a link that is none of the lab's."""
    base, delay_ms, more = PROFILES[link]
    ways = f"down: {{{more}delay_ms: {delay_ms}}}\nup: {{delay_ms: {delay_ms}}}\n"
    file = folder / f"{link}.yml"
    lists = "recorded: []\nassumed: [the path's length]\n"
    file.write_text(f"title: {link}\nextends: {base}\n{ways}{lists}", encoding="utf-8")
    return file


def outcomes(link: str, stored: list[Trial], folder: Path, console: Console) -> Iterator[Outcome]:
    """Predict from each original's capture."""
    for original in (each for each in stored if each.cca in ORIGINALS):
        capture = folder / f"{link}-{original.cca}-{original.number}.pcapng"
        with pa.input_stream(str(original.path / "client.pcapng.zst"), compression="zstd") as stream:
            capture.write_bytes(stream.read())
        true = {each.cca: each for each in stored if each.number == original.number}
        begun = time.monotonic()
        verdict, inside = _answered(link, original.cca, capture, true, console)
        yield Outcome(link, verdict, inside, time.monotonic() - begun, _read_s(capture))


def _answered(link: str, was: str, capture: Path, true: dict[str, Trial], console: Console) -> tuple[str, list[Item]]:
    out, pacing = capture.with_suffix(""), LINKS[link].get("pacing", "internal")
    try:
        answer(Request(capture, was, ",".join(OTHERS), None, pacing, out, RunOptions().workers), console)
    except typer.Exit:
        return "DOES NOT FIT", []
    except UserError as error:
        print(error, flush=True)
        return "REFUSED", []
    return "FITS", list(_inside(pl.read_csv(out / NUMBERS), true))


def _read_s(capture: Path) -> float:
    begun = time.process_time()
    segments = of_capture(capture, [])
    return (time.process_time() - begun) * 100_000 / len(segments.t_s)


def _inside(rows: pl.DataFrame, true: dict[str, Trial]) -> Iterator[Item]:
    for row in rows.filter(pl.col("answer") == "RANGE").to_dicts():
        numbers = emulated(true[row["sender"]])
        marks = {f"{mark} MB": value for mark, value in numbers.measures.mark_s.items()}
        truth = (marks | {"exit": numbers.exit_s}).get(row["quantity"])
        if truth is not None:
            width = 200 * (row["high"] - row["low"]) / (row["high"] + row["low"])
            holds = row["low"] <= truth <= row["high"]
            if not holds:
                print(f"{row['sender']} {row['quantity']}: {truth:.3f}, not {row['low']:.3f} to {row['high']:.3f}")
            yield row["quantity"], holds, width


def figures(found: list[Outcome]) -> Iterator[Figure]:
    """Give the shares of answers, and of ranges that hold; cross traffic apart."""
    for link in dict.fromkeys(each.link for each in found):
        own = [each for each in found if each.link == link]
        for name in ("FITS", "DOES NOT FIT", "REFUSED"):
            count = sum(each.answer == name for each in own)
            yield {"name": f"{link}, {len(own)} captures: {name}", "value": count, "unit": "captures"}
        yield from _holding(f"{link}, ", own)
        longest = max(own, key=lambda each: each.answer_s)
        yield measured.rounded(f"{link}: longest answer", longest.answer_s, "s", 0) | {"target": "180"}
    read = sorted(each.read_s for each in found)[len(found) // 2]
    yield measured.rounded("reading 100,000 frames of a capture: median", read, "s of a processor", 2) | {"target": "2"}
    alone = [each for each in found if "rival" not in LINKS[each.link]]
    yield from _holding("all links without cross traffic, ", alone)


def _holding(where: str, found: list[Outcome]) -> Iterator[Figure]:
    for title, names in (("times to 1, 5, 20 MB", TIMES), ("exits", ("exit",))):
        stated = [item for each in found for item in each.inside if item[0] in names]
        if stated:
            share = 100 * sum(holds for _, holds, _ in stated) / len(stated)
            width = sorted(item[2] for item in stated)[len(stated) // 2]
            called = f"{where}{title}"
            yield {"name": f"{called}: ranges", "value": len(stated), "unit": "ranges"}
            yield {"name": f"{called}: that hold the truth", "value": round(share, 1), "unit": "%", "target": "90"}
            wide = measured.rounded(f"{called}: median width", width, "%", 1)
            yield wide | {"target": "15"} if names is TIMES else wide


def main(arguments: list[str]) -> None:
    """Measure and store."""
    draws = int(arguments[0]) if arguments else 20
    parts = [each.partition("=") for each in arguments[1:] or LINKS]
    links = {name: int(count or draws) for name, _, count in parts}
    console, found = Console(quiet=True), []
    folder = paths.results() / "bench" / "whatif"  # its path is part of what a stored run is found by
    folder.mkdir(parents=True, exist_ok=True)
    called = ""
    for link, count in links.items():  # stored after each: a link takes minutes to hours
        found += list(outcomes(link, trials(link, count, folder, console), folder, console))
        called += f" {link}={count}"
        rows = list(figures(found))
        measured.show_and_store("whatif", f'make bench-whatif BENCH="{draws}{called}"', rows)


if __name__ == "__main__":
    run_command(main, sys.argv[1:])
