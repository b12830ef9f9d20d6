# SPDX-License-Identifier: GPL-2.0-or-later
"""A buffer that is drawn for each trial: it follows its model, moves nothing else, and fits a frame."""

from pathlib import Path

import numpy as np
import pytest

from lab.base.errors import UserError
from tests.unit.test_links_draw import SIMPLE, drawn, profile, refusal

BUFFERS = {"model": "lognormal", "mean": 100_000, "sd": 80_000, "least": 1514, "source": "test"}


def test_a_buffer_drawn_for_each_trial_differs_between_seeds_and_follows_its_model(tmp_path: Path) -> None:
    requested = profile(tmp_path, {**SIMPLE, "buffer_bytes": BUFFERS})
    sizes = [drawn(requested, seed).down.buffer_bytes or 0 for seed in range(300)]
    assert sizes[0] == drawn(requested, 0).down.buffer_bytes
    assert len(set(sizes)) > 290  # of 300: two may round to the same byte
    assert min(sizes) >= 1514
    assert np.mean(sizes) == pytest.approx(100_000, rel=0.15)


def test_a_drawn_buffer_leaves_the_rate_and_the_delays_of_its_trial_as_they_were(tmp_path: Path) -> None:
    uniform = {"model": "uniform", "least": 5, "most": 50, "source": "test"}
    down = {"rate_mbps": uniform, "delay_ms": uniform, "buffer_bytes": 50_000}
    with_constant, with_model = (
        drawn(profile(tmp_path, {**down, "buffer_bytes": size}), seed=7) for size in (50_000, BUFFERS)
    )
    assert (with_constant.down.rate_mbps, with_constant.base_rtt_ms) == (
        with_model.down.rate_mbps,
        with_model.base_rtt_ms,
    )


def test_a_drawn_buffer_smaller_than_a_frame_is_refused(tmp_path: Path) -> None:
    tiny = {"model": "uniform", "least": 100, "most": 1000, "source": "test"}
    assert "down.buffer_bytes=" in (reported := refusal(profile(tmp_path, {**SIMPLE, "buffer_bytes": tiny})))
    assert "must be at least one frame of 1514 bytes" in reported


def test_a_buffer_of_an_unknown_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="buffer_bytes"):
        profile(tmp_path, {**SIMPLE, "buffer_bytes": {"model": "levels", "mean": 1e5, "sd": 1, "period_s": 1}})
