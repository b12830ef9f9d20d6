# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab whatif`: from a capture to its link, the replay's verdict, and ranges for other senders."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import typer
from rich.console import Console

from lab.base.choice import names
from lab.base.errors import field_error
from lab.base.plain_file import content_of, write_whole
from lab.commands.known import require_senders
from lab.commands.lines import say, show_path
from lab.runs.plan import MSS_BYTES
from lab.traces.recording import Recording
from lab_whatif import files, logs, refuse, shown
from lab_whatif.counterfactual import Case, Range
from lab_whatif.infer import Inferred
from lab_whatif.judged import judged, refuse_all
from lab_whatif.link import UNDER_CODEL, VARIANTS, Variant, profile, written
from lab_whatif.measures import Measures, measured
from lab_whatif.page import PAGE, write_page
from lab_whatif.replay import Bench, Emulated, Link
from lab_whatif.verdict import Compared, compare, fits, together

COMMAND_LINE = "command line"
PACINGS = ("internal", "fq")
NO_LINK_FITS = 1
DRAWS = 10  # trials of another sender, over all links: what it draws at random is part of the range


@dataclass(frozen=True)
class Request:
    """What the command line holds."""

    capture: Path
    was: str | None
    cca: str | None
    at: str | None
    pacing: str
    out: Path | None
    workers: int

    @property
    def others(self) -> list[str]:
        """Return the senders other than the original."""
        return names(self.cca) if self.cca else []

    @property
    def stem(self) -> str:
        """Return the capture's name without its ending, as files may be named."""
        stem = self.capture.name.split(".")[0].lower()
        return "".join(each if each.isalnum() else "-" for each in stem).strip("-") or "capture"

    @property
    def folder(self) -> Path:
        return self.out or Path(f"{self.stem}-whatif")

    def check(self) -> None:
        """Refuse arguments that do not fit each other."""
        if self.cca and not self.was:
            raise field_error(COMMAND_LINE, "cca", self.cca, "used with --was, the sender that the capture shows")
        if self.was in self.others:
            raise field_error(
                COMMAND_LINE, "cca", self.was, "a sender other than that of --was, which is replayed anyway"
            )
        if len(set(self.others)) < len(self.others):
            raise field_error(COMMAND_LINE, "cca", self.cca, "a list that names each sender once")
        if self.pacing not in PACINGS:
            raise field_error(COMMAND_LINE, "pacing", self.pacing, " or ".join(PACINGS))
        require_senders(self.was, "was")
        require_senders(self.cca)
        if self.folder.exists() and content_of(self.folder) and not files.is_of(self.folder, self.capture):
            rule = "a new folder, or one that this command wrote for this capture: remove it, or give another --out"
            raise field_error(COMMAND_LINE, "out", self.folder, rule)


@dataclass(frozen=True)
class Replayed:
    """The original on the links that fit, and its verdict on each."""

    variants: tuple[Variant, ...]  # that were tried last
    links: dict[str, Link]  # of those that fit
    original: dict[str, Emulated]
    every: list[Emulated]  # on those that fit, or where none does on all
    compared: dict[str, list[Compared]]  # of all links

    @property
    def draws(self) -> int:
        """Return how many trials another sender has on each link."""
        return math.ceil(DRAWS / len(self.links))


def answer(request: Request, console: Console) -> None:
    """Print what the capture shows, and what other senders would have done; exit status 1 where no link fits."""
    request.check()
    notes: list[str] = []
    if not logs.is_capture(request.capture):
        log = logs.read(request.capture)
        if log.format in logs.COARSE:
            _bounded(request, log, console)
            return
        inferred, side = logs.inferred_of(request.capture, log), "sender, by its log"
        notes += [logs.ASSUMED, *log.notes]
    else:
        segments, inferred, side = judged(request.capture, request.at, notes)
        if request.was:
            refuse_all(request.capture, list(refuse.for_others(segments)))
    if request.was and inferred.mss_bytes > MSS_BYTES:
        rule = f"of at most {MSS_BYTES} bytes, which the replay's wires carry, or leave --was out"
        raise field_error(request.capture, "segments", inferred.mss_bytes, rule)
    recorded = measured(inferred)
    request.folder.mkdir(parents=True, exist_ok=True)
    files.write_evidence(request.folder, request.capture, inferred, side, notes)
    if request.was is None:
        written(request.folder / files.LINK, profile(inferred, VARIANTS[0], recorded.begin_s))
        shown.show_link(inferred, side, notes, console)
        show_path(console, "files", request.folder)
        return
    bench = Bench(request.stem, inferred.mss_bytes, request.pacing, recorded.length_s, request.workers, console)
    replayed = _replayed(request, inferred, recorded, bench)
    runs = _others(request, replayed, bench)
    ranges = [row for sender in runs for row in _of_sender(sender, inferred, recorded, replayed, runs[sender])]
    compared = together([replayed.compared[name] for name in replayed.links or replayed.compared])
    sentences = list(shown.sentences(request.was, request.others, compared, ranges, _where(replayed)))
    files.write_numbers(request.folder, request.was, compared, ranges)
    lines = {f"{request.was}, replayed": replayed.every, **runs}
    pictured = {name: [each.measures for each in trials] for name, trials in lines.items()}
    assumed = [*notes, *(f"Link {each.name}: {'; '.join(each.assumed)}." for each in replayed.variants)]
    write_page(request.folder, sentences, inferred, recorded, pictured, compared, ranges, assumed)
    for line in sentences:
        say(console, line)
    shown.show_tables(compared, ranges, console)
    shown.show_link(inferred, side, notes, console)
    show_path(console, "page", request.folder / PAGE)
    show_path(console, "files", request.folder)
    if not replayed.links:
        raise typer.Exit(NO_LINK_FITS)


def _bounded(request: Request, log: Recording, console: Console) -> None:
    """Print and write what readings of tcp_info bound."""
    if request.was:
        rule = "absent with readings of tcp_info: they only bound the capacity; capture the packets"
        raise field_error(COMMAND_LINE, "was", request.was, rule)
    table, found = logs.bounds(request.capture, log)
    request.folder.mkdir(parents=True, exist_ok=True)
    files.write_bounds(request.folder, request.capture, log, table, found)
    shown.show_bounds(found, log, console)
    show_path(console, "files", request.folder)


def _where(replayed: Replayed) -> str | None:
    """Return in words on what links the original fits; nothing where it does not."""
    if not replayed.links:
        return None
    return "this link under CoDel" if replayed.variants is UNDER_CODEL else "this link"


def _replayed(request: Request, inferred: Inferred, recorded: Measures, bench: Bench) -> Replayed:
    """Replay the original on links that the capture does not distinguish; where none fits, on the same under CoDel."""
    found = _replayed_on(VARIANTS, request, inferred, recorded, bench)
    if not found.links and inferred.buffer.losses:
        under_codel = _replayed_on(UNDER_CODEL, request, inferred, recorded, bench)
        found = under_codel if under_codel.links else found
    best = next(iter(found.links), found.variants[0].name)
    write_whole(request.folder / files.LINK, _file(request, best).read_bytes())
    return found


def _replayed_on(
    variants: tuple[Variant, ...], request: Request, inferred: Inferred, recorded: Measures, bench: Bench
) -> Replayed:
    was = cast("str", request.was)
    links = {
        each.name: Link(written(_file(request, each.name), profile(inferred, each, recorded.begin_s)), each.seed)
        for each in variants
    }
    originals = {name: runs[was][0] for name, runs in bench.run(links, [was]).items()}
    compared = {name: compare(recorded, each) for name, each in originals.items()}
    kept = {name: link for name, link in links.items() if fits(compared[name])}
    every = [originals[name] for name in kept or links]
    return Replayed(variants, kept, {name: originals[name] for name in kept}, every, compared)


def _file(request: Request, link: str) -> Path:
    return request.folder / f"link-{link}.yml"


def _others(request: Request, replayed: Replayed, bench: Bench) -> dict[str, list[Emulated]]:
    """Run the other senders on every link that fits; returns the trials of the first link first."""
    if not request.others or not replayed.links:
        return {}
    links = {f"{name}-others": link for name, link in replayed.links.items()}
    runs = bench.run(links, request.others, replayed.draws)
    return {sender: [trial for link in links for trial in runs[link][sender]] for sender in request.others}


def _of_sender(
    sender: str, inferred: Inferred, recorded: Measures, replayed: Replayed, other: list[Emulated]
) -> list[Range]:
    verdict = [replayed.compared[name] for name in replayed.links]
    original = [each for each in replayed.original.values() for _ in range(replayed.draws)]
    return Case(sender, inferred, recorded, original, other, verdict).ranges()
