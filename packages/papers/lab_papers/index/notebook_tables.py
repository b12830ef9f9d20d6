# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables that a notebook shows: the static memory of a flow by sender, and two downloads over one link."""

from collections.abc import Iterable, Sequence

import polars as pl

from lab.base.format import NONE, number
from lab.base.stats import mean_sd
from lab.images import image
from lab.kernel import build
from lab.report.table import Group, Row, Table
from lab.schema.cca import load_ccas
from lab.senders.module import SOCKET_BYTES, load_module

# NetDev 0x18, "Static Memory Footprint Analysis", kernel 5.10.79: bytes by sender of lab/cca.yml.
PUBLISHED_BYTES = {"cubic": 72, "search2": 121, "bbr": 156}
SOURCE = "NetDev 0x18"
HEADER = ("Source", "Bytes per flow", "In the socket", "Allocated in addition")
COLUMNS = {"throughput_mbps": 1, "rtt_ms": 0, "retransmits_pkts": 0, "jain": 2}
FLOWS_HEADER = ("Flow", "Trials", "Throughput (Mb/s)", "RTT (ms)", "Retransmits (pkts)", "Fairness (Jain)")


def memory_table(senders: Sequence[str]) -> Table:
    """Build one group per sender; its module is loaded where a kernel is built."""
    kernel, world = build.find(), image.find("world")
    ccas = load_ccas()
    groups = []
    for name in senders:
        cca = ccas[name]
        module = load_module(cca, kernel, world.root) if kernel and world else None
        values = {parameter["name"]: parameter["value"] for parameter in module["parameters"]} if module else {}
        ours = Row(("here", values.get("flow_bytes", NONE), f"up to {SOCKET_BYTES}", f"{cca.allocates_bytes}"))
        published = PUBLISHED_BYTES.get(name)
        theirs = [] if published is None else [Row((SOURCE, str(published), NONE, NONE), published=True)]
        groups.append(Group(cca.label, (*theirs, ours)))
    notes = (
        f"Every socket has {SOCKET_BYTES} bytes for its congestion control, used or not. Bytes per flow: as the "
        "module reports them with its default parameters, CUBIC's included; a dash where a sender reports none.",
    )
    caption = f"Static memory per flow ({SOURCE}, static memory footprint)."
    return Table("static-memory", caption, HEADER, tuple(groups), notes)


def competing_table(flows: pl.DataFrame, scenarios: Iterable[Sequence[str]]) -> Table:
    """Return one group per pairing, with one row per flow: means with standard deviations over the trials.

    Of each list of scenarios the first that has been run; runs on other links are none of it.
    """
    groups, known = [], set(flows["scenario"])
    chosen = [name for names in scenarios if (name := next((each for each in names if each in known), None))]
    shown = flows.filter(pl.col("scenario").is_in(chosen))
    for (_, pairing), of_pairing in shown.group_by(["scenario", "pairing"], maintain_order=True):
        rows = []
        for (flow, cca), of_flow in of_pairing.group_by(["flow", "cca"], maintain_order=True):
            cells = [_cell(of_flow[column], digits) for column, digits in COLUMNS.items()]
            rows.append(Row((f"{flow}: {cca}", str(of_flow["trial"].n_unique()), *cells)))
        groups.append(Group(str(pairing), tuple(rows)))
    caption = "Two simultaneous downloads over one satellite link, as mean (sd) over the trials."
    return Table("competing-flows", caption, FLOWS_HEADER, tuple(groups), (), "Pairing")


def _cell(values: pl.Series, digits: int) -> str:
    mean, sd = mean_sd(values)
    return number(mean, digits) + ("" if sd is None else f" ({number(sd, digits)})")
