# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF in trials: its source as a module of the virtual kernel, from the cache or built."""

from dataclasses import replace
from pathlib import Path

from lab_try.confined import virtual_tree
from lab_try.module.build import build_own
from lab_try.module.source import OwnSource
from lab_try.senders import module_files

from lab.backends.virtual import Virtual
from lab.base.paths import LAB
from lab.schema.cca import Cca
from lab.senders.way import Senders

HERE = Path(__file__).parent / "program"
CORE = LAB / "kernel" / "search"
OWN = ("search.bpf.c", "search_bpf_module.h", "Kbuild")
SHARED = (
    "kernel_cubic.h",
    "search_compare.c",
    "search_compare.h",
    "search_core.c",
    "search_core.h",
    "search_params.c",
    "search_ring.h",
    "search_shim.h",
    "search_trace.h",
    "slow_start.h",
    "tcp_search.c",
    "tcp_search.h",
)


def module_source(name: str) -> OwnSource:
    """Return the files of the module, to build like a user's own."""
    files = [*(HERE / file for file in OWN), *(CORE / file for file in SHARED)]
    return OwnSource(HERE / OWN[0], HERE, name, {file.name: file.read_bytes() for file in files})


def with_module(module: str, senders: Senders, virtual: Virtual) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders and the virtual kernel with the module, which is built."""
    built = build_own(module_source(module), virtual_tree(virtual.kernel))
    found = {"module_digest": built.source.digest, "depends": list(built.depends)}
    named = {name: sender.model_copy(update=found) for name, sender in senders.items()}
    return named, replace(virtual, own_modules={**virtual.own_modules, **module_files([built])})
