# SPDX-License-Identifier: GPL-2.0-or-later
"""A build for strangers where bubblewrap cannot work: in a virtual kernel whose root is the builder's.

The build reaches its guest's memory and its trial's folder, as a trial does. What it takes in processor time is
bounded, since a virtual kernel's clock stands still while a compiler runs.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

from lab_vm.stock import Stock

from lab.backends import boot
from lab.backends.records import TrialError
from lab.backends.watched import NoEnd
from lab.base import ptrace, sandbox, sandbox_mode
from lab.base.contract import check
from lab.base.errors import UserError
from lab.base.scratch import copy_folder, scratch_folder
from lab.images import image
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab_try.module.builder import BUILD_S, INTERFACE, PLACE, SEARCH, SOCKET_BYTES, Builder, Sandboxed, Tree
from lab_try.node.bounded import Done, Step
from lab_try.node.guest import IN, OUT, Ended, guest_steps

MEMORY_MB = 1024  # a build takes a quarter, its files included
PATIENCE = 10  # wall seconds per second of processor time: other programs run, too
FAILED = 1
BUILD = "/build"  # a kernel's folder, in the builder's root


class Answer(TypedDict):
    """What a guest returns; a stranger's build is root there, and may have written it."""

    steps: Annotated[list[Ended], "how each step ended"]


@dataclass(frozen=True)
class Confined:
    """A builder in a virtual kernel; `bound` is what its root lacks, by the guest's path."""

    root: Path
    bound: Mapping[str, Path]
    kernel: Kernel

    def run(self, steps: Sequence[Step], work: Path, results: Sequence[str], interface: Path | None) -> list[Done]:
        """Run steps in copies, and take the files of `results`; an error of the kernel is the last line of a step."""
        with scratch_folder() as folder:
            places = {PLACE: work, **({INTERFACE: interface} if interface else {})}
            for place, source in places.items():
                copy_folder(source, folder / IN / Path(place).name)
            arguments = {
                "steps": [[step.argv, step.most_bytes] for step in steps],
                "places": {Path(place).name: place for place in places},
                "folder": PLACE,
                "environment": sandbox.ENVIRONMENT,
                "most_s": BUILD_S,
                "results": [*results],
            }
            done = self._call(arguments, folder)
            for file in sorted((folder / OUT).iterdir()) if (folder / OUT).is_dir() else ():
                if file.is_file():
                    shutil.copyfile(file, work / file.name)
        return done

    def _call(self, arguments: dict[str, object], folder: Path) -> list[Done]:
        try:
            called = boot.call(
                guest_steps,
                arguments,
                folder,
                self.kernel,
                self.root,
                memory_mb=MEMORY_MB,
                patience_s=PATIENCE * BUILD_S,
                processor_s=BUILD_S,
                programs=True,
                more=self.bound,
            )
        except NoEnd:
            return [Done(FAILED, f"no end after {BUILD_S} s")]
        except TrialError as error:
            if ptrace.ADVICE in str(error):
                raise UserError(str(error)) from None
            return [Done(FAILED, str(error))]
        answer = {"steps": called.result}
        check(answer, Answer, folder / boot.ANSWER)
        return [Done(each["status"], each["output"]) for each in answer["steps"]]


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
