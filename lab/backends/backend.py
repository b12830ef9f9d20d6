# SPDX-License-Identifier: GPL-2.0-or-later
"""What every backend offers to a trial, and what a run records of the machine that its trials run on."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lab.node.plan import Plan
from lab.schema.topology import Topology


class Backend(Protocol):
    """Where the kernel runs, and what builds the network there."""

    @property
    def kind(self) -> str:
        """Return its name: virtual, or that of a backend which a package brings."""

    @property
    def engine(self) -> str:
        """Return what builds the network: netns, or an engine that a package brings."""

    @property
    def required_files(self) -> list[Path]:
        """Return files of this machine that a worker on another machine must also have, at the same paths."""

    @property
    def own_modules(self) -> Mapping[str, Path]:
        """Return the modules that are not the lab's own, by the digest of their source."""

    def adapt(self, plan: Plan, folder: Path, topology: Topology) -> Plan:
        """Return the plan as this backend executes it; put what its engine reads into the trial's folder."""

    def run_plan(self, plan: Plan, folder: Path) -> None:
        """Execute a plan and leave its raw records in a folder; TrialError if there are none."""


@dataclass(frozen=True)
class Description:
    """The kernel and the packages of a machine, virtual or real."""

    kernel: dict[str, str]  # kernel_source, kernel_digest, modules_digest; of a real machine also cpu
    packages_digest: str
    packages: dict[str, str]  # name -> version
    drifted: dict[str, str]  # name -> "pinned -> installed", of an image whose pinned version the archive has lost


@dataclass(frozen=True)
class Site:
    """A backend with the description of its machine."""

    backend: Backend
    description: Description
