# SPDX-License-Identifier: GPL-2.0-or-later
"""Every profile can be drawn, states what of it is data, may extend another, and warns of what is no capacity."""

import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml
from lab_compare.stand_ins import stand_in_of
from lab_formats.fetching.candidates import Mirror
from lab_formats.fetching.fetch import chosen, fetch

from lab.base import paths
from lab.base.errors import UserError
from lab.base.named_files import profile_files
from lab.base.paths import REPO
from lab.links.draw import Link, draw_link
from lab.links.faults import cautions
from lab.links.profile import OnDemand, Profile, load_profile, read_profile, series_of
from lab.links.shapes import shapes, write_steps
from lab.schema.topology import load_topology
from lab.traces import datasets, recording
from lab.traces.recording import Meaning, Recording
from tests.brief import error_of
from tests.traces_real import FOLDER, needs_real

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


MINE = """
title: a faster one
extends: wired-clean
down: {rate_mbps: 60}
recorded: []
assumed: [the rate]
"""


def test_it_has_the_fields_of_its_base_and_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text(MINE)
    mine, base = read_profile(tmp_path / "mine.yml"), load_profile("wired-clean", "test")
    assert mine.down.rate_mbps == 60
    assert mine.down.delay_ms == base.down.delay_ms
    assert mine.down.buffer_bdps == base.down.buffer_bdps
    assert mine.down.buffer_bytes == base.down.buffer_bytes
    assert mine.up == base.up
    assert mine.title == "a faster one"


def test_sources_are_its_own(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text(MINE.replace("assumed: [the rate]\n", ""))
    assert "mine.yml: assumed=: must be given" in error_of(read_profile, tmp_path / "mine.yml")


@pytest.mark.parametrize(
    ("base", "rule"),
    [
        ("nothing", "extends=nothing: must be a known profile of trace-profiles/: "),
        ("geo-viasat-36mb", "extends=geo-viasat-36mb: must be a profile that extends none itself"),
        ("[wired-clean]", r"extends=\['wired-clean'\]: must be a known profile"),
    ],
)
def test_a_base_that_cannot_be_one_is_refused(tmp_path: Path, base: str, rule: str) -> None:
    (tmp_path / "mine.yml").write_text(MINE.replace("extends: wired-clean", f"extends: {base}"))
    with pytest.raises(UserError, match=f"mine.yml: {rule}"):
        read_profile(tmp_path / "mine.yml")


def test_packets_are_chosen_from_whole_numbers() -> None:
    states = {"model": "choice", "values": [1, 1.5], "source": "made"}
    fields = {"frame_ms": 40, "guaranteed_pkts": states, "request_delay_ms": 560, "cap_bytes": 9000, "report": "new"}
    with pytest.raises(ValueError, match="guaranteed_pkts are chosen from whole numbers"):
        OnDemand.model_validate(fields)


def warned(folder: Path, meaning: Meaning | None) -> list[str]:
    """Shape a link by a recording of a meaning, and return the warnings."""
    frame = pl.DataFrame({"t_s": [0.0, 1.0, 2.0], "rate_down_mbps": [5.0, 6.0, 7.0]})
    recording.write(Recording(frame, "series", meaning, "made", "made", ()), folder / "rate.parquet")
    profile = yaml.safe_load((paths.PROFILES / "wired-clean.yml").read_text())
    profile["down"]["rate_mbps"] = {"file": "rate.parquet", "loop": True}
    (folder / "mine.yml").write_text(yaml.safe_dump(profile))
    return list(cautions("mine", read_profile(folder / "mine.yml")))


@pytest.mark.parametrize(
    ("meaning", "words"),
    [
        ("goodput", "is shaped by what TCP got there, which its congestion control had shaped already: a lower bound"),
        ("usage", "is shaped by what its users happened to send, which is no capacity"),
        (None, "is shaped by a rate whose source does not state whether the link was saturated"),
    ],
)
def test_a_rate_that_was_no_capacity_is_warned_of(tmp_path: Path, meaning: Meaning | None, words: str) -> None:
    assert warned(tmp_path, meaning) == [f"mine: down.rate_mbps: {words} (rate.parquet)"]


def test_a_capacity_is_not_warned_of_and_a_recording_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert warned(tmp_path, "capacity") == []
    warned(tmp_path, "goodput")
    (tmp_path / "rate.parquet").unlink()
    with pytest.raises(UserError, match=r"mine\.yml: down\.rate_mbps\.file=rate\.parquet: must be a file"):
        list(cautions("mine", read_profile(tmp_path / "mine.yml")))


LINK = REPO / "docs" / "tutorials" / "link.md"


def blocks(page: Path) -> list[str]:
    """Return the code blocks of a page, without their indentation."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", page.read_text(), re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE).strip() + "\n" for block in found]


def profiles() -> list[str]:
    """Return the first profile of the tutorial, and the same with each other `down` that the tutorial shows."""
    first, *others = (block for block in blocks(LINK) if re.search("^down:", block, re.MULTILINE))
    whole = yaml.safe_load(first)
    buffer = {"buffer_bdps": whole["down"]["buffer_bdps"]}
    changed = [yaml.safe_load(other)["down"] for other in others]
    return [
        first,
        *(yaml.safe_dump(whole | {"down": down if "buffer_bytes" in down else buffer | down}) for down in changed),
    ]


@pytest.mark.parametrize("profile", profiles())
def test_each_link_of_the_tutorial_is_a_profile(tmp_path: Path, profile: str) -> None:
    (tmp_path / "my-link.yml").write_text(profile)
    assert read_profile(tmp_path / "my-link.yml").title == "My link"


def test_the_error_that_the_tutorial_shows_is_the_one_that_a_user_gets(tmp_path: Path) -> None:
    (tmp_path / "my-link.yml").write_text(profiles()[0].replace("rate_mbps: 20", "rate_mbps: -3"))
    assert error_of(read_profile, tmp_path / "my-link.yml").replace(str(tmp_path), "trace-profiles") in LINK.read_text()
