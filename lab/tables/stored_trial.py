# SPDX-License-Identifier: GPL-2.0-or-later
"""One stored trial: its metadata, and its tables, read at first use.

Each file is checked against its stored digest whenever it is read.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import polars as pl

from lab.base import strict_json
from lab.base.contract import check
from lab.base.errors import UserError, field_error
from lab.node.plan import Module
from lab.tables import consistent, digests
from lab.tables.columns import fault_of
from lab.tables.consistent import Contradiction
from lab.tables.digests import SUMS, Digests
from lab.tables.downloads import FLOW
from lab.tables.link_capacity import LinkCapacity
from lab.tables.trial_json import TrialJson
from lab.tables.trial_tables import TRIAL_TABLES
from lab.tables.values_digest import digest
from lab.traces.parquet import UNREADABLE, read_small

FORMAT = 2
RANDOM = ("tsval", "tsecr")  # a connection's time stamps begin at a random number, whatever it sends
LINK = (("down.rate_mbps", "down.opportunity_bytes"), ("down.delay_ms",), ("up.delay_ms",))  # quantities it must have
NUMBER = re.compile("[0-9]{1,5}")
TABLES = tuple(TRIAL_TABLES)
AGAIN = "--resume runs the trial again"
FILES = ("trial.json", *(f"{name}.parquet" for name in TABLES))


def _stored(name: str) -> cached_property[pl.DataFrame]:
    return cached_property(lambda trial: trial.table(name))


class Code(TypedDict):
    """What plan.json, which holds more, states of whose code sends."""

    modules: Annotated[list[Module], "modules that were loaded"]
    flows: Annotated[list[dict[str, Any]], "the downloads"]


class Trial:
    """A trial's folder, read lazily; UserError where a file is missing or damaged."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def meta(self) -> TrialJson:
        """Return what trial.json holds."""
        file = self.path / "trial.json"
        content: TrialJson = parse_json(file, self._read(file.name), TrialJson)
        if (flows := [flow["flow"] for flow in content["flows"]]) != list(range(FLOW, len(flows) + 1)) or not flows:
            raise field_error(file, "flows", ", ".join(map(str, flows)), f"flow {FLOW}, then the others in their order")
        valid, checks = content["certificate"]["valid"], content["certificate"]["checks"]
        if valid and not (checks and all(check["ok"] for check in checks)):
            raise field_error(file, "certificate.valid", valid, "false where a check is not passed, or there is none")
        for name in ("rate_mbps", "mss_bytes"):
            if not content[name] > 0:
                raise field_error(file, name, content[name], "more than 0")
        for wrong in consistent.of_downloads(content):
            raise field_error(file, *wrong)
        return content

    @cached_property
    def digests(self) -> Digests:
        """Return the stored digest of each file."""
        found = digests.read_digests(self.path / SUMS)
        lacking = [name for name in FILES if name not in found]
        if lacking:
            raise field_error(self.path / SUMS, "file", lacking[0], "given with its digest")
        return found

    @property
    def cca(self) -> str:
        """Return the name of its sender."""
        return str(self.meta["cca"])

    @property
    def number(self) -> int:
        """Return its number, from 1 on."""
        return int(self.meta["trial"])

    @property
    def parameters(self) -> Mapping[str, str]:
        """Return the parameters that the sender's module had; none where it has no module."""
        return next((flow["parameters"] for flow in self.meta["flows"] if flow["flow"] == FLOW), {})

    def parameter(self, name: str) -> int | None:
        """Return a parameter of its module that is a number; null where it had none of that name."""
        value = self.parameters.get(name)
        if value is not None and not NUMBER.fullmatch(value):
            field, rule = f"flows.parameters.{name}", "a whole number of 1 to 5 digits"
            raise field_error(self.path / "trial.json", field, value, rule)
        return None if value is None else int(value)

    @cached_property
    def own_code(self) -> Literal["module", "stack"] | None:
        """Return in what form code of a user's sends, which writes the record of its exit itself; none: the lab's."""
        file = self.path / "plan.json"
        if file.name not in self.digests:
            return None
        code: Code = parse_json(file, self._read(file.name), Code, formatted=False)
        if any("file" in module for module in code["modules"]):
            return "module"
        return "stack" if any("stack" in flow for flow in code["flows"]) else None

    @property
    def valid(self) -> bool:
        """Return whether its certificate is valid."""
        return bool(self.meta["certificate"]["valid"])

    @property
    def end_s(self) -> float:
        """Return when its download ended, on the clock of its tables."""
        return next(flow["end_s"] for flow in self.meta["flows"] if flow["flow"] == FLOW)

    packets = _stored("packets")  # the frames of the client's capture
    acks = _stored("acks")  # the ACKs that the sender's kernel traced
    retransmits = _stored("retransmits")  # the retransmitted buffers
    ca_states = _stored("ca_states")  # the changes of the congestion state
    bins = _stored("bins")  # SEARCH's bins; none of other senders
    exits = _stored("exits")  # the end of each flow's first slow start
    qdisc = _stored("qdisc")  # the samples of the bottleneck's qdisc

    @cached_property
    def packets_digest(self) -> str:
        """Return the digest of its packets: their times, sizes and sequences."""
        return digest(self.packets.drop(RANDOM, strict=False))

    @cached_property
    def link(self) -> LinkCapacity:
        """Return the link as it was."""
        table = self.table("link")
        for names in LINK:
            if not table["quantity"].is_in(names).any():
                raise field_error(self.path / "link.parquet", "quantity", "", f"given: {' or '.join(names)}")
        return LinkCapacity(table, self.meta["mss_bytes"])

    @property
    def fault(self) -> str | None:
        """Return the line that names the first missing or damaged file; null where all is well."""
        try:
            _ = self.meta
            for name in self.digests:
                digests.check_file(self.path / name, self.digests)
        except UserError as error:
            return str(error)
        except OSError as error:
            return f"{error.filename}: {error.strerror}"
        return None

    @property
    def is_whole(self) -> bool:
        """Return whether every file is as it was stored."""
        return self.fault is None

    def _read(self, name: str) -> bytes:
        try:
            return digests.checked(self.path / name, self.digests)
        except OSError as error:
            raise UserError(f"{self.path / name}: {error.strerror}") from None

    def table(self, name: str) -> pl.DataFrame:
        """Return the table of a name, as it is stored; UserError where it is not as it is described."""
        file, described = self.path / f"{name}.parquet", TRIAL_TABLES[name].columns
        content = self._read(file.name)
        try:
            table = read_small(content, file, described)
        except UNREADABLE:
            raise UserError(f"{file}: must be a whole Parquet table: {AGAIN}") from None
        for wrong in self._wrong(name, table):
            raise field_error(file, *wrong)
        return table

    def _wrong(self, name: str, table: pl.DataFrame) -> Iterator[Contradiction]:
        """Yield what of a table is not as it is described, then what trial.json contradicts."""
        if fault := fault_of(table, TRIAL_TABLES[name].columns):
            yield fault
        if name == "exits":
            yield from consistent.of_exits(table, self.meta["flows"])
        if name == "acks" and table.is_empty() and self.valid and self.own_code != "stack":
            yield "rows", 0, "1 or more, as the trial is valid and no stack of a user's"


def read_json(file: Path, contract: Any, rule: str = "") -> Any:
    """Read a stored JSON file that has a digest of its own; `rule` says more where it cannot be read."""
    try:
        content = digests.read_with_digest(file)
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}{rule}") from None
    return parse_json(file, content, contract)


def parse_json(file: Path, text: bytes, contract: Any, *, formatted: bool = True) -> Any:
    """Parse a stored JSON file, which states this format version; UserError where it breaks its contract."""
    try:
        content = strict_json.loads(text)
    except ValueError:
        raise UserError(f"{file}: must be whole JSON") from None
    if not isinstance(content, dict):
        raise UserError(f"{file}: must be a JSON object")
    if formatted and content.get("format") != FORMAT:
        raise field_error(file, "format", content.get("format"), f"{FORMAT}: another version of the lab stored it")
    check(content, contract, file)
    return content
