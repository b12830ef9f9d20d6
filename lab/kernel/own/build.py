# SPDX-License-Identifier: GPL-2.0-or-later
"""Build a user's own module in the builder's root, alone: it can read the kernel's tree and write its own folder."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from lab.base import paths, sandbox
from lab.base.cache import finished, publish, use
from lab.base.errors import field_error
from lab.images.bounded import MOST_OUTPUT_BYTES, Done, run_bounded
from lab.kernel.build import digest_of_files
from lab.kernel.own.diagnostics import BuildError, read_diagnostics
from lab.kernel.own.source import OwnSource
from lab.kernel.own.structs import oversized_state
from lab.kernel.own.tree import Tree

HERE = Path(__file__).parent
PLACE = "/tmp/own"  # where it is built
INTERFACE = "/tmp/interface"  # slow_start.h and its symbols, of the lab's own modules
MODULE, DEBUG, FACTS = "own.ko", "own.debug.ko", "own.json"
BUILD_S = 120
DUMP = ["readelf", "--debug-dump=info"]
DUMP_BYTES = 256 << 20


@dataclass(frozen=True)
class OwnModule:
    """A built module."""

    source: OwnSource
    folder: Path
    name: str  # as the kernel names it
    depends: tuple[str, ...]  # modules to load before
    parameters: tuple[str, ...]
    warnings: tuple[str, ...]  # of the compiler, one line each

    @property
    def file(self) -> Path:
        """Return the module to load."""
        return self.folder / MODULE

    @property
    def debug_file(self) -> Path:
        """Return the module with the lines of its source."""
        return self.folder / DEBUG


def build_own(source: OwnSource, tree: Tree) -> OwnModule:
    """Return the module of a source for a kernel's tree, from the cache or built; BuildError holds all errors."""
    code = digest_of_files(sorted(HERE.glob("*.py")))
    folder = paths.cache() / f"own-{source.digest_with(code, tree.digest)}"
    if not finished(folder):
        with publish(folder) as draft:
            if draft:
                _build(source, tree, draft)
    use(folder)
    facts = json.loads((folder / FACTS).read_text())
    warnings = tuple(line.replace(PLACE, str(source.folder)) for line in facts["warnings"])
    return OwnModule(source, folder, facts["name"], tuple(facts["depends"]), tuple(facts["parameters"]), warnings)


def _build(source: OwnSource, tree: Tree, draft: Path) -> None:
    """Make the module in a folder below the draft, and keep it, its debug form and its facts."""
    work = draft / "work"
    for name, content in source.files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(content)
    builder = Builder(tree.root, work)
    made = builder.make(tree)
    diagnostics = read_diagnostics(made.output, PLACE, source)
    if made.status or any(each.kind == "error" for each in diagnostics):
        raise BuildError(source.path, diagnostics, made.last_line)
    module = _only_module(source, work)
    too_large = oversized_state(source, builder.run([*DUMP, module.name], most_bytes=DUMP_BYTES).output)
    if too_large:
        raise BuildError(source.path, [*diagnostics, *too_large], "")
    shutil.copyfile(module, draft / DEBUG)
    depends, parameters = (builder.field(module, name) for name in ("depends", "parm"))
    facts = {
        "name": module.stem.replace("-", "_"),
        "depends": [name for name in depends.strip().split(",") if name],
        "parameters": [line.split(":")[0] for line in parameters.splitlines()],
        "warnings": [each.line.replace(str(source.folder), PLACE) for each in diagnostics],
    }
    (draft / FACTS).write_text(json.dumps(facts))
    builder.run(["strip", "--strip-debug", module.name])
    shutil.copyfile(module, draft / MODULE)
    shutil.rmtree(work)
    shutil.rmtree(draft / "interface")


@dataclass(frozen=True)
class Builder:
    """The builder's root with one writable folder."""

    root: Path
    work: Path

    def make(self, tree: Tree) -> Done:
        """Run the kernel's make for the folder."""
        interface = self.work.parent / "interface"
        interface.mkdir()
        for name in ("slow_start.h", "Module.symvers"):
            shutil.copyfile(tree.interface / name, interface / name)
        flags = [f"KCPPFLAGS=-I{INTERFACE}", "KCFLAGS=-g", f"KBUILD_EXTRA_SYMBOLS={INTERFACE}/Module.symvers"]
        argv = [*tree.make, f"M={PLACE}", *flags, "modules"]
        return self.run(argv, {interface: INTERFACE, **tree.bound})

    def field(self, module: Path, name: str) -> str:
        """Return a field of a module's description."""
        return self.run(["modinfo", "-F", name, f"./{module.name}"]).output

    def run(
        self, argv: list[str], read_only: dict[Path, str] | None = None, most_bytes: int = MOST_OUTPUT_BYTES
    ) -> Done:
        """Run a tool of the builder in the folder, bounded in time, memory and output."""
        sandbox.own_tree(self.work)
        try:
            place = {self.work: PLACE}
            command = sandbox.command(self.root, argv, read_only=read_only, writable=place, folder=PLACE)
            return run_bounded(command, BUILD_S, most_bytes)
        finally:
            sandbox.disown_tree(self.work)


def _only_module(source: OwnSource, work: Path) -> Path:
    """Return the one module that the build made."""
    found = [file for file in sorted(work.glob("*.ko")) if file.is_file() and not file.is_symlink()]
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise field_error(source.path, "modules", names, "one module, built by obj-m in the folder itself")
    return found[0]
