# SPDX-License-Identifier: GPL-2.0-or-later
"""Real trials of SEARCH's versions with all that their modules can report: every ACK, every bin, the exit."""

from dataclasses import replace
from pathlib import Path

from lab.backends import boot
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.links.profile import Profile
from lab.links.shapes import write_steps
from lab.node.plan import Plan
from lab.runs.experiment import Experiment
from lab.runs.plan import draw, make_plan
from lab.schema.cca import Cca, search_versions
from lab.tables.exits import EXIT_EVENT
from lab.tables.trace import Events, read_events
from tests.brief import folder_at
from tests.conftest import experiment_on

VERSIONS = search_versions()
ACK, BIN = "search:search_ack", "search:search_bin"


def sender(version: str, **params: int) -> Cca:
    return Cca(
        name=version,
        label=version,
        algorithm=version,
        module=f"tcp_{version}",
        params=params,
        reports_exit=True,
        slow_start_exit="search",
        exit_label="SEARCH",
        colour="#000000",
        marker="o",
        linestyle="-",
    )


def plan_of(profile: Profile, cca: Cca, duration_s: int = 4) -> Plan:
    experiment: Experiment = experiment_on(profile, "cubic", duration_s=duration_s)
    plan = make_plan(replace(experiment, ccas={cca.name: cca}), cca, draw(experiment, 1))
    plan["trace"]["events"] = dict.fromkeys((ACK, BIN, EXIT_EVENT, "tcp:tcp_probe"), "sport == 5201")
    return plan


def run(plan: Plan, folder: Path, kernel: Kernel, world: Image, changing: Profile | None = None) -> Events:
    """Run a plan and give back what was traced, from a folder that dumpcap may write in: pytest's own are closed.

    `changing` is the plan's profile where that has steps in time.
    """
    folder = folder_at(folder / "trial")
    if changing:
        write_steps(changing, draw(experiment_on(changing, "cubic"), 1).link, folder / "link")
    boot.run_plan(plan, folder, kernel, world.root)
    return read_events(folder / "trace.raw", folder / "formats")
