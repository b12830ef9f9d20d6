# SPDX-License-Identifier: GPL-2.0-or-later
"""What the terminal names after Ctrl-C, whatever the broken-off work raised."""

from collections.abc import Iterator

import pytest

from lab.base.ctrl_c import pressed
from lab.base.errors import Interrupted, going_on


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C was pressed; nothing is pressed after the test."""
    pressed.set()
    yield
    pressed.clear()


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ImportError, SystemError])
@pytest.mark.usefixtures("ctrl_c")
def test_it_names_the_command_also_where_an_import_was_broken_off(raised: type[BaseException]) -> None:
    with pytest.raises(Interrupted, match=r"^lab report RUN$"), going_on(lambda: "lab report RUN"):
        raise raised


@pytest.mark.usefixtures("ctrl_c")
def test_it_names_none_before_a_run_was_begun() -> None:
    with pytest.raises(KeyboardInterrupt), going_on(lambda: None):
        raise KeyboardInterrupt


def test_an_error_without_ctrl_c_stays_what_it_is() -> None:
    with pytest.raises(ImportError), going_on(lambda: "lab report RUN"):
        raise ImportError
