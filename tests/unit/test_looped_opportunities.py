# SPDX-License-Identifier: GPL-2.0-or-later
"""A mahimahi trace repeats as mm-link repeats it; a file that a profile names is refused before a trial meets it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from lab.base.errors import UserError
from lab.commands.inventory import check_all
from lab.links import faults
from lab.links.draw import draw_link
from lab.links.profile import Profile, read_profile
from lab.links.recorded import Series, load_opportunities, load_series

FIELD = Path(__file__).parents[1] / "data/field/profiles"


def series(folder: Path, lines: str, loop: bool = True, **more: Any) -> Series:
    (folder / "link.trace").write_text(lines)
    return Series(file="link.trace", format="mahimahi", loop=loop, **more)


def instants(folder: Path, lines: str, until_ms: float, phase_ms: float = 0.0, loop: bool = True) -> list[float]:
    """Return each opportunity of a window in ms, as often as packets may pass."""
    found = load_opportunities(series(folder, lines, loop), folder / "mine.yml", "down.opportunities")
    window = found.window(phase_ms / 1e3, until_ms / 1e3).rows()
    return [round(t_s * 1e3, 6) for t_s, size_bytes in window for _ in range(round(size_bytes / 1514))]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("1\n", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),  # 12 Mb/s, the usual constant trace
        ("5\n", [5, 10]),
        ("2\n3\n7\n", [2, 3, 7, 9, 10]),  # the last line is both a packet and the period
        ("0\n4\n", [4, 4, 8, 8, 12, 12]),  # a packet at 0 leaves as the loop before ends
        ("4\n4\n6\n", [4, 4, 6, 10, 10, 12]),
    ],
)
def test_the_last_line_is_a_packet_and_the_period(tmp_path: Path, lines: str, expected: list[float]) -> None:
    assert instants(tmp_path, lines, until_ms=12) == expected


def test_a_loop_is_read_as_often_as_needed_and_a_window_may_begin_anywhere(tmp_path: Path) -> None:
    assert instants(tmp_path, "2\n3\n7\n", until_ms=10, phase_ms=2.5) == [0.5, 4.5, 6.5, 7.5]
    found = instants(tmp_path, "400\n1500\n", until_ms=6000)
    assert found == [400, 1500, 1900, 3000, 3400, 4500, 4900, 6000]


@pytest.mark.parametrize("lines", ["1\n", "1\n2\n3\n4\n", "0\n1\n2\n10\n", "3\n6\n9\n12\n25\n"])
def test_a_trace_as_a_rate_carries_what_its_packets_do(tmp_path: Path, lines: str) -> None:
    found = load_series(series(tmp_path, lines), ("rate_mbps",), tmp_path / "mine.yml", "down.rate_mbps")
    count, period_ms = len(lines.split()), int(lines.split()[-1])
    assert found.length_s == period_ms / 1e3
    assert found.nominal() == pytest.approx(count * 1514 * 8 / period_ms / 1e3)


@pytest.mark.parametrize("lines", ["0\n", "0\n0\n"])
def test_a_trace_that_does_not_last_is_refused(tmp_path: Path, lines: str) -> None:
    with pytest.raises(
        UserError, match=r"link\.trace: must be a recording whose last delivery opportunity is after 0 ms"
    ):
        instants(tmp_path, lines, until_ms=12)


def profile(folder: Path, **opportunities: Any) -> Profile:
    down = {"opportunities": opportunities, "delay_ms": 30, "buffer_bytes": 90_000}
    file = folder / "mine.yml"
    file.write_text(yaml.safe_dump({"title": "t", "down": down, "up": {"delay_ms": 30}, "recorded": [], "assumed": []}))
    return read_profile(file)


@pytest.mark.parametrize(
    ("lines", "series", "words"),
    [
        (None, {"loop": True}, "down.opportunities.file=link.trace: must be a file in the folder of the profile"),
        (
            "1\n",
            {"loop": True},
            "down.opportunities.format=: must be given, because the content of link.trace does not",
        ),
        ("words\n", {"loop": True}, "down.opportunities.file=link.trace: must be a file of a known format"),
        ("1\n", {"format": "mahimahi"}, "series=link.trace: must be as long as the trial until all is closed"),
        ("3\n1\n", {"format": "mahimahi", "loop": True}, "link.trace: line 2: t_ms=1: must be no less than 3"),
    ],
)
def test_check_names_a_file_that_no_trial_can_use(
    tmp_path: Path, lines: str | None, series: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if lines is not None:
        (tmp_path / "link.trace").write_text(lines)
    (fault,) = faults.faults(profile(tmp_path, file="link.trace", **series))
    assert words in str(fault)
    assert "--" not in str(fault).replace("import FILE --out", "")
    monkeypatch.setenv("LAB_PROFILES", str(tmp_path))
    with pytest.raises(UserError, match=r"mine|link\.trace"):
        list(check_all())


def test_check_names_every_fault_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile(tmp_path, file="nowhere.trace")
    (tmp_path / "other.yml").write_text((tmp_path / "mine.yml").read_text().replace("nowhere", "no-place"))
    monkeypatch.setenv("LAB_PROFILES", str(tmp_path))
    with pytest.raises(UserError) as refused:
        list(check_all())
    assert [line.split("=")[1].split(":")[0] for line in str(refused.value).split("\n")] == [
        "nowhere.trace",
        "no-place.trace",
    ]


def test_a_recording_short_for_the_usual_trial_is_a_caution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link.trace").write_text("".join(f"{t_ms}\n" for t_ms in range(1, 20_000)))
    profile(tmp_path, file="link.trace", format="mahimahi")
    monkeypatch.setenv("LAB_PROFILES", str(tmp_path))
    lines = [line for line in check_all() if "link.trace" in line]
    assert len(lines) == 1
    assert "must be as long as the trial" in lines[0]
    assert lines[0].endswith("that is a trial of 'lab run --profile mine' without --duration")


def test_the_usual_constant_trace_is_a_link_of_12_mbps() -> None:
    link = draw_link(read_profile(FIELD / "mahimahi-one-line.yml"), 10.0, np.random.default_rng(1))
    assert link.mean_rate_mbps == pytest.approx(12 * 1514 / 1500, rel=1e-4)
