# SPDX-License-Identifier: GPL-2.0-or-later
"""The same trial twice is the same packets at the same microsecond, whatever came before and beside it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import polars as pl
import pytest

from lab.tables.stored_trial import TABLES, Trial
from tests.conftest import LOSSY, SMALL, Bench, experiment_on, with_lines
from tests.processors import ALL, bound_to

LINKS = {"cubic_plain": SMALL, "search": LOSSY, "bbr": SMALL}  # netem draws losses, BBR its phases


@contextmanager
def busy(core: int) -> Iterator[None]:
    """Another program that wants the core for itself."""
    with bound_to({core}):
        loop = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


@pytest.fixture(scope="module", params=LINKS)
def twice(request: pytest.FixtureRequest, bench: Bench) -> tuple[Trial, Trial]:
    """A trial alone on the first core, and again on the last one beside a busy loop."""
    cca = request.param
    with bound_to(ALL[:1]):
        first = bench.run(experiment_on(LINKS[cca], cca, duration_s=3), cca, "first")
    with busy(ALL[-1]), bound_to(ALL[-1:]):
        second = bench.run(experiment_on(LINKS[cca], cca, duration_s=3), cca, "second")
    return first, second


def test_the_same_trial_gives_the_same_capture_byte_for_byte(twice: tuple[Trial, Trial]) -> None:
    first, second = ((trial.path / "client.pcapng.zst").read_bytes() for trial in twice)
    assert first == second


@pytest.mark.parametrize("table", TABLES)
def test_the_same_trial_gives_the_same_table(twice: tuple[Trial, Trial], table: str) -> None:
    first, second = (pl.read_parquet(trial.path / f"{table}.parquet") for trial in twice)
    assert first.equals(second)


def test_the_same_trial_gives_the_same_record(twice: tuple[Trial, Trial]) -> None:
    first, second = twice
    assert first.meta == second.meta


def test_another_seed_gives_other_packets(bench: Bench) -> None:
    captures = []
    for name, seed in (("first", 1), ("other-seed", 2)):
        trial = bench.run(experiment_on(LINKS["bbr"], "bbr", duration_s=3, seed=seed), "bbr", name)
        captures.append((trial.path / "client.pcapng.zst").read_bytes())
    assert captures[0] != captures[1]


BEGUN = {"bbr": SMALL, "cubic": LOSSY}  # BBR draws its phase; both draw sequence numbers, offsets and ports
MORE = [  # leave nothing that packets meet
    "head -c 1000 /dev/urandom >/dev/null",
    "sleep 0.371234567",
    "for line in 1 2 3; do ip link show >/dev/null; done",
    "ip link add dev more type veth peer name most",  # whose hardware addresses are drawn
]


@pytest.mark.parametrize("cca", BEGUN)
def test_packets_do_not_depend_on_what_came_before_them(bench: Bench, cca: str) -> None:
    experiment = experiment_on(BEGUN[cca], cca, duration_s=2)
    usual = bench.run(experiment, cca, "usual-beginning")
    other = bench.run(with_lines(experiment, *MORE), cca, "later-beginning")
    assert usual.packets.height > 100
    assert usual.packets.equals(other.packets)
    assert usual.table("qdisc").equals(other.table("qdisc"))
