# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF in trials: its source as a module of the virtual kernel, from the cache or built."""

from collections.abc import Mapping
from dataclasses import replace

from lab.backends.own_trees import virtual_tree
from lab.backends.virtual import Virtual
from lab.kernel.bpf.module import MODULE, module_source
from lab.kernel.own.build import build_own
from lab.runs.own.senders import module_files
from lab.schema.cca import Cca


def with_bpf_module(senders: Mapping[str, Cca], virtual: Virtual) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders and the virtual kernel with the module, which is built if one of them needs it."""
    names = [name for name, sender in senders.items() if sender.module == MODULE]
    if not names:
        return dict(senders), virtual
    built = build_own(module_source(MODULE), virtual_tree(virtual.kernel))
    found = {"module_digest": built.source.digest, "depends": list(built.depends)}
    named = {name: senders[name].model_copy(update=found) for name in names}
    return {**senders, **named}, replace(virtual, own_modules={**virtual.own_modules, **module_files([built])})
