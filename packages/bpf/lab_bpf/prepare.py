# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF in trials: its source as a module of the virtual kernel, from the cache or built."""

from dataclasses import replace

from lab_try.module.build import build_own
from lab_try.senders import module_files
from lab_try.trees import virtual_tree

from lab.backends.virtual import Virtual
from lab.schema.cca import Cca
from lab.senders.way import Senders
from lab_bpf.program.module import module_source


def with_module(module: str, senders: Senders, virtual: Virtual) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders and the virtual kernel with the module, which is built."""
    built = build_own(module_source(module), virtual_tree(virtual.kernel))
    found = {"module_digest": built.source.digest, "depends": list(built.depends)}
    named = {name: sender.model_copy(update=found) for name, sender in senders.items()}
    return named, replace(virtual, own_modules={**virtual.own_modules, **module_files([built])})
