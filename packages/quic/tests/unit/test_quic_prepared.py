# SPDX-License-Identifier: GPL-2.0-or-later
"""Before a run each sender over QUIC gets the program of its stack."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from lab_quic.stacks import STACKS
from lab_quic.way import QUIC

from lab.kernel.program import Program
from lab.schema.cca import load_ccas
from lab.senders.ways import prepared
from tests.unbuilt import virtual


def test_each_stack_of_a_senders_is_built_once_and_its_program_is_that_of_the_sender(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build itself is in packages/quic/tests/kernel/test_quic_program.py."""
    built: list[str] = []

    def ensure(stack: str, progress: Callable[[str], None]) -> Program:
        progress(f"building {stack}")
        return Program(tmp_path / stack, f"digest of {stack}")

    for stack, known in STACKS.items():
        monkeypatch.setitem(STACKS, stack, replace(known, ensure=partial(ensure, stack)))
    quic, cubic = QUIC.senders(), load_ccas()["cubic"]
    before = virtual(tmp_path)
    assert prepared({"cubic": cubic}, before, built.append) == ({"cubic": cubic}, before)
    chosen = {name: quic[name] for name in ("search_quic", "cubic_quic", "hystartpp_ngtcp2")}
    senders, after = prepared({**chosen, "cubic": cubic}, before, built.append)
    assert built == ["building ngtcp2", "building quinn"]
    assert senders["cubic"] == cubic
    for name, sender in chosen.items():
        assert senders[name] == sender.model_copy(update={"module_digest": f"digest of {sender.stack}"})
    programs = {f"digest of {stack}": tmp_path / stack for stack in ("ngtcp2", "quinn")}
    assert after.own_modules == {**before.own_modules, **programs}
    assert (after.kernel, after.world) == (before.kernel, before.world)
