# SPDX-License-Identifier: GPL-2.0-or-later
"""CUBIC with the HyStart of Linux 5.16 to 6.13 as a module: Debian's kernels have the later one."""

from dataclasses import replace

from lab_try.confined import virtual_tree
from lab_try.module.build import build_own
from lab_try.module.source import OwnSource
from lab_try.senders import module_files

from lab.backends.virtual import Virtual
from lab.kernel.build import HERE as KERNEL
from lab.schema.cca import Cca, load_ccas

NAME = "cubic_5_16"
FOLDER = KERNEL / NAME
FILES = (FOLDER / f"tcp_{NAME}.c", FOLDER / "Kbuild", KERNEL / "search" / "kernel_cubic.h")


def with_earlier_cubic(virtual: Virtual) -> tuple[Cca, Virtual]:
    """Return the sender, and the virtual kernel with its module, which is built if it is not cached."""
    source = OwnSource(FILES[0], FOLDER, NAME, {file.name: file.read_bytes() for file in FILES})
    built = build_own(source, virtual_tree(virtual.kernel))
    named = {"name": NAME, "label": "CUBIC with the HyStart of Linux 5.16 to 6.13", "algorithm": NAME}
    loaded = {"module": built.name, "module_digest": source.digest, "depends": list(built.depends)}
    return load_ccas()["cubic"].model_copy(update=named | loaded), replace(virtual, own_modules=module_files([built]))
