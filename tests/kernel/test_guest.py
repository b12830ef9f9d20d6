# SPDX-License-Identifier: GPL-2.0-or-later
"""A function of ours runs as root in a kernel booted for it; its answer, its errors and the kernel's log come back."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.backends import boot
from lab.backends.boot import Called
from lab.backends.records import TrialError
from lab.images.image import Image
from lab.kernel.build import Kernel
from tests.guest import sample as guest_sample


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel, world: Image) -> Called:
    folder = tmp_path_factory.mktemp("guest")
    return boot.call(guest_sample.looked_around, {"path": "/lab"}, folder, kernel, world.root)


def test_a_function_gets_its_arguments_and_answers_in_virtual_time_with_the_kernels_log(called: Called) -> None:
    assert set(called.result["entries"]) == {"lab", "tests"}
    assert called.result["uid"] == 0
    assert called.result["hour_s"] == pytest.approx(3600, abs=0.01)
    assert "Linux version" in called.log
    assert re.search(r"^tcp_\w+: loading out-of-tree module", called.log, re.MULTILINE)  # which is first, is theirs


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (guest_sample.failed, "^it could not be done$"),
        (guest_sample.broke, r"^bug in the node's code: KeyError\('a bug'\)$"),
        (guest_sample.crashed, "^virtual kernel: exit status .*panic"),
    ],
)
def test_what_goes_wrong_there_is_reported_here(
    tmp_path: Path, kernel: Kernel, world: Image, function: Callable[[], None], words: str
) -> None:
    with pytest.raises(TrialError, match=words):
        boot.call(function, {}, tmp_path, kernel, world.root)
    assert "Linux version" in (tmp_path / "kernel.log").read_text()
