# SPDX-License-Identifier: GPL-2.0-or-later
"""The committed reference of `lab same`, same.json and the first packets of each trial; and what differs from it."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import polars as pl

from lab.backends.backend import Description
from lab.base import contract, paths
from lab.base.commit import git
from lab.base.errors import UserError, field_error
from lab.base.plain_file import MEGABYTE
from lab.tables.stored_trial import Trial
from lab.tables.trial_tables import TRIAL_TABLES
from lab.tables.values_digest import digest

BLOCK_PKTS = 1000  # one digest each: they find where a long trial differs
ROWS_PKTS = 2000  # kept of each trial
FOLDER = paths.REPO / "reference"
TRIALS, PACKETS = "same.json", "packets.parquet"
FORMAT = 1
INPUTS = ("lab", "topologies", "trace-profiles")  # where a file that git does not know may still change a trial
STRONGEST = 22  # of zstd
MOST_BYTES = 20 * MEGABYTE
Packet = dict[str, object]
MOST_PACKAGES = 10  # named of a world that differs


@dataclass(frozen=True)
class Values:
    """One trial: a digest per table, one per block of packets, and the first packets."""

    tables: dict[str, str]
    blocks: list[str]
    first: pl.DataFrame


def values_of(trial: Trial) -> Values:
    """Read what is compared of a stored trial."""
    packets = trial.packets
    blocks = [digest(packets[start : start + BLOCK_PKTS]) for start in range(0, packets.height, BLOCK_PKTS)]
    tables = {name: digest(trial.table(name)) for name in TRIAL_TABLES}
    return Values(tables, blocks, packets[:ROWS_PKTS])


class TrialReference(TypedDict):
    """What is compared of one trial."""

    tables: Annotated[dict[str, str], "digest of each table's values"]
    blocks: Annotated[list[str], "digest of each 1,000 packets"]


class ReferenceJson(TypedDict):
    """reference/same.json."""

    format: Annotated[int, "version of the stored form"]
    commit: Annotated[str, "the commit that made it"]
    kernel: Annotated[dict[str, str], "kernel_source, kernel_digest and modules_digest"]
    world: Annotated[str, "digest of the world image"]
    packages: Annotated[dict[str, str], "version of each package of the world image"]
    trials: Annotated[dict[str, TrialReference], "each trial, by run, sender and number"]


@dataclass(frozen=True)
class Reference:
    """A reference with the first packets of its trials."""

    content: ReferenceJson
    packets: pl.DataFrame  # with the trial's name in column `trial`

    def first_packets(self, name: str) -> pl.DataFrame:
        """Return the first packets of a trial."""
        return self.packets.filter(pl.col("trial") == name).drop("trial")


def read(folder: Path = FOLDER) -> Reference:
    """Read the reference; UserError where there is none, or it is damaged."""
    file = folder / TRIALS
    content: ReferenceJson = contract.read_checked(file, ReferenceJson, MOST_BYTES, ": 'lab same --update' writes it")
    if content["format"] != FORMAT:
        raise field_error(file, "format", content["format"], f"{FORMAT}")
    try:
        return Reference(content, pl.read_parquet(folder / PACKETS, glob=False))
    except (OSError, pl.exceptions.PolarsError):
        raise UserError(f"{folder / PACKETS}: must be a whole Parquet file") from None


def write(found: dict[str, Values], description: Description, folder: Path = FOLDER) -> None:
    """Replace the reference by what these trials have."""
    content: ReferenceJson = {
        "format": FORMAT,
        "commit": require_clean(),
        "kernel": description.kernel,
        "world": description.packages_digest,
        "packages": description.packages,
        "trials": {name: {"tables": values.tables, "blocks": values.blocks} for name, values in found.items()},
    }
    packets = pl.concat([values.first.insert_column(0, _named(name, values)) for name, values in found.items()])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    packets.write_parquet(folder / PACKETS, compression="zstd", compression_level=STRONGEST)
    (folder / TRIALS).write_text(f"{json.dumps(content, indent=1)}\n")


def _named(name: str, values: Values) -> pl.Series:
    return pl.Series("trial", [name] * values.first.height)


def require_clean() -> str:
    """Return the checkout's commit; UserError where files differ from it, or there is none."""
    changed = _git("status", "--porcelain", "--untracked-files=no")
    changed += _git("status", "--porcelain", "--", *INPUTS)
    if changed:
        raise UserError(f"{paths.REPO}: {changed.splitlines()[0].strip()}: must be committed first")
    return _git("rev-parse", "HEAD").strip()


def _git(*words: str) -> str:
    done = git(*words)
    if done.returncode:
        raise UserError(f"{paths.REPO}: must be a git checkout: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode(errors="surrogateescape")


def difference(name: str, values: Values, reference: Reference) -> list[str]:
    """Return the lines that describe how a trial differs; none where it is the same."""
    stored = reference.content["trials"].get(name)
    if stored is None:
        return ["not in the reference"]
    tables = [table for table in values.tables if values.tables[table] != stored["tables"].get(table)]
    if not tables:
        return []
    return [", ".join(tables), *_first_packet(values, stored, reference.first_packets(name))]


def surroundings(description: Description, reference: Reference) -> Iterator[str]:
    """Describe what differs in kernel, modules and world."""
    stored = reference.content
    found = {**description.kernel, "world": description.packages_digest}
    expected = {**stored["kernel"], "world": stored["world"]}
    for name in found | expected:
        if found.get(name) != expected.get(name):
            yield f"{name}: here {found.get(name)}, reference {expected.get(name)}"
    packages = description.packages
    names = sorted(packages | stored["packages"])
    others = [name for name in names if packages.get(name) != stored["packages"].get(name)]
    for name in others[:MOST_PACKAGES]:
        yield f"package {name}: here {packages.get(name)}, reference {stored['packages'].get(name)}"
    if len(others) > MOST_PACKAGES:
        yield f"and {len(others) - MOST_PACKAGES} other packages"


def _first_packet(values: Values, stored: TrialReference, first: pl.DataFrame) -> list[str]:
    """Return the first packet that differs, here and in the reference."""
    if values.tables["packets"] == stored["tables"].get("packets"):
        return []
    here = values.first.rows(named=True)
    there = first.rows(named=True)
    for number in range(max(len(here), len(there))):
        pair = [rows[number] if number < len(rows) else None for rows in (here, there)]
        if pair[0] != pair[1]:
            return _both(number, pair[0], pair[1])
    return [_first_block(values.blocks, stored["blocks"])]


def _both(number: int, here: Packet | None, there: Packet | None) -> list[str]:
    names = [name for name in here or there or {} if here is None or there is None or here[name] != there.get(name)]
    return [
        f"packet {number + 1} differs in {', '.join(names)}",
        f"  here       {_line(here)}",
        f"  reference  {_line(there)}",
    ]


def _line(packet: Packet | None) -> str:
    """Format a packet; None: a trial that has ended before."""
    return " ".join(f"{name}={value}" for name, value in packet.items()) if packet else "no such packet"


def _first_block(here: list[str], there: list[str]) -> str:
    """Name the packets among which the first one differs, behind those that the reference holds."""
    same = next((at for at, pair in enumerate(zip(here, there, strict=False)) if pair[0] != pair[1]), None)
    block = min(len(here), len(there)) if same is None else same
    return f"the first packet that differs is one of {block * BLOCK_PKTS + 1} to {(block + 1) * BLOCK_PKTS}"
