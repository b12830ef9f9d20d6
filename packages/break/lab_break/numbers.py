# SPDX-License-Identifier: GPL-2.0-or-later
"""What is kept of a trial: its numbers, in a file that its request's digest names. The trial itself comes out again."""

import hashlib
import json
from copy import copy
from pathlib import Path
from typing import Annotated, NotRequired, TypedDict

from lab.base.contract import read_checked
from lab.base.errors import field_error
from lab.base.plain_file import write_whole
from lab.judge import loss
from lab.judge.digest import mean_wait_ms
from lab.judge.registry import LASTING, rules
from lab.judge.rule import Evidence
from lab.judge.seen_exit import contradiction
from lab.judge.slow_start import BY_LOSS, first_exit
from lab.tables.downloads import FLOW, RIVAL
from lab.tables.stored_trial import Trial

SHOWN_CHARS = 16  # of a digest


class Numbers(TypedDict):
    """A trial in numbers."""

    crash: Annotated[str | None, "why the trial gave no result; null where it gave one"]
    invalid: Annotated[str | None, "the check that the emulator failed; null where it failed none"]
    exit_class: Annotated[str | None, "class of the exit, by the true queue; null without an exit or a capacity"]
    exit_s: Annotated[float | None, "exit from slow start; null where there was none"]
    contradiction: NotRequired[Annotated[str, "how the packets contradict the exit on record; absent: not at all"]]
    exit_cause: Annotated[str | None, "cause of the exit; null where there was none"]
    capacity_s: Annotated[float | None, "when the queue stood for good; null where it never did"]
    throughput_mbps: Annotated[float | None, "goodput; null without a result"]
    rival_mbps: Annotated[float | None, "goodput of the second download; null without one"]
    wait_ms: Annotated[float | None, "mean wait at the bottleneck; null without samples"]
    retransmits_pkts: Annotated[int | None, "segments sent again; null without a result"]
    base_rtt_ms: Annotated[float | None, "round trip without a queue; null without a result"]
    end_s: Annotated[float | None, "end of the download, on the clock of the exit; null without a result"]
    packets: Annotated[str | None, "digest of the client's capture; null without a result"]


def crashed(reason: str) -> Numbers:
    """Return the numbers of a trial without a result."""
    without = dict.fromkeys(Numbers.__required_keys__)
    return {**without, "crash": reason}  # type: ignore[typeddict-item]


def numbers_of(stored: Trial) -> Numbers:
    """Judge a stored trial by the true queue."""
    trial = copy(stored)
    evidence = Evidence(trial, first_exit(trial.exits, FLOW), loss.first_loss_s(trial.packets, FLOW))
    truth = rules()[LASTING].apply(evidence)
    flows = {flow["flow"]: flow for flow in trial.meta["flows"]}
    failed = [each["name"] for each in trial.meta["certificate"]["checks"] if not each["ok"]]
    numbers: Numbers = {
        "crash": None,
        "invalid": None if trial.valid else ", ".join(failed),
        "exit_class": truth.exit_class,
        "exit_s": evidence.exit_s,
        "exit_cause": evidence.exit.cause if evidence.exit else None,
        "capacity_s": truth.capacity_s,
        "throughput_mbps": flows[FLOW]["throughput_mbps"],
        "rival_mbps": flows[RIVAL]["throughput_mbps"] if RIVAL in flows else None,
        "wait_ms": mean_wait_ms(trial),
        "retransmits_pkts": flows[FLOW]["retransmits_pkts"],
        "base_rtt_ms": trial.meta["base_rtt_ms"],
        "end_s": flows[FLOW]["end_s"],
        "packets": trial.packets_digest,
    }
    by_loss = evidence.exit and evidence.exit.cause in BY_LOSS
    if not by_loss and (why := contradiction(trial, evidence.exit)):
        numbers |= {"exit_class": None, "contradiction": why}
    return numbers


class Stored(TypedDict):
    """The file of a trial's numbers."""

    sha256: Annotated[str, "digest of the numbers"]
    numbers: Annotated[Numbers, "the trial"]


class Store:
    """Numbers of trials, a file each: to find one takes as long among ten as among ten thousand."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, digest: str) -> Path:
        """Return the file of a trial: 256 folders share them out."""
        return self.folder / digest[:2] / f"{digest}.json"

    def read(self, digest: str) -> Numbers | None:
        """Return a trial's numbers; None where they are not stored, UserError where they are damaged."""
        return read_numbers(self.file(digest)) if self.file(digest).exists() else None

    def write(self, digest: str, numbers: Numbers) -> None:
        """Store a trial's numbers."""
        file = self.file(digest)
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps({"sha256": _digest(numbers), "numbers": numbers}))

    def require_same(self, digest: str, other: "Store") -> None:
        """Refuse a trial of another store that differs from the own one; UserError where theirs is damaged, too."""
        theirs, own = other.read(digest), self.read(digest)
        if theirs and own and own != theirs:
            raise field_error(other.file(digest), "packets", theirs["packets"], f"{own['packets']}, as stored here")

    def take(self, digest: str, other: "Store") -> bool:
        """Take a trial of another store; returns whether it is new here."""
        theirs = None if self.file(digest).exists() else other.read(digest)
        if theirs:
            self.write(digest, theirs)
        return theirs is not None


def read_numbers(file: Path) -> Numbers:
    """Read one file of numbers; UserError where it is damaged."""
    content: Stored = read_checked(file, Stored, broken=": remove it, and its trial is run again")
    found = _digest(content["numbers"])
    if found != content["sha256"]:
        rule = f"{content['sha256']}, as it was stored: remove the file, and its trial is run again"
        raise field_error(file, "sha256", found, rule)
    return content["numbers"]


def _digest(numbers: Numbers) -> str:
    return hashlib.sha256(json.dumps(numbers, sort_keys=True).encode()).hexdigest()[:SHOWN_CHARS]
