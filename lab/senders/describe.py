# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of a sender, as lines: its stanza, and what its way knows of its code."""

from collections.abc import Iterator
from pathlib import Path

from lab.kernel.build import Kernel
from lab.schema.cca import Cca
from lab.senders.ways import way_of


def rows(ccas: dict[str, Cca]) -> Iterator[str]:
    """Format every sender in one line."""
    for name, cca in ccas.items():
        yield f"{name:16} {cca.label:38} {way_of(cca).where(cca):18} {cca.exit_label}"


def lines(cca: Cca, kernel: Kernel, world: Path) -> Iterator[str]:
    """Format all that is known of a sender; the kernel boots to describe a module."""
    code = way_of(cca).describe(cca, kernel, world)
    facts = {
        "label": cca.label,
        "algorithm": cca.algorithm,
        "module": code["module"],
        "source": code["source"],
        "slow start": f"ends upon {cca.exit_label}{'' if cca.slow_start_exit in ('loss', 'bbr') else '; or upon loss'}",
        "exit": code["exit"],
        "memory": code["memory"],
        "needs": ", ".join(_needs(cca)) or "nothing else",
    }
    for name, value in facts.items():
        yield f"{name:11} {value}"
    for parameter in code["parameters"]:
        own = cca.params.get(parameter["name"])
        value = parameter["value"] if own is None else f"{own} (by its stanza; else {parameter['value']})"
        yield f"parameter   {parameter['name']} = {value}   {parameter['meaning']}".rstrip()


def _needs(cca: Cca) -> list[str]:
    """List what a sender needs of the machine besides its module."""
    first = [f"a first receive window of {cca.first_window_pkts} packets"] if cca.first_window_pkts else []
    return [
        *([f"qdisc {cca.qdisc}"] if cca.qdisc else []),
        *first,
        *(f"{name}={value}" for name, value in cca.sysctls.items()),
    ]
