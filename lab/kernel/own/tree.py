# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel that a user's own module is built for: its build tree, and the root with the compiler."""

from dataclasses import dataclass, field
from pathlib import Path

from lab.images import image
from lab.images.vm.stock import Stock
from lab.kernel.build import Kernel

SEARCH = "search"  # folder of a build of the lab's own modules: slow_start.h and the symbols that they export


@dataclass(frozen=True)
class Tree:
    """A kernel's build tree in a root folder."""

    root: Path
    make: tuple[str, ...]  # the command, without the module's folder
    interface: Path  # folder with slow_start.h and Module.symvers
    digest: str
    bound: dict[Path, str] = field(default_factory=dict)  # what the command needs beside the root


def virtual_tree(kernel: Kernel) -> Tree:
    """Return the tree of a virtual kernel."""
    built, modules = kernel.folders
    make = ("make", "-C", "/build/obj", "ARCH=um")
    digest = f"{built.name} {modules.name}"
    return Tree(image.ensure("builder").root, make, modules / SEARCH, digest, {built: "/build"})


def stock_tree(stock: Stock) -> Tree:
    """Return the tree of the VM's own kernel."""
    made = stock.folder.parent
    make = ("make", "-C", f"/usr/src/linux-headers-{stock.release}")
    return Tree(image.ensure("stock").root, make, made / SEARCH, made.name)
