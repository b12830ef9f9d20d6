# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of a sender: its stanza, and its module as the kernel that will run it describes it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from lab.backends import boot
from lab.base.scratch import scratch_folder
from lab.kernel.build import Kernel
from lab.kernel.stacks import stack_of
from lab.node.modules import describe
from lab.schema.cca import Cca

SOCKET_BYTES = 104  # ICSK_CA_PRIV_SIZE, include/net/inet_connection_sock.h: every socket has them
BUILT_IN = {"cubic": "tcp_cubic"}  # Reno has no module at all: net/ipv4/tcp_cong.c
MEMORY_MB = 256


class Parameter(TypedDict):
    """A module parameter, with its value in the running kernel."""

    name: str
    value: str
    meaning: str


class Module(TypedDict):
    """A sender's module; `file` is where modinfo found it."""

    module: str
    file: str
    description: str | None
    parameters: list[Parameter]


def rows(ccas: dict[str, Cca]) -> Iterator[str]:
    """Format every sender in one line."""
    for name, cca in ccas.items():
        yield f"{name:16} {cca.label:38} {_where(cca):18} {cca.exit_label}"


def _where(cca: Cca) -> str:
    return stack_of(cca).program if cca.stack else cca.module or "built in"


def load_module(cca: Cca, kernel: Kernel, world: Path) -> Module | None:
    """Boot the kernel, load a sender's module and describe it; None for Reno, and for a sender over QUIC."""
    name = cca.module or BUILT_IN.get(cca.algorithm)
    if name is None or cca.transport == "quic":
        return None
    with scratch_folder() as folder:
        module: Module = boot.call(describe, {"name": name}, folder, kernel, world, memory_mb=MEMORY_MB).result
    return module | {"module": name}


def lines(cca: Cca, module: Module | None, kernel_source: str) -> Iterator[str]:
    """Format all that is known of a sender."""
    facts = {
        "label": cca.label,
        "algorithm": cca.algorithm,
        "module": _module(cca, module),
        "source": _source(cca, module, kernel_source),
        "slow start": f"ends upon {cca.exit_label}" + _or_loss(cca),
        "exit": "reported by the sender itself"
        if cca.reports_exit or cca.transport == "quic"
        else "reported by tcp_slow_start_watch",
        "memory": _memory(cca, module),
        "needs": ", ".join(_needs(cca)) or "nothing else",
    }
    for name, value in facts.items():
        yield f"{name:11} {value}"
    for parameter in module["parameters"] if module else []:
        own = cca.params.get(parameter["name"])
        value = parameter["value"] if own is None else f"{own} (by its stanza; else {parameter['value']})"
        yield f"parameter   {parameter['name']} = {value}   {parameter['meaning']}".rstrip()


def _or_loss(cca: Cca) -> str:
    return "" if cca.slow_start_exit in ("loss", "bbr") else "; or upon loss"


def _module(cca: Cca, module: Module | None) -> str:
    if cca.transport == "quic":
        return f"none: a controller of {stack_of(cca).program}, over UDP"
    if module is None:
        return "none: part of the kernel's TCP"
    description = f"  ({module['description']})" if module["description"] else ""
    return f"{module['module']}{'' if cca.module else ', built in'}{description}"


def _source(cca: Cca, module: Module | None, kernel_source: str) -> str:
    """Name the place of the sender's code; the lab's modules are installed next to the kernel's own tree."""
    if cca.transport == "quic":
        return stack_of(cca).source
    if module is None:
        return f"net/ipv4/tcp_cong.c of {kernel_source}"
    file = Path(module["file"])
    ours = file.suffix == ".ko" and "kernel" not in file.parts
    return "lab/kernel/search/" if ours else f"net/ipv4/{module['module']}.c of {kernel_source}"


def _memory(cca: Cca, module: Module | None) -> str:
    """Format the memory of a flow; that of SEARCH's modules depends on their parameters, so they report it."""
    if cca.transport == "quic":
        return "of the program, not of a socket"
    values = {parameter["name"]: parameter["value"] for parameter in module["parameters"]} if module else {}
    if "flow_bytes" in values:
        return (
            f"a flow has {values['flow_bytes']} bytes, CUBIC's included, of which its socket holds up to {SOCKET_BYTES}"
        )
    beyond = f"{cca.allocates_bytes} bytes allocated" if cca.allocates_bytes else "nothing allocated"
    return f"a flow has {SOCKET_BYTES} bytes of its socket, and {beyond}"


def _needs(cca: Cca) -> list[str]:
    """List what a sender needs of the machine besides its module."""
    first = [f"a first receive window of {cca.first_window_pkts} packets"] if cca.first_window_pkts else []
    return [
        *([f"qdisc {cca.qdisc}"] if cca.qdisc else []),
        *first,
        *(f"{name}={value}" for name, value in cca.sysctls.items()),
    ]
