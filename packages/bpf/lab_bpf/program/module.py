# SPDX-License-Identifier: GPL-2.0-or-later
"""The source of SEARCH as BPF, to be compiled as a module: the same file over another header, and the core."""

from pathlib import Path

from lab_try.module.source import OwnSource

from lab.base.paths import LAB

HERE = Path(__file__).parent
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
