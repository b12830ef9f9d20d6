# SPDX-License-Identifier: GPL-2.0-or-later
"""Build a user's own module in the builder's root, alone: it can read the kernel's tree and write its own folder."""

import json
import re
import shutil
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.base import paths
from lab.base.cache import ensured, finished, use
from lab.base.errors import UserError, field_error
from lab.base.plain_file import copy_made
from lab.base.remove import remove
from lab.base.scratch import scratch_folder
from lab.kernel.build import digest_of_files
from lab_try.module.builder import INTERFACE, PLACE, Tree
from lab_try.module.diagnostics import BuildError, Diagnostic, read_diagnostics
from lab_try.module.source import OwnSource
from lab_try.module.structs import oversized_state
from lab_try.node.bounded import Step

HERE = Path(__file__).parent
MODULE, DEBUG, FACTS, SYMBOLS = "own.ko", "own.debug.ko", "own.json", "own.symbols"
COMPLAINTS = "complaints.h"
MADE, STRIPPED = "*.ko", ".stripped"  # no file of a source begins with a dot
DUMP_BYTES, SYMBOLS_BYTES = 64 << 20, 16 << 20
COMPILED = rf"grep -rhoE '{PLACE}/[^ ]+\.[chS]\b' --include='.*.o.cmd' . | sort -u"  # the files that the compiler read
ITS_STRUCTS = (  # tags, names and sizes; a struct without a name has that of a typedef
    "readelf --debug-dump=info ./*.ko | "
    "awk '/>: Abbrev/ { named = /DW_TAG_typedef/ } />: Abbrev|DW_AT_(name|byte_size)/ || named && /DW_AT_type/'"
)


@dataclass(frozen=True)
class OwnModule:
    """A built module."""

    source: OwnSource
    tree: Tree
    folder: Path
    name: str  # as the kernel names it
    depends: tuple[str, ...]  # modules to load before
    parameters: Mapping[str, str]  # the kernel's type of each, such as int or array of int; empty: unknown
    paces: bool  # whether its code requests pacing of the socket
    warnings: tuple[str, ...]  # of the compiler, one line each

    @property
    def file(self) -> Path:
        return self.folder / MODULE

    @property
    def debug_file(self) -> Path:
        """Return the module with the lines of its source."""
        return self.folder / DEBUG

    @property
    def symbols(self) -> str:
        """Return its functions and their addresses, as nm prints them."""
        return (self.folder / SYMBOLS).read_text()


class NotWantedError(UserError):
    """A module that the conditions of its Kbuild leave out of obj-m."""


def build_own(source: OwnSource, tree: Tree) -> OwnModule:
    """Return the module of a source for a kernel's tree, from the cache or built; BuildError holds all errors."""
    code = digest_of_files([*sorted(HERE.glob("*.py")), HERE / COMPLAINTS])
    folder = paths.cache() / f"own-{source.digest_with(code, tree.digest)}"
    if not finished(folder):
        ensured(folder, partial(_build, source, tree))
    use(folder)
    facts = json.loads((folder / FACTS).read_text())
    warnings = (*source.notes, *(line.replace(PLACE, str(source.folder)) for line in facts["warnings"]))
    depends, parameters, paces = (facts[name] for name in ("depends", "parameters", "paces"))
    return OwnModule(source, tree, folder, facts["name"], tuple(depends), parameters, paces, warnings)


def _build(source: OwnSource, tree: Tree, draft: Path) -> None:
    """Make the module in a folder below the draft, and keep it, its debug form, its symbols and its facts."""
    work, interface = draft / "work", draft / "interface"
    for name in source.files:
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(source.built_file(name))
    interface.mkdir()
    for name in ("slow_start.h", "Module.symvers"):
        shutil.copyfile(tree.interface / name, interface / name)
    shutil.copyfile(HERE / COMPLAINTS, interface / COMPLAINTS)
    done = tree.builder.run(_steps(tree), work, [MADE, STRIPPED], interface)
    diagnostics = read_diagnostics(done[0].output, PLACE, source)
    if done[0].status or any(each.kind == "error" for each in diagnostics):
        raise BuildError(source.path, diagnostics, done[0].last_line)
    module = _only_module(source, work)
    if done[-1].status:
        raise BuildError(source.path, diagnostics, done[-1].last_line)
    _, structs, depends, names, types, compiled, symbols, _ = (each.output for each in done)
    too_large = oversized_state(source, structs, tree.socket_bytes)
    if too_large:
        raise BuildError(source.path, [*diagnostics, *too_large], "")
    facts = {
        "name": module.stem.replace("-", "_"),
        "depends": [name for name in depends.strip().split(",") if name],
        "parameters": {**dict.fromkeys(_named(names), ""), **_named(types)},
        "paces": source.paces(source.files.keys() & {name.removeprefix(f"{PLACE}/") for name in compiled.splitlines()}),
        "warnings": [
            each.line.replace(str(source.folder), PLACE) for each in [*diagnostics, *_reports(source, symbols)]
        ],
    }
    (draft / FACTS).write_text(json.dumps(facts))
    (draft / SYMBOLS).write_text(symbols)
    copy_made(work, module.name, draft / DEBUG)
    copy_made(work, STRIPPED, draft / MODULE)
    for folder in (work, interface):
        remove(folder)


def _steps(tree: Tree) -> list[Step]:
    """Return what makes the module and describes it; its name is known only then.

    The virtual kernel would take floating point, and no other kernel does.
    """
    flags = [
        f"KCPPFLAGS=-I{INTERFACE} -include {INTERFACE}/{COMPLAINTS}",
        "KCFLAGS=-g -mgeneral-regs-only",
        f"KBUILD_EXTRA_SYMBOLS={INTERFACE}/Module.symvers",
    ]
    return [
        Step((*tree.make, f"M={PLACE}", *flags, "modules")),
        _shell(ITS_STRUCTS, DUMP_BYTES),
        _shell("modinfo -F depends ./*.ko"),
        _shell("modinfo -F parm ./*.ko"),
        _shell("modinfo -F parmtype ./*.ko"),
        _shell(COMPILED),
        _shell("nm --format=sysv ./*.ko", SYMBOLS_BYTES),
        _shell(f"strip --strip-debug -o {STRIPPED} ./*.ko"),
    ]


def _named(lines: str) -> dict[str, str]:
    """Read lines of name:text."""
    pairs = (line.partition(":")[::2] for line in lines.splitlines())
    return {name: text.strip() for name, text in pairs if name.isidentifier()}


def _reports(source: OwnSource, symbols: str) -> list[Diagnostic]:
    """Warn of a module that reports exits itself, and may leave out those by a loss."""
    if "slow_start_left" not in symbols or re.search("slow_start_(reduced|cause)", symbols):
        return []
    message = "it may report no exit by a loss: it calls neither slow_start_reduced() nor slow_start_cause()"
    return [Diagnostic(str(source.path), 0, 0, "warning", message)]


def _shell(line: str, *most_bytes: int) -> Step:
    return Step(("sh", "-c", line), *most_bytes)


def _only_module(source: OwnSource, work: Path) -> Path:
    """Return the one module that the build made."""
    found = [file for file in sorted(work.glob(MADE)) if stat.S_ISREG(file.lstat().st_mode)]
    if source.module and not found:
        raise NotWantedError(f"{source.path}: warning: module {source.module}: the conditions of obj-m leave it out")
    if len(found) != 1:
        names = ", ".join(file.name for file in found) or "none"
        raise field_error(source.path, "modules", names, "one module, built by obj-m in the folder itself")
    return found[0]


class Where:
    """The functions and lines of one module."""

    def __init__(self, module: OwnModule) -> None:
        self.module = module

    def line(self, function: str, offset: int) -> str | None:
        """Return file:line of an offset in a function, or None where the module's information lacks it."""
        found = _address(self.module.symbols, function)
        if found is None:
            return None
        address, section = found
        find = Step(("addr2line", "-e", DEBUG, "-j", section, hex(address + offset)))
        with scratch_folder() as folder:
            shutil.copyfile(self.module.debug_file, folder / DEBUG)
            (done,) = self.module.tree.builder.run([find], folder, [], None)
        return self._own(done.output.strip())

    def _own(self, found: str) -> str | None:
        """Return a place as the user knows it; None for one in the kernel's headers."""
        name, _, line = found.partition(" ")[0].rpartition(":")
        path = Path(name)
        if not (line.isdigit() and path.is_relative_to(PLACE)):
            return None
        return f"{self.module.source.folder / path.relative_to(PLACE)}:{line}"


def _address(symbols: str, function: str) -> tuple[int, str] | None:
    """Read the address of a function and its section from nm's table; several parts of one name: the first."""
    for row in symbols.splitlines():
        fields = [field.strip() for field in row.split("|")]
        if len(fields) == 7 and fields[0] == function and fields[3] == "FUNC":
            return int(fields[1], 16), fields[6]
    return None
