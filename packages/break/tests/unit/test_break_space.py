# SPDX-License-Identifier: GPL-2.0-or-later
"""Bounds: what they may hold, and the links at their ends."""

from pathlib import Path

import pytest
import yaml
from lab_break.space import FOLDER, Value, content_of, load_bounds, profile_of

from lab.base.errors import UserError
from lab.links.models import Schedule
from lab.links.profile import read_profile

WHOLE = {
    "title": "two numbers",
    "duration_s": 10,
    "rate_mbps": {"least": 1, "most": 20, "usual": 10, "scale": "log"},
    "delay_ms": 20,
    "buffer_bdps": 1,
}


def written(folder: Path, **changed: object) -> Path:
    file = folder / "own.yml"
    file.write_text(yaml.safe_dump({**WHOLE, **changed}))
    return file


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"rate_mbps": 5}, "must be bounds with a range: all parameters are numbers"),
        ({"rate_mbps": {"least": 20, "most": 1, "usual": 10}}, "must be a range with least below most"),
        ({"rate_mbps": {"least": 1, "most": 20, "usual": 30}}, "must be a range whose usual value lies within it"),
        ({"rate_mbps": {"least": 0, "most": 2, "usual": 1, "scale": "log"}}, "must be a range above 0"),
        ({"rate_mbps": {"least": -1, "most": 20, "usual": 10}}, "down.rate_mbps=-1.0: must be"),
        ({"rate_mbps": {"least": 1, "most": 10_000, "usual": 10}, "delay_ms": 900}, "must be at most"),
        ({"jitter": ["none", "none"]}, "must be a list of jitter that names each model once"),
        ({"jitter": ["wobble"]}, "must be 'none', 'random', 'cycle' or 'frames'"),
        ({"loss": 1}, "own.yml: loss=1: must be left out: it is not a field"),
    ],
)
def test_bounds_that_hold_no_search_are_refused(tmp_path: Path, changed: dict[str, object], line: str) -> None:
    with pytest.raises(UserError) as refused:
        load_bounds(str(written(tmp_path, **changed)))
    assert line in str(refused.value)
    assert str(refused.value).startswith(str(tmp_path / "own.yml"))
    assert "\n" not in str(refused.value)


def test_bounds_that_are_empty_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "own.yml"
    file.write_text("")
    with pytest.raises(UserError, match="content=None: must be"):
        load_bounds(str(file))


def test_unknown_bounds_name_those_that_are_known() -> None:
    with pytest.raises(
        UserError, match="must be one of access-lossless, access, geo, handover, uplink, wifi, or a path"
    ):
        load_bounds("satellite")


@pytest.mark.parametrize("name", [file.stem for file in FOLDER.glob("*.yml")])
def test_bounds_that_come_with_the_lab_can_be_searched(name: str) -> None:
    bounds = load_bounds(name)
    assert {*bounds.ranges} <= {*bounds.usual}


@pytest.mark.parametrize("jitter", ["none", "random", "cycle", "frames"])
@pytest.mark.parametrize(
    "changed", [{}, {"step_factor": 0.5}, {"loss_pct": 1.0}, {"return_loss_pct": 50.0}, {"detour_ms": 200.0}]
)
def test_a_point_is_a_profile_that_the_lab_reads(tmp_path: Path, jitter: str, changed: dict[str, Value]) -> None:
    point = load_bounds("access").usual | {"jitter": jitter} | changed
    file = tmp_path / "link.yml"
    file.write_text(yaml.safe_dump(content_of(point)))
    assert read_profile(file).model_dump() == profile_of(point, file).model_dump()


def test_a_usual_link_has_a_short_file() -> None:
    content = content_of(load_bounds("access").usual)
    assert content["down"] == {"rate_mbps": 20, "delay_ms": 15, "buffer_bdps": 1}
    assert content["up"] == {"delay_ms": 15}


def test_no_buffer_is_smaller_than_the_least() -> None:
    point = load_bounds("access").usual | {"rate_mbps": 1.0, "buffer_bdps": 0.1}
    assert content_of(point)["down"]["buffer_bytes"] == 15_140


def test_the_least_buffer_can_be_searched() -> None:
    bounds = load_bounds("uplink")
    assert "buffer_bytes_at_least" in bounds.ranges
    assert content_of(bounds.usual | {"buffer_bytes_at_least": 200_000.0})["down"]["buffer_bytes"] == 200_000


def steps(value: object) -> list[tuple[float, float]]:
    assert isinstance(value, Schedule)
    return [(step.from_s, step.value) for step in value.steps]


def test_a_handover_makes_the_way_there_longer_and_ack_losses_lie_on_the_way_back() -> None:
    point = load_bounds("handover").usual | {"detour_ms": 200.0, "detour_at_s": 0.5, "return_loss_pct": 60.0}
    profile = profile_of(point, Path("link.yml"))
    assert steps(profile.down.delay_ms) == [(0, 15), (0.5, 215)]
    assert steps(profile.up.loss_pct) == [(0, 0), (0.001, 60)]
    assert (profile.up.delay_ms, profile.down.loss_pct, profile.series_begin) == (15, 0, "data")
