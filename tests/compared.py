# SPDX-License-Identifier: GPL-2.0-or-later
"""A comparison of modelled downloads over two links: for tests of its ranks, its page and its forms."""

from pathlib import Path

from lab_compare import record
from lab_compare.comparison import Comparison, known_senders
from lab_compare.growing import State, looks_of
from lab_compare.link_kinds import Link
from lab_compare.report.ranked import Ranked, ranked
from lab_compare.report.write import write
from lab_compare.results import LinkResult, of_link

from lab.backends.backend import Site
from lab.backends.virtual import Virtual
from lab.evaluation.measures import PRIMARY
from lab.images.image import Image
from lab.judge.stored import Stored
from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from tests import slow_start_model as model
from tests.stored_run import change, store_run

Compared = tuple[Comparison, list[LinkResult]]
SENDERS = ("search", "cubic", "cubic_plain", "bbr")
LINKS = (
    (Link("geo", "geo-viasat", 4, meaning="GEO, modelled"), model.Path(8, 200, 600_000, 4)),
    (Link("wired", "wired-clean", 4, meaning="wired, modelled"), model.Path(12, 30, 120_000, 4)),
)


def store(results: Path, trials: int) -> Compared:
    """Store a run per link, and return the comparison with its results; the last trial of bbr is invalid."""
    comparison = Comparison(["search"], known_senders(SENDERS), [link for link, _ in LINKS], trials)
    plan = looks_of(comparison)
    found = []
    for link, path in LINKS:
        run = store_run(results, trials, name=f"compare-{link.name}", link=path, senders=SENDERS)
        down = {"queue": {"kind": "bfifo"}}
        profile = {"title": link.meaning, "rtt_ms": None, "down": down}
        change(run, scenario={"profile": link.profile}, profile=profile, seeds=list(range(1, trials + 1)))
        (run / "report.html").write_text("<!doctype html><title>The run's own page</title>")
        found.append(of_link(link, Stored.of(Run(run)), plan))
    return comparison, found


def example(comparison: Comparison, found: list[LinkResult], state: State | None = None) -> tuple[Path, Ranked]:
    """Write every form of a comparison into a new folder of the results."""
    folder = record.begin(record.requested(comparison, PRIMARY))
    write(folder, comparison, PRIMARY, found, state or State(), reports=False)
    return folder, ranked(comparison, PRIMARY, found)


def site(folder: Path, modules: str = "m", kernel: str = "k") -> Site:
    """A machine whose kernel was removed since."""
    gone = folder / "gone"
    digests = {"kernel_source": "Linux 6.12.48", "kernel_digest": kernel, "modules_digest": modules}
    return Virtual(Kernel(gone / "obj/linux", gone, gone, gone, digests), Image(gone, "w", {}, {})).site
