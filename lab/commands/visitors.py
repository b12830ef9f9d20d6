# SPDX-License-Identifier: GPL-2.0-or-later
"""Visitors in a comparison: found by name, built for the virtual kernel, and smoke-tested before any trial."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from rich.console import Console

from lab.backends.own_trees import virtual_tree
from lab.backends.virtual import Virtual
from lab.base.errors import field_error
from lab.commands.prepare import prepare
from lab.kernel.build import Kernel
from lab.kernel.own.build import OwnModule, build_own
from lab.kernel.own.diagnostics import BuildError
from lab.kernel.own.source import OwnSource
from lab.kernel.own.tree import Tree
from lab.kernel.recipe import VERSIONS, Recipe
from lab.kernel.visitors.source import require_edits, require_runnable, visitor_recipe, visitor_source
from lab.runs.experiment import Experiment
from lab.runs.own.senders import module_files
from lab.runs.own.smoke import SmokeTest
from lab.runs.own.visitors import as_built, require_algorithm
from lab.schema.cca import Cca
from lab.schema.visitor import Visitor, load_visitors, visitor_senders


@dataclass(frozen=True)
class Visiting:
    """The visitors of a comparison or an experiment: their files, and their senders, not built yet."""

    visitors: Mapping[str, Visitor]
    senders: Mapping[str, Cca]

    def built(self, virtual: Virtual, console: Console, sanitized: bool = False) -> tuple[dict[str, Cca], Virtual]:
        """Build and test every visitor; return the senders to run, and the virtual kernel with what they need.

        sanitized: the virtual kernel is one with all checkers of bugs, and so is each other one that is built here.
        """
        began_s, place = time.monotonic(), _Place(virtual, console, sanitized)
        made = [_made(name, visitor, self.senders[name], place) for name, visitor in self.visitors.items()]
        if made:
            line = f"built and smoke-tested {', '.join(self.visitors)} in {time.monotonic() - began_s:.1f} s"
            console.print(line, soft_wrap=True, markup=False)
        files = module_files(each.module for each in made if each.module)
        kernels = {each.sender.kernel: each.kernel for each in made if each.sender.kernel}
        with_all = replace(
            virtual, own_modules={**virtual.own_modules, **files}, kernels={**virtual.kernels, **kernels}
        )
        return {each.sender.name: each.sender for each in made}, with_all

    def prepared(self, experiment: Experiment, virtual: Virtual, console: Console) -> tuple[Experiment, Virtual]:
        """Return an experiment with its visitors built, and the virtual kernel with what they need."""
        senders, with_all = self.built(virtual, console)
        return experiment.with_senders(senders), with_all


@dataclass(frozen=True)
class _Place:
    """Where visitors are built: the virtual kernel of those that need no other one."""

    virtual: Virtual
    console: Console
    sanitized: bool

    def of(self, recipe: Recipe | None) -> Virtual:
        """Return the virtual kernel of a recipe; build it where the cache does not have it."""
        return prepare(replace(recipe, sanitize=self.sanitized), self.console) if recipe else self.virtual


@dataclass(frozen=True)
class _Made:
    """A visitor that can run: its sender, the kernel that it runs on, and its module where it has one."""

    sender: Cca
    kernel: Kernel
    module: OwnModule | None


def visiting(names: Iterable[str]) -> Visiting:
    """Return those of some senders that are visitors; UserError where one is not fetched, or cannot be built."""
    known = load_visitors()
    visitors = {name: known[name] for name in names if name in known}
    for name, visitor in visitors.items():
        require_runnable(name, visitor)
        require_edits(name, visitor)
    senders = visitor_senders() if visitors else {}
    return Visiting(visitors, {name: senders[name] for name in visitors})


def visitors_of(experiment: Experiment, backend: str) -> Visiting:
    """Return the visitors of an experiment; UserError where one cannot run, or would run in real time."""
    found = visiting(experiment.senders)
    if found.visitors and backend != "virtual":
        rule = f"virtual: visitors ({', '.join(found.visitors)}) run in the virtual kernel only"
        raise field_error("command line", "backend", backend, rule)
    return found


def _made(name: str, visitor: Visitor, sender: Cca, place: _Place) -> _Made:
    """Build what a visitor needs: its kernel, unless any will do, and its module, unless the kernel has it."""
    recipe = visitor_recipe(name, visitor)
    virtual = place.of(recipe)
    if recipe:
        sender = sender.model_copy(update={"kernel": virtual.kernel.described["kernel_digest"]})
    if not visitor.is_module:
        return _Made(sender, virtual.kernel, None)
    tree = virtual_tree(virtual.kernel, VERSIONS[recipe.version].socket_bytes if recipe else None)
    module = _built(visitor_source(name, visitor), tree, place.console)
    sender = as_built(sender, module)
    test = SmokeTest(module, sender.params, virtual.kernel, virtual.world.root, place.sanitized)
    require_algorithm(sender, test.run())
    return _Made(sender, virtual.kernel, module)


def _built(source: OwnSource, tree: Tree, console: Console) -> OwnModule:
    """Build a source, and print each complaint of the compiler."""
    try:
        module = build_own(source, tree)
    except BuildError as error:
        _print_lines(console, (line for line in error.lines if line != str(error)))
        raise
    _print_lines(console, module.warnings)
    return module


def _print_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)
