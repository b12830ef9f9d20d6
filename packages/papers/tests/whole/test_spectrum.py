# SPDX-License-Identifier: GPL-2.0-or-later
"""The cycle that is in the round trips is the one that is found, whatever the clock does; and none is made up."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from lab_papers.evaluation.spectrum import PUBLISHED, spectrum
from lab_papers.figures import rtt_spectrum

from lab.base.errors import UserError
from lab.figures.save import svg
from lab.traces import importers
from lab.traces.recording import Recording
from tests.brief import present
from tests.command import lab_ok
from tests.traces_real import needs_real, real

RNG = np.random.default_rng(7)


def series(t_s: np.ndarray, rtt_ms: np.ndarray | pl.Series) -> Recording:
    return of_frame(pl.DataFrame({"t_s": t_s, "rtt_ms": rtt_ms}))


def of_frame(frame: pl.DataFrame) -> Recording:
    return Recording(frame, "series", None, "test", "made", ())


def swinging(
    cycle_s: float, min_rtt_ms: float, step_s: float, seconds: float, keep: float = 1.0, uneven: float = 0.0
) -> Recording:
    """Round trips that swing by a tenth of their minimum, with some noise and drift."""
    t_s = np.arange(0, seconds, step_s)
    t_s[1:] += RNG.uniform(-uneven, uneven, t_s.size - 1) * step_s
    swing = 1 + np.sin(2 * np.pi * t_s / cycle_s)
    rtt_ms = min_rtt_ms * (1 + 0.05 * swing) + RNG.normal(0, min_rtt_ms / 200, t_s.size) + 0.02 * t_s
    rtt_ms -= rtt_ms.min() - min_rtt_ms
    known = pl.Series(RNG.random(t_s.size) < keep)
    return of_frame(series(t_s, rtt_ms).frame.with_columns(pl.when(known).then("rtt_ms").alias("rtt_ms")))


@pytest.mark.parametrize(("cycle_s", "min_rtt_ms", "rtts"), [(2.0, 600.0, 3.33), (0.1, 30.0, 3.33), (0.17, 60.0, 2.8)])
def test_the_published_cycles_are_found_where_they_are(cycle_s: float, min_rtt_ms: float, rtts: float) -> None:
    assert (cycle_s, min_rtt_ms, rtts) in PUBLISHED.values()
    found = spectrum(swinging(cycle_s, min_rtt_ms, min_rtt_ms / 5e3, min_rtt_ms / 5))
    assert found.peaks["cycle_s"][0] == pytest.approx(cycle_s, rel=0.02)
    assert found.peaks["cycle_rtts"][0] == pytest.approx(rtts, abs=0.1)
    assert found.peaks["amplitude_ms"][0] == pytest.approx(0.05 * min_rtt_ms, rel=0.1)
    assert found.rise is not None
    assert found.rise > 0.8


@pytest.mark.parametrize(
    ("what", "words"),
    [({"keep": 0.85}, r"are missing.*bridged by straight lines"), ({"uneven": 0.3}, "clock is uneven")],
)
def test_lost_probes_are_bridged_uneven_clocks_resampled_both_reported(what: dict[str, float], words: str) -> None:
    found = spectrum(swinging(2.0, 600.0, 0.1, 120, **what))
    assert found.peaks["cycle_s"][0] == pytest.approx(2.0, rel=0.03)
    assert any(re.search(words, note) for note in found.notes)
    assert spectrum(swinging(2.0, 600.0, 0.1, 60)).notes == ()


def test_noise_alone_has_no_cycle_and_windows_in_a_long_gap_are_left_out() -> None:
    whole = swinging(2.0, 600.0, 0.1, 200)
    gap = pl.col("t_s").is_between(60, 120)
    frame = whole.frame.with_columns(pl.when(~gap).then("rtt_ms").alias("rtt_ms"))
    found = spectrum(of_frame(frame))
    assert found.windows < spectrum(whole).windows
    assert found.peaks["cycle_s"][0] == pytest.approx(2.0, rel=0.02)
    assert any("left out" in note for note in found.notes)
    rise = present(spectrum(series(np.arange(20_000) * 0.01, 30 + np.abs(RNG.normal(0, 2, 20_000)))).rise)
    assert rise < 0.2
    found = spectrum(series(np.arange(500) * 0.01, np.full(500, 30.0)))
    assert svg(rtt_spectrum.draw(found, "constant").figure)
    assert found.table["amplitude_ms"].max() == pytest.approx(0, abs=1e-9)


def test_a_one_way_delay_counts_twice_and_that_is_reported_as_what_the_sampling_cannot_show() -> None:
    found = spectrum(of_frame(swinging(2.0, 600.0, 0.1, 60).frame.rename({"rtt_ms": "delay_ms"})))
    assert found.min_rtt_ms == 1200
    assert any("taken as twice" in note for note in found.notes)
    found = spectrum(swinging(5.0, 30.0, 0.1, 120))
    assert found.shortest_rtts == pytest.approx(2 * 100 / 30)
    assert any("Sampled too seldom" in note for note in found.notes)


@pytest.mark.parametrize(
    ("recording", "words"),
    [
        (Recording(pl.DataFrame({"rtt_ms": [1.0] * 100}), "samples", None, "t", "made", ()), "t_s: must be given"),
        (swinging(2.0, 600.0, 0.1, 3), "must be 64 round trips or more"),
        (
            Recording(
                pl.DataFrame({"t_s": [0.0, 1.0], "rate_down_mbps": [1.0, 2.0]}), "series", "usage", "t", "made", ()
            ),
            "must be 64 round trips or more",
        ),
    ],
)
def test_what_has_no_round_trips_to_transform_is_refused(recording: Recording, words: str) -> None:
    with pytest.raises(UserError, match=words):
        spectrum(recording)


@pytest.mark.parametrize("window_s", [0.1, -1.0])
def test_a_window_of_too_few_values_is_refused(window_s: float) -> None:
    with pytest.raises(UserError, match=r"window_s=.*: must be at least 64 samples a window"):
        spectrum(swinging(2.0, 600.0, 0.1, 60), window_s)


@needs_real
@pytest.mark.parametrize("name", ["leo-leocc/delay_example", "leo-leocc-fork/delay_1", "leo-leocc-fork/delay_13"])
def test_starlinks_recorded_delay_swings_every_77_ms(name: str) -> None:
    found = spectrum(importers.read(real(f"{name}.txt"), "leocc"))
    assert found.peaks["cycle_s"][0] == pytest.approx(0.077, abs=0.002)


@needs_real
def test_the_command_shows_the_published_cycles_beside_the_recorded_one(tmp_path: Path) -> None:
    file = real("leo-leocc/delay_example.txt")
    done = lab_ok(tmp_path, "traces", "spectrum", str(file), "--format", "leocc", "--out", str(tmp_path), COLUMNS="80")
    assert all(rtts in done.stdout for rtts in ("3.33", "3.75", "2.80"))
    assert "dominant here" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("/")) <= 80
