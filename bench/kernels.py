# SPDX-License-Identifier: GPL-2.0-or-later
"""Measure where CUBIC with HyStart leaves slow start on each kernel that Debian packages.

Each kernel also runs the HyStart of Linux 5.16 to 6.13, which none of them has any more.
`python -m bench.kernels [VERSION...]` prints a table and writes results/bench/kernels.json.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lab_try.confined import virtual_tree
from lab_try.module.build import build_own
from lab_try.module.source import OwnSource
from lab_try.senders import module_files

from bench.measured import Figure, run_command, show_and_store
from lab.backends.virtual import Virtual
from lab.base.scratch import scratch_folder
from lab.images import image
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.build import HERE, Kernel
from lab.kernel.recipe import Recipe
from lab.kernel.versions import DEBIAN
from lab.links.profile import Profile, load_profile
from lab.runs.experiment import Experiment
from lab.runs.plan import MSS_BYTES
from lab.runs.trial import Job, run_trial
from lab.schema.cca import Cca, load_ccas
from lab.schema.scenario import Scenario
from lab.schema.topology import load_topology
from lab.tables.stored_trial import Trial

Row = dict[str, Any]
DURATION_S = 5
ITS_OWN, EARLIER = "its own", "of 5.16"


class Link(NamedTuple):
    """A profile, and what its path holds without a queue."""

    profile: Profile
    bdp_pkts: int


def _clean(rate_mbps: float, rtt_ms: float, buffer_bytes: int) -> Link:
    down = {"rate_mbps": rate_mbps, "delay_ms": rtt_ms / 2, "buffer_bytes": buffer_bytes}
    content = {"title": "a clean link", "down": down, "up": {"delay_ms": rtt_ms / 2}}
    profile = Profile.model_validate(content | {"recorded": [], "assumed": ["everything"]})
    return Link(profile, _bdp_pkts(rate_mbps, rtt_ms))


def _bdp_pkts(rate_mbps: float, rtt_ms: float) -> int:
    return round(rate_mbps * rtt_ms * 1e3 / 8 / MSS_BYTES)


LINKS = {
    "20 Mb/s, 100 ms": _clean(20, 100, 500_000),
    "100 Mb/s, 20 ms": _clean(100, 20, 500_000),
    "50 Mb/s, 300 ms": _clean(50, 300, 4_000_000),
    "GEO (geo-viasat)": Link(load_profile("geo-viasat", "command line"), _bdp_pkts(144, 600)),
}


def build_all(versions: list[str]) -> dict[str, Kernel]:
    """Return the kernel of each version, built where the cache lacks it."""
    return {version: build.ensure(Recipe(version)) for version in versions}


def cubic_exits(kernels: dict[str, Kernel], folder: Path, world: Image) -> list[Row]:
    """Run one trial of each HyStart on each link and kernel; return one row per trial."""
    rows = []
    for hystart in (ITS_OWN, EARLIER):
        for number, (name, link) in enumerate(LINKS.items()):
            for version, kernel in kernels.items():
                cca, virtual = _sender(hystart, Virtual(kernel, world))
                trial = folder / f"{cca.name}-{version}-{number}"
                run_trial(Job(_experiment(link.profile, cca), cca.name, 1, trial, virtual))
                called = {"kernel": version, "hystart": hystart, "link": name}
                rows.append(called | _exit(Trial(trial)) | {"bdp_pkts": link.bdp_pkts})
    return rows


def _sender(hystart: str, virtual: Virtual) -> tuple[Cca, Virtual]:
    """Return CUBIC; with the earlier HyStart as a module, which is built if it is not cached."""
    cubic = load_ccas()["cubic"]
    if hystart == ITS_OWN:
        return cubic, virtual
    name, folder = "cubic_5_16", HERE / "cubic_5_16"
    files = (folder / f"tcp_{name}.c", folder / "Kbuild", HERE / "search" / "kernel_cubic.h")
    source = OwnSource(files[0], folder, name, {file.name: file.read_bytes() for file in files})
    built = build_own(source, virtual_tree(virtual.kernel))
    named = {"name": name, "label": "CUBIC with the HyStart of Linux 5.16 to 6.13", "algorithm": name}
    loaded = {"module": built.name, "module_digest": source.digest, "depends": list(built.depends)}
    return cubic.model_copy(update=named | loaded), replace(virtual, own_modules=module_files([built]))


def _experiment(profile: Profile, cca: Cca) -> Experiment:
    fields = {"topology": "path", "profile": "test", "ccas": [cca.name], "trials": 1, "seed": 1}
    scenario = Scenario.model_validate({"question": "Where does it exit?", "duration_s": DURATION_S, **fields})
    return Experiment("kernels", scenario, profile, load_topology("path", "test"), {cca.name: cca})


def _exit(trial: Trial) -> Row:
    """Take a trial's first exit; all null where the flow never left slow start."""
    rows = trial.exits.head(1).to_dicts()
    exit_ = rows[0] if rows else dict.fromkeys(("t_s", "cwnd_pkts", "rtt_ms", "cause"))
    return {"valid": trial.valid} | exit_


def figures(rows: list[Row]) -> Iterator[Figure]:
    """Give the moment, the window and the cause of each exit."""
    for row in rows:
        hystart = "" if row["hystart"] == ITS_OWN else f" with the HyStart {row['hystart']}"
        called = f"{row['link']} (BDP {row['bdp_pkts']} packets), Linux {row['kernel']}{hystart}: exit"
        yield {"name": called, "value": row["t_s"], "unit": "s"}
        yield {"name": f"{called}, cwnd", "value": row["cwnd_pkts"], "unit": "packets"}
        yield {"name": f"{called}, cause", "value": row["cause"], "unit": ""}


def main(versions: list[str]) -> None:
    """Build, measure and store; a kernel that cannot be built is one line, before anything is measured."""
    kernels = build_all(versions)
    with scratch_folder() as folder:
        rows = cubic_exits(kernels, folder, image.ensure("world"))
    command = "make bench-kernels" + ("" if versions == DEBIAN else f' BENCH="{" ".join(versions)}"')
    show_and_store(
        "kernels",
        command,
        list(figures(rows)),
        {"built_of": [each.described["kernel_source"] for each in kernels.values()]},
    )


if __name__ == "__main__":
    run_command(main, sys.argv[1:] or DEBIAN)
