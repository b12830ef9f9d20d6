# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of parts run one to a processor (pytest -n auto): a second process for each would cost its imports only.

What the session loads lives as long as it does: it is not searched for garbage, neither now nor with each test.
"""

import gc
from collections.abc import Iterator

import pytest

from lab.base import workers


@pytest.fixture(scope="session", autouse=True)
def one_process() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "processors", lambda: 1)
        yield


def pytest_collection() -> None:
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()
