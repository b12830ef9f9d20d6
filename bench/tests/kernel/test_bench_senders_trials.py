# SPDX-License-Identifier: GPL-2.0-or-later
"""What SEARCH costs stays within its bounds, and every sender of the lab is counted."""

import re
import shutil
from pathlib import Path

import pytest

from bench.senders import REFERENCE, VERSIONS, Counts, compiled, flow_bytes, instructions, replay_rate
from lab.base.paths import REPO
from lab.kernel.build import Kernel
from lab.senders.module import SOCKET_BYTES


@pytest.fixture(scope="module")
def counts(kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> Counts:
    if not shutil.which("valgrind"):
        pytest.skip("valgrind is not there, which counts instructions")
    return instructions(compiled(kernel, tmp_path_factory.mktemp("senders")))


@pytest.mark.parametrize("name", [name for name in VERSIONS if name != "search9_printed"])
def test_an_ack_in_slow_start_costs_at_most_a_quarter_more_than_cubic_s(counts: Counts, name: str) -> None:
    assert counts[name]["slow-start"] <= 1.25 * counts[REFERENCE]["slow-start"]


@pytest.mark.parametrize("name", VERSIONS)
def test_an_ack_after_slow_start_costs_no_more_than_cubic_s(counts: Counts, name: str) -> None:
    assert counts[name]["after"] <= counts[REFERENCE]["after"]


def test_every_sender_of_the_lab_s_modules_is_counted_and_the_kernel_s_own_two(counts: Counts) -> None:
    sources = [file for folder in ("search", "startup") for file in (REPO / "lab/kernel" / folder).glob("tcp_*.c")]
    assert set(counts) == {re.sub("^tcp_|_main$", "", file.stem) for file in sources} | {"cubic", "bbr"}


def test_a_sender_that_leaves_slow_start_while_it_is_counted_has_no_figure_for_it(counts: Counts) -> None:
    assert {name for name, own in counts.items() if "slow-start" not in own} == {"search9_printed", "best"}


def test_what_is_counted_is_the_hooks_and_not_the_counting(counts: Counts) -> None:
    assert 30 < counts["cubic_plain"]["slow-start"] < counts[REFERENCE]["slow-start"] < 300


def test_every_version_reports_the_memory_of_a_flow_and_3_1_fits_into_the_socket(kernel: Kernel) -> None:
    taken = flow_bytes(kernel)
    assert tuple(taken) == VERSIONS
    assert taken["search31"] <= SOCKET_BYTES < min(bytes_ for name, bytes_ in taken.items() if name != "search31")


@pytest.mark.parametrize("name", VERSIONS)
def test_ten_million_acks_a_second_are_replayed_from_python(search_library: Path, name: str) -> None:
    assert replay_rate(search_library, name, 2_000_000) > 10e6
