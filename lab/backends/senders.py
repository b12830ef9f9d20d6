# SPDX-License-Identifier: GPL-2.0-or-later
"""A sender in text: its stanza, and its module as the kernel reports it."""

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
Module = dict[str, Any]  # lab.node.modules.describe


def rows(ccas: dict[str, Cca]) -> Iterator[str]:
    """Yield one line per sender."""
    for name, cca in ccas.items():
        yield f"{name:12} {cca.label:38} {cca.module or 'built in':18} {RULES[cca.slow_start_exit]}"


def load_module(cca: Cca, kernel: Kernel, world: Path) -> Module | None:
    """Boot the kernel, load a sender's module and return its description; None for Reno."""
    name = cca.module or BUILT_IN.get(cca.algorithm)
    if name is None:
        return None
    with scratch_folder() as folder:
        found: Module = boot.call(describe, {"name": name}, folder, kernel, world, memory_mb=MEMORY_MB).result
    return found | {"module": name}


def lines(cca: Cca, module: Module | None, kernel_source: str) -> Iterator[str]:
    """Yield one line per property and parameter of a sender."""
    facts = {
        "label": cca.label,
        "algorithm": cca.algorithm,
        "module": _module(cca, module),
        "source": _source(module, kernel_source),
        "slow start": f"ends upon {RULES[cca.slow_start_exit]}" + _or_loss(cca),
        "exit": "reported by the sender itself" if cca.tells_exit else "reported by tcp_slow_start_watch",
        "memory": _memory(cca, module),
        "needs": ", ".join(_needs(cca)) or "nothing else",
    }
    for name, value in facts.items():
        yield f"{name:11} {value}"
    for parameter in module["parameters"] if module else []:
        own = cca.params.get(parameter["name"])
        value = parameter["value"] if own is None else f"{own} (by its stanza; default {parameter['value']})"
        yield f"parameter   {parameter['name']} = {value}   {parameter['meaning']}".rstrip()


def _or_loss(cca: Cca) -> str:
    return "" if cca.slow_start_exit in ("loss", "bbr") else "; or upon loss"


def _module(cca: Cca, module: Module | None) -> str:
    if module is None:
        return "none: part of the kernel's TCP"
    description = f"  ({module['description']})" if module["description"] else ""
    return f"{module['module']}{'' if cca.module else ', built in'}{description}"


def _source(module: Module | None, kernel_source: str) -> str:
    """Return the place of the sender's code: the lab's modules are installed outside the kernel's own tree."""
    if module is None:
        return f"net/ipv4/tcp_cong.c of {kernel_source}"
    file = Path(module["file"])
    ours = file.suffix == ".ko" and "kernel" not in file.parts
    return "lab/kernel/search/" if ours else f"net/ipv4/{module['module']}.c of {kernel_source}"


def _memory(cca: Cca, module: Module | None) -> str:
    """Return the memory of a flow: SEARCH's modules report it, because it depends on their parameters."""
    values = {parameter["name"]: parameter["value"] for parameter in module["parameters"]} if module else {}
    if "flow_bytes" in values:
        return (
            f"a flow has {values['flow_bytes']} bytes, CUBIC's included, of which its socket holds up to {SOCKET_BYTES}"
        )
    beyond = f"{cca.allocates_bytes} bytes allocated" if cca.allocates_bytes else "nothing allocated"
    return f"a flow has {SOCKET_BYTES} bytes of its socket, and {beyond}"


def _needs(cca: Cca) -> list[str]:
    return ([f"qdisc {cca.qdisc}"] if cca.qdisc else []) + [f"{name}={value}" for name, value in cca.sysctls.items()]
