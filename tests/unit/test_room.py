# SPDX-License-Identifier: GPL-2.0-or-later
"""The room that trials need: records follow from their link; the disk, the memory, and which trials are missing."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab.backends.backend import Site
from lab.base.errors import UserError
from lab.commands.doctor import available_bytes, examine
from lab.links.draw import Link
from lab.links.steps import Steps
from lab.runs import missing, sizes
from lab.runs.options import RunOptions
from lab.runs.plan import MSS_BYTES, draw, make_plan
from lab.schema.workload import MOST_OBJECTS
from tests.brief import error_of
from tests.conftest import SMALL, experiment_on
from tests.stored_run import rewrite, store_run
from tests.whole.test_runs_that_fail import results, site, small

LINK = draw(experiment_on(SMALL, "cubic"), 1).link  # 20 Mb/s, 50 ms each way, a buffer of 500 kB
DURATION_S = 10


def memory_mb(link: Link) -> int:
    return sizes.memory_mb(link, DURATION_S, MSS_BYTES)


def down(**fields: object) -> Link:
    return replace(LINK, down=replace(LINK.down, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(("rtt_ms", "expected_us"), [(90.0, 1500), (1.0, 1000), (6000.0, 10_000)])
def test_a_queue_is_sampled_sixty_times_per_rtt_within_bounds(rtt_ms: float, expected_us: int) -> None:
    assert sizes.sample_us(replace(LINK, base_rtt_ms=rtt_ms)) == expected_us


def test_the_kernels_memory_holds_both_rings_and_sixteen_times_what_is_queued_or_in_flight() -> None:
    assert memory_mb(down(buffer_bytes=1_500_000)) == memory_mb(LINK) + 16
    for slower in (down(delay_ms=450.0), replace(LINK, up=replace(LINK.up, delay_ms=450.0))):
        assert memory_mb(slower) == memory_mb(LINK) + 16  # 400 ms of 20 Mb/s are 1 MB
    trace_mb = sizes.trace_kb(LINK, DURATION_S, MSS_BYTES) / 1024
    known_mb = 512 + trace_mb + sizes.ring_mb(LINK, MSS_BYTES) + 12
    assert known_mb <= memory_mb(LINK) < known_mb + 1


def test_the_capture_holds_two_seconds_of_headers_at_the_fastest() -> None:
    segments = 2 * 20e6 / 8 / MSS_BYTES
    assert 2 + 2 * segments * 192 / 1e6 <= sizes.ring_mb(LINK, MSS_BYTES) < 3 + 2 * segments * 192 / 1e6
    faster = down(rate_mbps=Steps.of([(0.0, 20.0), (1.0, 2000.0)]))
    assert sizes.ring_mb(faster, MSS_BYTES) > 50 * sizes.ring_mb(LINK, MSS_BYTES) / 2
    opportunities = [*((n / 100, 25_000.0) for n in range(100)), *((1 + n / 10, 2_500.0) for n in range(100))]
    followed = down(rate_mbps=None, opportunity_bytes=Steps.of(opportunities), mean_rate_mbps=2.0)
    assert sizes.ring_mb(followed, MSS_BYTES) == sizes.ring_mb(LINK, MSS_BYTES)  # 20 Mb/s in their first second
    assert memory_mb(followed) > memory_mb(down(mean_rate_mbps=2.0, rate_mbps=2.0))


def test_the_trace_holds_an_event_per_segment_and_per_sample_and_half_as_much_again() -> None:
    segments, samples = 20e6 / 8 * DURATION_S / MSS_BYTES, LINK.series_s * 1e6 / sizes.sample_us(LINK)
    events_kb = 1.5 * (segments * 160 + samples * 64) / 1024
    assert 1024 + events_kb <= sizes.trace_kb(LINK, DURATION_S, MSS_BYTES) < 1025 + events_kb


def test_the_trace_holds_the_fastest_seconds_of_a_link_that_changes() -> None:
    trial_s = LINK.series_s - 10  # its closing
    varying = {"rate_mbps": Steps.of([(0.0, 60.0), (trial_s / 3, 0.0)]), "mean_rate_mbps": 20.0}
    segments, samples = 60e6 / 8 * trial_s / 3 / MSS_BYTES, LINK.series_s * 1e6 / sizes.sample_us(LINK)
    events_kb = 1.5 * (segments * 160 + samples * 64) / 1024
    assert 1024 + events_kb <= sizes.trace_kb(down(**varying), 5, MSS_BYTES) < 1025 + events_kb


def test_the_trace_of_requests_is_no_longer_than_they_need() -> None:
    requested_kb = 1.5 * 2 * 1_448_000 / MSS_BYTES * 160 / 1024
    without = sizes.trace_kb(LINK, 600, MSS_BYTES, 0)
    assert sizes.trace_kb(LINK, 600, MSS_BYTES, 1_448_000) - without == pytest.approx(requested_kb, abs=1)
    objects_kb = 1.5 * MOST_OBJECTS * 160 / 1024
    samples_kb = 1.5 * LINK.series_s * 1e6 / sizes.sample_us(LINK) * 64 / 1024
    assert without == pytest.approx(1024 + objects_kb + samples_kb, abs=1)


__all__ = ["results", "site"]  # fixtures


def test_a_whole_trial_is_not_missing_and_a_damaged_one_or_one_of_another_run_is(tmp_path: Path, site: Site) -> None:
    folder = store_run(tmp_path, trials=2, senders=("cubic", "cubic_plain"))
    (folder / "trials" / "cubic-002" / "acks.parquet").write_bytes(b"damaged")
    file = folder / "trials" / "cubic_plain-001" / "trial.json"
    rewrite(file, json.loads(file.read_text()) | {"seed": 90})
    found = missing.missing_trials(small(), folder, site.backend, RunOptions(keep_capture=False))
    assert [(job.cca, job.number, job.keep_capture) for job in found] == [
        ("cubic_plain", 1, False),
        ("cubic", 2, False),
    ]
    assert found[1].folder == folder / "trials" / "cubic-002"


def free(monkeypatch: pytest.MonkeyPatch, free_bytes: float) -> None:
    usage: Callable[[Path], object] = lambda _: type("Usage", (), {"free": free_bytes})  # noqa: E731
    monkeypatch.setattr("shutil.disk_usage", usage)


@pytest.mark.parametrize(
    ("options", "packets"),
    [
        (RunOptions(workers=1), 1 + 0.08 * 3),
        (RunOptions(workers=8), 3 + 0.08 * 3),  # no more at the same time than there are
        (RunOptions(workers=1, keep_capture=False), 1 + 0.025 * 3),
    ],
)
def test_the_disk_must_hold_running_trials_and_the_share_that_stays(
    results: Path, site: Site, monkeypatch: pytest.MonkeyPatch, options: RunOptions, packets: float
) -> None:
    """20 Mb/s of 1,500 bytes for one second, half as much again, 200 bytes per packet."""
    needed = 1.5 * 20e6 / 8 / 1500 * 200 * packets
    free(monkeypatch, needed)
    missing.require_space(small(), 3, site.backend, options)
    free(monkeypatch, needed - 1)
    with pytest.raises(UserError, match=rf"^{results.parent}: free_bytes=.*: must be {round(needed)} for 3 trials$"):
        missing.require_space(small(), 3, site.backend, options)
    free(monkeypatch, 0)
    assert error_of(missing.require_space, small(), 1, site.backend, options).endswith(" for 1 trial")


def test_a_link_that_needs_more_memory_than_the_machine_has_is_refused_where_the_kernel_is_virtual(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(missing, "machine_mb", lambda: 100)
    with pytest.raises(UserError, match=r"memory_mb=\d+: must be at most 100, the memory .* for 1 trial at a time"):
        missing.require_possible(small(), site.backend, RunOptions(workers=1))
    missing.require_possible(small(), site.backend, RunOptions(scheduler="tcp://elsewhere:1"))
    missing.require_possible(small(), replace(site.backend, kind="host"), RunOptions())  # type: ignore[type-var]
    monkeypatch.setattr(missing, "machine_mb", lambda: 100_000)
    missing.require_possible(small(), site.backend, RunOptions())


@pytest.mark.parametrize(("jobs", "workers"), [(2, 2), (64, 6)])  # three trials of two senders need six workers at most
def test_each_worker_needs_the_memory_of_its_kernel_and_its_own(
    site: Site, monkeypatch: pytest.MonkeyPatch, jobs: int, workers: int
) -> None:
    experiment = experiment_on(SMALL, "cubic", "search", trials=3)
    (kernel_mb,) = {make_plan(experiment, cca, draw(experiment, 1))["memory_mb"] for cca in experiment.ccas.values()}
    needed_mb = workers * sizes.worker_mb(kernel_mb)
    monkeypatch.setattr(missing, "machine_mb", lambda: needed_mb)
    missing.require_possible(experiment, site.backend, RunOptions(workers=jobs))
    monkeypatch.setattr(missing, "machine_mb", lambda: needed_mb - 1)
    with pytest.raises(UserError, match=rf"memory_mb={needed_mb}: must be .* for {workers} trials .*: fewer --jobs$"):
        missing.require_possible(experiment, site.backend, RunOptions(workers=jobs))


# /proc/meminfo of a VM after 1.8 GB of files were read
FULL_FILE_CACHE = """\
MemTotal:        3050976 kB
MemFree:          211200 kB
MemAvailable:    2623040 kB
Buffers:           73012 kB
HugePages_Total:       0
"""


def test_memory_that_holds_files_counts_as_available() -> None:
    assert available_bytes(FULL_FILE_CACHE) == 2_623_040 * 1024


@pytest.mark.parametrize(
    ("cache", "access", "found"),
    [
        ("file", True, "/file: File exists"),
        ("file/below", True, "/below: Not a directory"),
        (".", False, ", read-only"),
    ],
)
def test_a_cache_that_cannot_be_written_is_named_among_what_a_machine_lacks(
    cache: str, access: bool, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / cache))
    monkeypatch.setattr("os.access", lambda *_: access)
    (disk,) = [finding for finding in examine() if finding.name == "disk"]
    assert not disk.ok
    assert disk.found.endswith(found)
