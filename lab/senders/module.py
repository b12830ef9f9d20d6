# SPDX-License-Identifier: GPL-2.0-or-later
"""What is known of a sender of the kernel: its module, as the kernel that will run it describes it."""

from pathlib import Path
from typing import TypedDict

from lab.backends import boot
from lab.base.paths import LAB
from lab.base.scratch import scratch_folder
from lab.kernel.build import SENDERS, Kernel
from lab.node.system import modules
from lab.schema.cca import Cca

SOCKET_BYTES = 104  # ICSK_CA_PRIV_SIZE, include/net/inet_connection_sock.h: every socket has them
BUILT_IN = {"cubic": "tcp_cubic"}  # Reno has no module at all: net/ipv4/tcp_cong.c
MEMORY_MB = 256


class Module(modules.Described):
    """A sender's module, as the kernel describes it."""

    module: str


class Described(TypedDict):
    """What is known of a sender's code."""

    module: str
    source: str
    exit: str  # how its exit from slow start is known
    memory: str
    parameters: list[modules.Parameter]


def load_module(cca: Cca, kernel: Kernel, world: Path) -> Module | None:
    """Boot the kernel, load a sender's module and describe it; None for Reno."""
    name = cca.module or BUILT_IN.get(cca.algorithm)
    if name is None:
        return None
    with scratch_folder() as folder:
        module: Module = boot.call(modules.describe, {"name": name}, folder, kernel, world, memory_mb=MEMORY_MB).result
    return module | {"module": name}


def describe_module(cca: Cca, kernel: Kernel, world: Path) -> Described:
    """Describe a sender of the kernel by its module."""
    module = load_module(cca, kernel, world)
    return {
        "module": _module(cca, module),
        "source": _source(module, kernel.described["kernel_source"]),
        "exit": f"reported by {'the sender itself' if cca.reports_exit else 'tcp_slow_start_watch'}",
        "memory": _memory(cca, module),
        "parameters": module["parameters"] if module else [],
    }


def _module(cca: Cca, module: Module | None) -> str:
    if module is None:
        return "none: part of the kernel's TCP"
    description = f"  ({module['description']})" if module["description"] else ""
    return f"{module['module']}{'' if cca.module else ', built in'}{description}"


def _source(module: Module | None, kernel_source: str) -> str:
    """Name the place of the sender's code; the lab's modules are installed next to the kernel's own tree."""
    if module is None:
        return f"net/ipv4/tcp_cong.c of {kernel_source}"
    file = Path(module["file"])
    ours = file.suffix == ".ko" and "kernel" not in file.parts
    if not ours:
        return f"net/ipv4/{module['module']}.c of {kernel_source}"
    (folder,) = (folder for folder in SENDERS if any(folder.glob(f"{file.stem}*.c")))
    return f"{folder.relative_to(LAB.parent)}/"


def _memory(cca: Cca, module: Module | None) -> str:
    """Format the memory of a flow; that of SEARCH's modules depends on their parameters, so they report it."""
    values = {parameter["name"]: parameter["value"] for parameter in module["parameters"]} if module else {}
    if "flow_bytes" in values:
        return (
            f"a flow has {values['flow_bytes']} bytes, CUBIC's included, of which its socket holds up to {SOCKET_BYTES}"
        )
    beyond = f"{cca.allocates_bytes} bytes allocated" if cca.allocates_bytes else "nothing allocated"
    return f"a flow has {SOCKET_BYTES} bytes of its socket, and {beyond}"
