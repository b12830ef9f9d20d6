# SPDX-License-Identifier: GPL-2.0-or-later
"""Trials that share a boot of the virtual kernel are those of a boot of their own, byte for byte, at each place."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.links.profile import Profile, load_profile
from lab.node.beginning import MOST_PLANS
from lab.runs import one_boot
from lab.runs.experiment import Experiment
from lab.runs.pool import attempt_in_turn
from lab.runs.trial import Job, run_trial
from lab.tables.digests import SUMS
from lab.tables.kernel_log import STORED as LOG
from lab.tables.kernel_log import read_log
from lab.tables.stored_trial import Trial
from tests.conftest import LOSSY, SMALL, Bench, experiment_on, with_lines


def links() -> dict[str, tuple[Profile, str, int]]:
    """Return links by what their kernel part depends on, each with a sender and a duration in s."""
    return {
        "random loss": (LOSSY, "cubic", 3),
        "BBR's random phase": (SMALL, "bbr", 3),
        "SEARCH": (SMALL, "search", 3),
        "connections that outlive their programs": (load_profile("geo-viasat", "test"), "cubic_plain", 3),
        "a clock of frames": (load_profile("geo-small", "test"), "cubic_plain", 6),
        "delivery opportunities and delays": (load_profile("wifi-strong", "test"), "search", 3),
    }


def jobs(bench: Bench, experiment: Experiment, folder: Path, numbers: list[int]) -> list[Job]:
    (cca,) = experiment.scenario.ccas
    trials = folder / "trials"
    return [Job(experiment, cca, number, trials / f"{cca}-{number:03d}", bench.backend) for number in numbers]


def digests(trial: Path) -> dict[str, str]:
    """Return the digest of each stored file; what the kernel printed is that of its boot."""
    lines = [line.split() for line in (trial / SUMS).read_text().splitlines()]
    found = {name: digest for digest, name in lines}
    assert len(found) > 8
    return {name: digest for name, digest in found.items() if name != LOG}


@pytest.mark.parametrize("link", links())
def test_a_trial_is_the_same_at_each_place_in_a_boot(bench: Bench, tmp_path: Path, link: str) -> None:
    profile, cca, duration_s = links()[link]
    experiment = experiment_on(profile, cca, duration_s=duration_s, trials=4)
    for job in jobs(bench, experiment, tmp_path / "alone", [1, 2, 3]):
        run_trial(job)
    assert all(one_boot.run(jobs(bench, experiment, tmp_path / "together", [4, 3, 1, 2])))
    for name in (f"{cca}-001", f"{cca}-002", f"{cca}-003"):
        alone, together = (digests(tmp_path / how / "trials" / name) for how in ("alone", "together"))
        assert alone == together, name
    assert not list((tmp_path / "together" / "trials").glob(".*"))


def test_a_trial_of_a_workload_is_the_same_behind_others(bench: Bench, tmp_path: Path) -> None:
    slow = {"rate_mbps": 1.0, "delay_ms": 10.0, "buffer_bytes": 6200, "queue": {"kind": "pie"}}
    profile = Profile.model_validate(SMALL.model_dump() | {"down": slow, "up": {"delay_ms": 10.0}})
    experiment = experiment_on(profile, "cubic", duration_s=5, trials=3, workload={"kind": "video"})
    (alone,) = jobs(bench, experiment, tmp_path / "alone", [2])
    run_trial(alone)
    together = jobs(bench, experiment, tmp_path / "together", [1, 3, 2])
    assert all(one_boot.run(together))
    assert digests(together[-1].folder) == digests(alone.folder)


def test_the_last_trial_of_a_full_boot_is_the_same_too(bench: Bench, tmp_path: Path) -> None:
    experiment = experiment_on(SMALL, "cubic", duration_s=2, trials=MOST_PLANS)
    (alone,) = jobs(bench, experiment, tmp_path / "alone", [MOST_PLANS])
    run_trial(alone)
    (boot,) = one_boot.boots(jobs(bench, experiment, tmp_path / "together", [*range(1, MOST_PLANS + 1)]), MOST_PLANS)
    assert all(one_boot.run(boot))
    assert digests(boot[-1].folder) == digests(alone.folder)


def test_a_boot_over_a_queue_with_a_clock_of_32_bits_has_four_trials_and_the_last_is_the_same_too(
    bench: Bench, tmp_path: Path
) -> None:
    fields = SMALL.model_dump()
    fields["down"] |= {"buffer_bytes": 100_000, "queue": {"kind": "fq_codel"}}
    experiment = experiment_on(Profile.model_validate(fields), "cubic", duration_s=2, trials=5)
    (alone,) = jobs(bench, experiment, tmp_path / "alone", [4])
    run_trial(alone)
    first, second = one_boot.boots(jobs(bench, experiment, tmp_path / "together", [1, 2, 3, 4, 5]), MOST_PLANS)
    assert (len(first), len(second)) == (4, 1)
    assert all(one_boot.run(first))
    assert digests(first[-1].folder) == digests(alone.folder)


def test_a_module_that_an_earlier_trial_gave_other_parameters_is_not_used(bench: Bench, tmp_path: Path) -> None:
    saved = {"saved_cwnd_pkts": 100, "saved_rtt_us": 40_000}
    known = experiment_on(SMALL, "careful_resume", duration_s=1)
    plain, changed = (
        replace(known, ccas={name: cca.model_copy(update={"params": params}) for name, cca in known.ccas.items()})
        for params in (saved, saved | {"path_changed": 1})
    )
    alone, first, second = (
        jobs(bench, each, tmp_path / name, [1])[0] for name, each in (("a", plain), ("b", changed), ("c", plain))
    )
    run_trial(alone)
    assert [bool(found) for found in one_boot.run([first, second])] == [True, False]
    assert not any(isinstance(result, str) for result in attempt_in_turn([first, second]))
    assert digests(second.folder) == digests(alone.folder) != digests(first.folder)


def test_a_trial_that_fails_costs_no_other_one(bench: Bench, tmp_path: Path) -> None:
    experiment = experiment_on(SMALL, "cubic", duration_s=2, trials=3)
    boot = jobs(bench, experiment, tmp_path, [1, 2, 3])
    boot[1] = replace(boot[1], experiment=with_lines(experiment, "ip route add default via 203.0.113.9"))
    first, failed, last = attempt_in_turn(boot)
    assert isinstance(failed, str)
    assert "Nexthop has invalid gateway" in failed
    assert [Trial(job.folder).is_whole for job in boot] == [True, False, True]
    assert [result["trial"] for result in (first, last) if not isinstance(result, str)] == [1, 3]
    assert "Run /usr/bin/python3 as init process" in read_log(tmp_path, "cubic-002")


def test_lines_of_a_later_trial_find_modules_that_no_earlier_one_used(bench: Bench, tmp_path: Path) -> None:
    experiment = experiment_on(SMALL, "cubic", duration_s=2, trials=2)
    boot = jobs(bench, experiment, tmp_path, [1, 2])
    boot[1] = replace(boot[1], experiment=with_lines(experiment, "tc qdisc add dev lo root codel"))
    assert all(one_boot.run(boot))


def test_a_kernel_that_ends_too_early_costs_no_other_trial(bench: Bench, tmp_path: Path) -> None:
    experiment = experiment_on(SMALL, "cubic", duration_s=2, trials=3)
    boot = jobs(bench, experiment, tmp_path, [1, 2, 3])
    power_off = "python3 -S -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321FEDC)'"
    boot[1] = replace(boot[1], experiment=with_lines(experiment, power_off))
    results = attempt_in_turn(boot)
    assert isinstance(results[1], str)
    assert results[1].startswith("virtual kernel: exit status 0: ")
    assert [Trial(job.folder).is_whole for job in boot] == [True, False, True]


def test_each_trial_has_what_the_kernel_printed_during_it(bench: Bench, tmp_path: Path) -> None:
    experiment = experiment_on(SMALL, "search", duration_s=2, trials=2)
    assert all(one_boot.run(jobs(bench, experiment, tmp_path, [1, 2])))
    first, second = (read_log(tmp_path, f"search-00{number}") for number in (1, 2))
    assert "loading out-of-tree module" in first
    assert "loading out-of-tree module" not in second
    assert "search-lab begins" not in first
