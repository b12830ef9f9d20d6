# SPDX-License-Identifier: GPL-2.0-or-later
"""The kinds of qdisc, one file each (or a file for two that differ by a word)."""

from lab.node.qdiscs import cake, codel, delay_line, fifo, fq, netem, on_demand, pie, red, replay, step_drop, tbf
from lab.node.qdiscs.kind import ByNetlink, ByTc

KINDS: dict[str, ByTc | ByNetlink] = {
    "tbf": tbf.KIND,
    "netem": netem.KIND,
    "bfifo": fifo.BYTES,
    "pfifo": fifo.PACKETS,
    "codel": codel.KIND,
    "fq_codel": codel.FQ_KIND,
    "fq": fq.KIND,
    "pie": pie.KIND,
    "red": red.KIND,
    "cake": cake.KIND,
    "replay": replay.KIND,
    "delay_line": delay_line.KIND,
    "on_demand": on_demand.KIND,
    "step_drop": step_drop.KIND,
}
IN_EVERY_KERNEL = ("bfifo", "pfifo")
MODULES = {kind: f"sch_{kind}" for kind in KINDS if kind not in IN_EVERY_KERNEL}
