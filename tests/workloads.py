# SPDX-License-Identifier: GPL-2.0-or-later
"""Workloads of tests, and what holds of their trials over TCP as over QUIC."""

from typing import Any

import polars as pl
import pytest

from lab.judge.outcome import outcome
from lab.judge.short_flow import short_flow
from lab.tables.stored_trial import Trial

CALLS = {"kind": "requests", "count": 4, "response_bytes": 200_000, "gap_s": 1.0, "gaps": "fixed"}
CHUNKS = {"kind": "video", "chunks": 3, "rate_mbps": 4, "chunk_s": 1, "buffer_s": 1.5, "spread": 0}
EVERY = [{"kind": "web", "pages": 2, "reading_s": 1}, {"kind": "web_archive", "pages": 1}, CHUNKS, CALLS]
ENDLESS = {"kind": "requests", "count": 5000, "response_bytes": 1_000_000, "gap_s": 0}
TINY = {"kind": "requests", "count": 3, "response_bytes": 1, "gap_s": 0.2}
MOST_S = 60


def objects_of(trial: Trial) -> list[Any]:
    return list(trial.meta["workload"]["objects"])


def require_certified_and_whole(trial: Trial) -> None:
    assert [check for check in trial.meta["certificate"]["checks"] if not check["ok"]] == []
    assert all(each["whole_s"] is not None for each in objects_of(trial))
    assert trial.meta["flows"][0]["bytes"] == sum(each["bytes"] for each in objects_of(trial))
    assert trial.meta["flows"][0]["seconds"] < MOST_S
    assert all(row["loss_agrees"] for row in outcome(trial))


def require_whole_with_the_last_byte(trial: Trial) -> None:
    data = trial.packets.filter(pl.col("to_client"), pl.col("flow") == 1, pl.col("len_bytes") > 0)
    had, end_bytes = data.with_columns(pl.col("seq_bytes") + pl.col("len_bytes") - 1), 0
    for each in objects_of(trial):
        end_bytes += each["bytes"]
        arrived_s = had.filter(pl.col("seq_bytes") >= end_bytes)["t_s"].min()
        assert each["whole_s"] == pytest.approx(arrived_s, abs=0.001)


def require_waits_for_the_buffer(trial: Trial) -> None:
    first, second, third = ((each["requested_s"], each["whole_s"]) for each in objects_of(trial))
    assert None not in (*first, *second, *third)
    assert second[0] == pytest.approx(first[1] + 0.5, abs=0.01)  # 1 s is there, 1.5 s fit
    assert third[0] == pytest.approx(first[1] + 1.5, abs=0.01)


def require_ended_at_its_time(trial: Trial) -> None:
    """Of ENDLESS, after three seconds."""
    assert trial.valid, trial.meta["certificate"]
    assert trial.meta["flows"][0]["seconds"] == pytest.approx(3)
    assert 1 <= len([each for each in objects_of(trial) if each["whole_s"] is not None]) < 20


def require_a_round_trip_each(trial: Trial) -> None:
    assert trial.valid, trial.meta["certificate"]
    assert short_flow(trial, None).objects_s[0] == pytest.approx(0.1, abs=0.01)
