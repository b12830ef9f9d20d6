# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of parts run one to a processor (pytest -n auto): a second process for each would cost its imports only."""

from collections.abc import Iterator

import pytest

from lab.base import processes


@pytest.fixture(scope="session", autouse=True)
def _one_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "processors", lambda: 1)
        yield
