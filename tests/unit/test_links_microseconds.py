# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's steps are at least a microsecond apart: what lies closer in a model or a recording is joined."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from lab.links.draw import Link, draw_link
from lab.links.profile import Profile, read_profile
from lab.links.shapes import write_steps
from lab.links.steps import Steps

DOWN: dict[str, Any] = {"rate_mbps": 10, "delay_ms": 10, "buffer_bytes": 50_000}
CLOSE = [(0.0, 1.0), (4e-7, 2.0), (0.01, 3.0), (0.01 + 3e-7, 4.0), (0.01 + 4e-7, 5.0), (0.02, 6.0)]


def profile(folder: Path, up: dict[str, Any]) -> Profile:
    file = folder / "mine.yml"
    file.write_text(yaml.safe_dump({"title": "t", "down": DOWN, "up": up, "recorded": [], "assumed": []}))
    return read_profile(file)


def written(stated: Profile, link: Link, part: str, folder: Path) -> list[list[str]]:
    write_steps(stated, link, folder / "link")
    return [line.split("\t") for line in (folder / "link" / f"{part}.tsv").read_text().splitlines()[:-1]]


def of_trial(stated: Profile) -> Link:
    return draw_link(stated, 10.0, np.random.default_rng(1))


def test_of_the_rates_and_delays_within_a_microsecond_the_last_holds(tmp_path: Path) -> None:
    stated = profile(tmp_path, {"delay_ms": 10})
    link = of_trial(stated)
    changing = replace(link, down=replace(link.down, rate_mbps=Steps.of(CLOSE), delay_ms=Steps.of(CLOSE)))
    rates = written(stated, changing, "bottleneck", tmp_path)
    assert rates == [["0", "2000000"], ["10000", "5000000"], ["20000", "6000000"]]
    delays = written(stated, changing, "delay-down", tmp_path)
    assert delays == [["0", "2000", "0"], ["10000", "5000", "0"], ["20000", "6000", "0"]]


def test_of_the_opportunities_within_a_microsecond_none_is_lost(tmp_path: Path) -> None:
    stated = profile(tmp_path, {"delay_ms": 10})
    link = of_trial(stated)
    opportunities = Steps.of((t_s, 1514.0) for t_s, _ in CLOSE[2:])
    changing = replace(link, down=replace(link.down, opportunity_bytes=opportunities))
    assert written(stated, changing, "bottleneck", tmp_path) == [["0", "0"], ["10000", "4542"], ["20000", "1514"]]
