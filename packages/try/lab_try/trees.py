# SPDX-License-Identifier: GPL-2.0-or-later
"""The build trees of the kernels that a user's own module can run on, and the sandbox that it is built in."""

from pathlib import Path

from lab_vm.stock import Stock

from lab.base import sandbox_mode
from lab.images import image
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab_try.confined import Confined
from lab_try.module.builder import SEARCH, SOCKET_BYTES, Builder, Sandboxed, Tree

BUILD = "/build"  # a kernel's folder, in the builder's root


def virtual_tree(kernel: Kernel, socket_bytes: int | None = None) -> Tree:
    """Return the tree of a virtual kernel; `socket_bytes` are those of its recipe, where they are not Debian's."""
    built, modules = kernel.folders
    make = ("make", "-C", f"{BUILD}/obj", "ARCH=um")
    return Tree(
        make, modules / SEARCH, f"{built.name} {modules.name}", _builder(built, kernel), socket_bytes or SOCKET_BYTES
    )


def _builder(built: Path, kernel: Kernel) -> Builder:
    """Return bubblewrap where it works, else the plain virtual kernel: a sanitized one takes far longer."""
    root = image.ensure("builder").root
    if sandbox_mode.mode() == sandbox_mode.BUBBLEWRAP:
        return Sandboxed(root, {built: BUILD})
    return Confined(root, {BUILD: built.resolve()}, build.find(Recipe()) or kernel)


def stock_tree(stock: Stock) -> Tree:
    """Return the tree of the VM's own kernel, whose package bubblewrap has built before."""
    made = stock.folder.parent
    make = ("make", "-C", f"/usr/src/linux-headers-{stock.release}")
    return Tree(make, made / SEARCH, made.name, Sandboxed(image.ensure("stock").root))
