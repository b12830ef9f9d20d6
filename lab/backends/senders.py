# SPDX-License-Identifier: GPL-2.0-or-later
"""What is to be known of a sender: its stanza, and what the kernel that will run it says of its module."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.backends import boot
from lab.base.scratch import scratch_folder
from lab.kernel.build import Kernel
from lab.node.modules import describe
from lab.schema.cca import RULES, Cca

SOCKET_BYTES = 104  # ICSK_CA_PRIV_SIZE, include/net/inet_connection_sock.h: every socket has them
BUILT_IN = {"cubic": "tcp_cubic"}  # Reno has no module at all: net/ipv4/tcp_cong.c
MEMORY_MB = 256
Said = dict[str, Any]


def rows(ccas: dict[str, Cca]) -> Iterator[str]:
    """Word every sender in a line."""
    for name, cca in ccas.items():
        yield f"{name:12} {cca.label:38} {cca.module or 'built in':18} {RULES[cca.slow_start_exit]}"


def ask(cca: Cca, kernel: Kernel, world: Path) -> Said | None:
    """Boot the kernel, load a sender's module and return what it says; None for Reno."""
    module = cca.module or BUILT_IN.get(cca.algorithm)
    if module is None:
        return None
    with scratch_folder() as folder:
        said: Said = boot.call(describe, {"name": module}, folder, kernel, world, memory_mb=MEMORY_MB).result
    return said | {"module": module}


def lines(cca: Cca, said: Said | None, kernel_source: str) -> Iterator[str]:
    """Word all that is known of a sender."""
    facts = {
        "label": cca.label,
        "algorithm": cca.algorithm,
        "module": _module(cca, said),
        "source": _source(said, kernel_source),
        "slow start": f"ends upon {RULES[cca.slow_start_exit]}" + _or_loss(cca),
        "exit": "told by the sender itself" if cca.tells_exit else "told by tcp_slow_start_watch",
        "memory": _memory(cca, said),
        "needs": ", ".join(_needs(cca)) or "nothing else",
    }
    for name, value in facts.items():
        yield f"{name:11} {value}"
    for parameter in said["parameters"] if said else []:
        asked = cca.params.get(parameter["name"])
        value = parameter["value"] if asked is None else f"{asked} (by its stanza; else {parameter['value']})"
        yield f"parameter   {parameter['name']} = {value}   {parameter['meaning']}".rstrip()


def _or_loss(cca: Cca) -> str:
    return "" if cca.slow_start_exit in ("loss", "bbr") else "; or upon loss"


def _module(cca: Cca, said: Said | None) -> str:
    if said is None:
        return "none: part of the kernel's TCP"
    description = f"  ({said['description']})" if said["description"] else ""
    return f"{said['module']}{'' if cca.module else ', built in'}{description}"


def _source(said: Said | None, kernel_source: str) -> str:
    """Say where the sender's code is: the lab's modules are installed beside the kernel's own tree."""
    if said is None:
        return f"net/ipv4/tcp_cong.c of {kernel_source}"
    file = Path(said["file"])
    ours = file.suffix == ".ko" and "kernel" not in file.parts
    return "lab/kernel/search/" if ours else f"net/ipv4/{said['module']}.c of {kernel_source}"


def _memory(cca: Cca, said: Said | None) -> str:
    """Say what a flow takes: SEARCH's modules know, since it depends on their parameters."""
    told = {parameter["name"]: parameter["value"] for parameter in said["parameters"]} if said else {}
    if "flow_bytes" in told:
        return (
            f"a flow has {told['flow_bytes']} bytes, CUBIC's included, of which its socket holds up to {SOCKET_BYTES}"
        )
    beyond = f"{cca.allocates_bytes} bytes allocated" if cca.allocates_bytes else "nothing allocated"
    return f"a flow has {SOCKET_BYTES} bytes of its socket, and {beyond}"


def _needs(cca: Cca) -> list[str]:
    return ([f"qdisc {cca.qdisc}"] if cca.qdisc else []) + [f"{name}={value}" for name, value in cca.sysctls.items()]
