# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules of users for tests, as they are after their smoke test; none is built."""

from pathlib import Path

from lab_try.module.build import OwnModule
from lab_try.module.builder import Sandboxed, Tree
from lab_try.module.source import read_source
from lab_try.node.smoke import Flow, Smoke
from lab_try.senders import Passed

TREE = Tree((), Path("/nowhere"), "", Sandboxed(Path("/nowhere")))  # builds nothing here
FLOW: Flow = {"got_bytes": 1, "least_cwnd_pkts": 1, "most_cwnd_pkts": 1}


def passed(path: Path, *algorithms: str, content: str = "", depends: tuple[str, ...] = (), **params: int) -> Passed:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content or str(path))
    source = read_source(path)
    known = dict.fromkeys(params, "int")
    module = OwnModule(source, TREE, path.parent, path.stem, depends, known, source.paces(source.files), ())
    smoke = Smoke(algorithms={name: [FLOW] for name in algorithms}, needs_ecn=[], parameters={}, leaks=[])
    return Passed(module, params, smoke)
