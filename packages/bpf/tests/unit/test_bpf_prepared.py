# SPDX-License-Identifier: GPL-2.0-or-later
"""Before a run SEARCH as BPF gets the module that is built for the virtual kernel."""

from pathlib import Path

import pytest
from lab_bpf import prepare
from lab_bpf.way import BPF
from lab_try.module.build import OwnModule
from lab_try.module.source import OwnSource
from passed_modules import passed

from lab.schema.cca import load_ccas
from lab.senders.ways import prepared
from tests.unbuilt import virtual


def test_search_as_bpf_has_the_module_that_is_built_for_its_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build itself is in packages/bpf/tests/kernel/test_bpf_kernel.py."""
    module = passed(tmp_path / "tcp_search_bpf.c", "search_bpf", depends=("tcp_cubic",)).module
    built: list[tuple[set[str], object]] = []

    def build(source: OwnSource, tree: object) -> OwnModule:
        built.append(({*source.files}, tree))
        return module

    monkeypatch.setattr(prepare, "build_own", build)
    monkeypatch.setattr(prepare, "virtual_tree", lambda kernel: ("tree of", kernel))
    before = virtual(tmp_path)
    others = {"cubic": load_ccas()["cubic"]}
    assert prepared(others, before) == (others, before)
    assert built == []
    senders, after = prepared(BPF.senders() | others, before)
    ((files, tree),) = built
    assert "search.bpf.c" in files
    assert tree == ("tree of", before.kernel)
    assert senders["cubic"] == others["cubic"]
    assert (senders["search_bpf"].module_digest, senders["search_bpf"].depends) == (module.source.digest, ["tcp_cubic"])
    assert after.own_modules == {**before.own_modules, module.source.digest: module.file}
