# SPDX-License-Identifier: GPL-2.0-or-later
"""Senders of a search: those that the lab knows by name, and C files or folders, built and tested as by `lab try`."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from lab_try.confined import virtual_tree
from lab_try.module.build import build_own
from lab_try.module.source import read_source
from lab_try.senders import Passed, module_files, own_senders
from lab_try.smoke import SmokeTest
from rich.console import Console

from lab.backends.virtual import Virtual
from lab.base.errors import field_error
from lab.commands.known import require_senders
from lab.commands.lines import say
from lab.commands.prepare import built
from lab.kernel.versions import DEFAULT, VERSIONS
from lab.schema.cca import Cca, load_cca


def is_file(name: str) -> bool:
    """Return whether a sender is given by its source."""
    return "/" in name or name.endswith(".c")


def require_known(names: Sequence[str]) -> None:
    """Refuse a sender that is neither known nor a path, before anything is loaded."""
    for name in names:
        if "," in name:
            raise field_error("command line", "sender", name, "one sender, or one path")
        if not is_file(name):
            require_senders(name, "sender")
        elif name.endswith(".yml"):
            rule = "a sender's name, a C file or its folder: stacks of your own run in lab try"
            raise field_error("command line", "sender", name, rule)
        elif not Path(name).exists():
            raise field_error("command line", "sender", name, "a file that exists, or a sender's name")


def ready(names: Sequence[str], virtual: Virtual, console: Console) -> tuple[dict[str, Cca], Virtual]:
    """Return the senders by the names that were given, and the virtual kernel with what they need."""
    files = [name for name in names if is_file(name)]
    tested = [_tested(Path(name), virtual) for name in files]
    for line in chain(*(each.module.warnings for each in tested)):
        say(console, line)
    own = dict(zip(files, own_senders(tested).items(), strict=True)) if tested else {}
    senders = {name: own[name][1] if name in own else load_cca(name, "command line", "sender") for name in names}
    virtual = replace(virtual, own_modules=module_files(each.module for each in tested))
    known, virtual = built({cca.name: cca for cca in senders.values()}, virtual, console)
    return {name: known[senders[name].name] for name in names}, virtual


def _tested(path: Path, virtual: Virtual) -> Passed:
    module = build_own(read_source(path), virtual_tree(virtual.kernel, VERSIONS[DEFAULT].socket_bytes))
    smoke = SmokeTest(module, {}, virtual.kernel, virtual.world.root).run()
    if len(smoke["algorithms"]) != 1:
        raise field_error(path, "algorithms", ", ".join(smoke["algorithms"]), "one congestion control")
    return Passed(module, {}, smoke)
