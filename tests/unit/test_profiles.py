# SPDX-License-Identifier: GPL-2.0-or-later
"""Every profile of the checkout can be drawn, states what of it is data, and gives a trial whose certificate holds."""

import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bench import stand_ins
from lab.base.named_files import profile_files
from lab.links.draw import Link, draw_link
from lab.links.profile import Profile, load_profile, series_of
from lab.links.shapes import shapes, write_steps
from lab.runs.stand_ins import stand_in_of
from lab.schema.topology import load_topology
from lab.traces import datasets
from lab.traces.candidates import Mirror
from lab.traces.fetch import chosen, fetch
from tests.traces_real import FOLDER, needs_real

DOC = stand_ins.DOC.read_text()
DURATION_S = 30  # of the papers' downloads
EVERY = list(profile_files())
REQUIRED = (
    "geo-viasat geo-klm leo-starlink leo-starlink-15s lte-tmobile lte-verizon lte-att wifi-strong wifi-weak wifi-high "
    "wifi-medium wifi-low wifi-office wifi-restaurant 5g-driving wired-clean"
).split()
PAPERS = r"thesis|WiFi paper|NetDev 0x18|poster|IPCCC 2022"
DOCUMENTS = rf"{PAPERS}|RFC \d+|Piece of CAKE|tc-\w+\(8\)|Linux|OpenWrt|DOCSIS 3.1 MULPI"
NOISY = set(REQUIRED) - {"wired-clean"}  # these differ from trial to trial


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The recordings that profiles name, in a cache of the test's own."""
    requested = {series.dataset for name in EVERY for _, series in series_of(load_profile(name, "test"))}
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "cache_folder", lambda: folder)
        list(fetch(chosen([name for name in requested if name], everything=False), Mirror(FOLDER)))
        yield


def drawn(profile: Profile, seed: int) -> Link:
    return draw_link(profile, DURATION_S, np.random.default_rng(seed))


def test_the_required_profiles_are_there() -> None:
    assert set(REQUIRED) <= set(EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_a_profile_states_where_each_value_is_from_and_survives_the_way_to_a_worker(name: str) -> None:
    profile = load_profile(name, "test")
    assert profile.recorded or not list(series_of(profile))
    assert profile.assumed  # none is data alone
    for entry in load_profile(name, "test").published:
        assert re.search(rf"\(({DOCUMENTS}), .+\)", entry), entry
    profile = load_profile(name, "test")
    assert pickle.loads(pickle.dumps(profile)) == profile  # noqa: S301 - our own bytes


@pytest.mark.parametrize("name", EVERY)
def test_every_recorded_profile_has_a_modelled_stand_in_and_no_other_one_has(name: str) -> None:
    profile = load_profile(name, "test")
    recorded = any(series.dataset for _, series in series_of(profile))
    assert recorded == (profile.stand_in is not None)
    stand_in = stand_in_of(profile)
    assert stand_in is None or not list(series_of(stand_in))


@pytest.mark.parametrize(("recorded", "stand_in"), list(stand_ins.pairs()))
@needs_real
@pytest.mark.usefixtures("fetched")
def test_a_stand_in_is_near_its_recording_as_the_table_of_the_docs_states(recorded: str, stand_in: str) -> None:
    theirs, own = (
        summarise(load_profile(name, "test"))
        for name, summarise in ((recorded, stand_ins.of_recording), (stand_in, stand_ins.of_model))
    )
    assert list(own.outside(theirs)) == []
    assert all(f"{stand_ins.row(f'`{n}`', each)}\n" in DOC for n, each in ((recorded, theirs), (stand_in, own)))


@needs_real
@pytest.mark.usefixtures("fetched")
@pytest.mark.parametrize("name", EVERY)
def test_every_profile_is_drawn_and_its_steps_are_written(name: str, tmp_path: Path) -> None:
    profile, topology = load_profile(name, "test"), load_topology("path", "test")
    links = [drawn(profile, seed) for seed in (1, 2)]
    for number, link in enumerate(links):
        write_steps(profile, link, tmp_path / str(number))
        files = {Path(shape["steps"]).name for shape in shapes(profile, link, topology, 1) if shape["steps"]}
        assert files == {file.name for file in (tmp_path / str(number)).iterdir()}
        assert link.mean_rate_mbps > 0
        assert 0 < link.base_rtt_ms < 1200
        assert (link.down.buffer_bytes or 0) >= 1514
    if name in NOISY:
        assert len({repr((link.start_phase_s, link.mean_rate_mbps, link.base_rtt_ms)) for link in links}) == 2
