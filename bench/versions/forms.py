# SPDX-License-Identifier: GPL-2.0-or-later
"""The forms of SEARCH that are compared, and the links."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from lab_papers.search_replay import ENDED_BINS, NEAREST_BIN, ROLL_BACK, WHOLE_BINS, Version, version

from lab.links.profile import Profile, load_profile
from lab.runs.experiment import Experiment
from lab.schema.cca import Cca, load_ccas, search_versions
from lab.schema.scenario import Scenario
from lab.schema.topology import load_topology

FIXES = {"long_rtt": 5, "missed_bins_max": 10, "restart_rtt_pct": 50, "app_limited": 3}
SEED = 2024
DEEP, DEEP_BDPS = "wired-clean-deep", 8.0  # wired-clean with a buffer that lets SEARCH see a plateau
LINKS = (
    *("geo-viasat", "geo-viasat-years", "geo-viasat-thesis", "geo-klm", "leo-starlink", "leo-starlink-15s"),
    *("lte-tmobile", "lte-verizon", "lte-att", "lte-hotspot", "wifi-strong", "wifi-weak", "wifi-office"),
    *("wired-clean", DEEP),
)
DURATIONS_S = {"geo": 30, "wifi": 6, "wired": 5}  # by kind: slow start has long ended by then
DURATION_S = 10


@dataclass(frozen=True)
class Form:
    """A version with parameters that differ from its own."""

    version: str
    params: dict[str, int] = field(default_factory=dict)

    def cca(self, name: str) -> Cca:
        """Return a sender with these parameters."""
        return load_ccas()[self.version].model_copy(update={"name": name, "params": self.params})

    def replayed(self, library: Path) -> Version:
        """Return the same for the core."""
        base = version(library, self.version)
        return Version(replace(base.params, **self.params), base.compact)


ENDED = {"interpolation": ENDED_BINS}
RING = {"extra_bins": 39}  # what 4.0 keeps for looking back
PCT26 = {"threshold_pct": 26}  # the threshold of draft -09
FORMS = {name: Form(name) for name in search_versions()} | {
    "whole": Form("search2_printed", {"interpolation": WHOLE_BINS}),
    "nearest": Form("search2_printed", {"interpolation": NEAREST_BIN}),
    "ended": Form("search2_printed", ENDED),
    "whole-ring": Form("search2_printed", {"interpolation": WHOLE_BINS} | RING),
    "ended-ring": Form("search2_printed", ENDED | RING),
    "ended-ring-fixes": Form("search2_printed", ENDED | RING | FIXES),
    "printed-fixes": Form("search2_printed", FIXES),
    "printed-ring": Form("search2_printed", RING),
    "printed-ring-fixes": Form("search2_printed", RING | FIXES),
    "printed-26": Form("search2_printed", PCT26),
    "printed-ring-26": Form("search2_printed", RING | PCT26),
    "search-30": Form("search", {"threshold_pct": 30}),
    "search-35": Form("search", {"threshold_pct": 35}),  # the papers' threshold
    "search2-checked": Form("search2", {"unchecked": 0}),
    "search2-equal": Form("search2", {"skip_equal": 0}),
    "search2-fixes": Form("search2", FIXES),
    "search2-rollback": Form("search2", {"on_exit": ROLL_BACK}),
    "search4-fixes": Form("search4", FIXES),
    "search4-no-drain": Form("search4", {"on_exit": 0}),
    "search4-26": Form("search4", PCT26),
}


def duration_s(link: str) -> int:
    """Return the length of a download over a link."""
    return DURATIONS_S.get(link.split("-")[0], DURATION_S)


def profile_of(link: str) -> Profile:
    """Return a profile of trace-profiles/, or the deep one."""
    if link != DEEP:
        return load_profile(link, "command line")
    clean = load_profile("wired-clean", DEEP)
    return clean.model_copy(update={"down": clean.down.model_copy(update={"buffer_bdps": DEEP_BDPS})})


def experiment(link: str, senders: dict[str, Cca], trials: int) -> Experiment:
    """Build downloads over a link; trial n has the same link for every sender and at every number of trials."""
    scenario = Scenario(
        question="Which form of SEARCH leaves slow start at the right moment?",
        topology="path",
        profile=link,
        ccas=list(senders),
        trials=trials,
        duration_s=duration_s(link),
        seed=SEED,
    )
    return Experiment("versions", scenario, profile_of(link), load_topology("path", "command line"), senders)
