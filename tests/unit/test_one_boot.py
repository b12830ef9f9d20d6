# SPDX-License-Identifier: GPL-2.0-or-later
"""Which trials share a boot of the virtual kernel, and which never do."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from polars.exceptions import PolarsError

from lab.backends.virtual import Virtual
from lab.base.errors import UserError
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.links.profile import load_profile
from lab.node.beginning import MOST_PLANS
from lab.node.net.netns import changes_only_its_node
from lab.node.plan import Plan
from lab.runs import one_boot, pool
from lab.runs.experiment import Experiment, load_experiment
from lab.runs.one_boot import at_once, divided
from lab.runs.pool import attempt_in_turn
from lab.runs.trial import Job
from lab.schema.cca import load_ccas
from tests.unit.test_trial_stored import PLAN, Recorded
from tests.unit.test_trial_stored import job as recorded_job

NOWHERE = Path("/nowhere")
KERNEL = Kernel(NOWHERE, NOWHERE, NOWHERE, NOWHERE, {})
VIRTUAL = Virtual(KERNEL, Image(NOWHERE, "digest", {}, {}))


def jobs(experiment: Experiment, trials: int = 100) -> list[Job]:
    """Return jobs in the order in which a run has them: senders take turns."""
    return [
        Job(experiment, cca, number, Path(experiment.name, "trials", f"{cca}-{number:03d}"), VIRTUAL)
        for number in range(1, trials + 1)
        for cca in experiment.scenario.ccas
    ]


@pytest.fixture(scope="module")
def wifi() -> Experiment:
    return load_experiment("thesis-wifi-weak")


def test_boots_are_full_of_one_sender_in_the_order_of_the_run_and_a_group_shares_them(wifi: Experiment) -> None:
    boots = divided(jobs(wifi, 5 * MOST_PLANS), workers=2)
    assert {len(boot) for boot in boots} == {MOST_PLANS}
    assert all(len({job.cca for job in boot}) == 1 for boot in boots)
    assert sorted(job.folder for boot in boots for job in boot) == sorted(
        job.folder for job in jobs(wifi, 5 * MOST_PLANS)
    )
    first = [boot[0].folder for boot in divided(jobs(wifi), workers=2)]
    assert first == sorted(first, key=[job.folder for job in jobs(wifi)].index)
    runs = [replace(wifi, name=f"run-{number}") for number in range(2 * MOST_PLANS)]
    grouped = [replace(each, group="cases") for each in runs]
    assert {len(boot) for boot in divided([job for each in runs for job in jobs(each, 1)], workers=1)} == {1}
    assert {len(boot) for boot in divided([job for run in grouped for job in jobs(run, 1)], workers=1)} == {MOST_PLANS}


def test_trials_whose_modules_have_other_parameters_share_no_boot(wifi: Experiment) -> None:
    plain = load_ccas()["search"]
    senders = {"plain": plain, "changed": plain.model_copy(update={"params": {"bins": 12}})}
    mixed = [
        replace(wifi, group="mixed", name=name, ccas=dict.fromkeys(wifi.ccas, cca)) for name, cca in senders.items()
    ]
    boots = divided([job for _ in range(2 * MOST_PLANS) for each in mixed for job in jobs(each, 1)], workers=1)
    assert {len(boot) for boot in boots} == {MOST_PLANS}
    assert all(len({job.experiment.name for job in boot}) == 1 for boot in boots)


def test_what_a_user_brings_to_a_group_has_a_boot_to_itself(wifi: Experiment) -> None:
    changed = {"module": "mine", "module_digest": "d1ce"}
    own = {name: cca.model_copy(update=changed) for name, cca in wifi.ccas.items()}
    mixed = [replace(wifi, group="mixed", name=name, rivals=rivals) for name, rivals in (("own", own), ("plain", {}))]
    boots = one_boot.boots([job for each in (*mixed, *mixed) for job in jobs(each, 1)], MOST_PLANS)
    assert {len(boot) for boot in boots if boot[0].experiment.name == "own"} == {1}
    assert len({job.experiment.name for boot in boots if len(boot) > 1 for job in boot}) == 1


def test_a_long_download_of_a_group_comes_last_in_no_boot_of_short_ones(wifi: Experiment) -> None:
    long = load_experiment("compete-bbr-120s")
    short, last = (
        replace(
            each,
            group="mixed",
            scenario=each.scenario.model_copy(update={"ccas": ["cubic"]}),
            ccas={"cubic": wifi.ccas["cubic"]},
        )
        for each in (wifi, long)
    )
    boots = one_boot.boots([*jobs(short, 3), *jobs(last, 1)], MOST_PLANS)
    assert [len(boot) for boot in boots] == [3, 1]


def test_a_short_run_keeps_every_worker_at_work_and_long_downloads_share_a_boot_with_few(wifi: Experiment) -> None:
    senders = len(wifi.scenario.ccas)
    assert all(len(boot) == 1 for boot in divided(jobs(wifi, 15 // senders), workers=2))
    assert max(len(boot) for boot in divided(jobs(wifi, 80 // senders), workers=8)) == 2
    assert max(len(boot) for boot in divided(jobs(load_experiment("thesis-geo")), workers=1)) == 4  # of 45 s
    assert max(len(boot) for boot in divided(jobs(load_experiment("compete-bbr-120s")), workers=1)) == 1
    codel = replace(wifi, profile=load_profile("home-fq_codel", "test"))
    assert max(len(boot) for boot in divided(jobs(codel), workers=1)) == 4  # its clock has 32 bits
    for boot in divided([*jobs(wifi), *jobs(replace(wifi, name="other"))], workers=1):
        assert len({job.experiment.name for job in boot}) == 1


def test_raw_records_of_all_trials_of_a_boot_lie_on_the_disk_together() -> None:
    assert at_once(trials=5, workers=8, most=MOST_PLANS) == 5
    assert at_once(trials=15, workers=2, most=MOST_PLANS) == 2
    assert at_once(trials=1000, workers=2, most=MOST_PLANS) == 2 * MOST_PLANS
    assert at_once(trials=1000, workers=2, most=4) == 2 * 4


@pytest.mark.parametrize(
    ("part", "changed"),
    [
        ("ccas", {"module_digest": "d1ce"}),
        ("ccas", {"transport": "quic", "stack": "quinn"}),
        ("ccas", {"kernel": "d1ce"}),
        ("ccas", {"algorithm": "lp"}),
        ("ccas", {"algorithm": "htcp"}),
        ("rivals", {"algorithm": "careful_resume"}),
        ("rivals", {"module": "mine", "module_digest": "d1ce"}),
    ],
)
def test_what_a_user_brings_or_another_trial_would_change_has_a_boot_to_itself(
    wifi: Experiment, part: str, changed: dict[str, Any]
) -> None:
    own: Any = {part: {name: cca.model_copy(update=changed) for name, cca in wifi.ccas.items()}}
    assert {len(boot) for boot in divided(jobs(replace(wifi, **own)), workers=1)} == {1}


@pytest.mark.parametrize("line", ["true", "ip netns exec server reboot", "sysctl -q -w kernel.panic=1"])
def test_a_topology_whose_lines_do_more_has_a_boot_to_itself(wifi: Experiment, line: str) -> None:
    whole = wifi.topology.topology
    name, node = next(iter(whole.nodes.items()))
    nodes = whole.nodes | {name: node.model_copy(update={"exec": [*node.exec, line]})}
    topology = wifi.topology.model_copy(update={"topology": whole.model_copy(update={"nodes": nodes})})
    assert {len(boot) for boot in divided(jobs(replace(wifi, topology=topology)), workers=1)} == {1}


@pytest.mark.parametrize(
    ("line", "is_harmless"),
    [
        ("ip address add 10.0.0.1/24 dev eth1", True),
        ("ip route add default via 10.0.0.2", True),
        ("sysctl -q -w net.ipv4.ip_forward=1", True),
        ("sysctl -q -w net.ipv4.ip_forward=1; reboot", False),
        ("sysctl -q -w net/../kernel/panic=1", False),
        ("ip address add 10.0.0.1/24 dev eth1\nreboot", False),
        ("ip link set lo down", False),
    ],
)
def test_lines_that_change_only_their_node(line: str, is_harmless: bool) -> None:
    assert changes_only_its_node(line) is is_harmless


@pytest.mark.parametrize("fault", [UserError("no"), OSError(5, "no"), PolarsError("no")])
def test_where_a_boot_fails_each_of_its_trials_is_run_alone(
    wifi: Experiment, fault: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_off(boot: list[Job]) -> Iterator[Any]:
        yield {"trial": boot[0].number}
        raise fault

    monkeypatch.setattr(one_boot, "run", broken_off)
    monkeypatch.setattr(pool, "attempt", lambda job: f"alone {job.number}")
    boot = [job for job in jobs(wifi, 3) if job.cca == wifi.scenario.ccas[0]]
    assert attempt_in_turn(boot) == [{"trial": 1}, "alone 2", "alone 3"]


class Together(Virtual):
    """A backend of which every trial but the last of a boot is the recorded one; the last leaves nothing."""

    def adapt(self, _plan: Plan, *_: object) -> Plan:
        return PLAN

    def run_plans(self, plans: Mapping[Path, Plan], folder: Path) -> None:
        for draft in list(plans)[:-1]:
            Recorded().run_plan(plans[draft], draft)
        assert folder.is_dir()


def test_each_trial_of_a_boot_is_stored_with_its_plan_and_one_without_records_is_none(tmp_path: Path) -> None:
    backend = Together(KERNEL, VIRTUAL.world)
    job, folder = replace(recorded_job(tmp_path), backend=backend), tmp_path / "trials"
    boot = [replace(job, number=number, folder=folder / f"cubic-{number:03d}") for number in (1, 2, 3)]
    first, second, third = one_boot.run(boot)
    assert first is not None
    assert second is not None
    assert [(meta["trial"], meta["seed"], meta["mss_bytes"]) for meta in (first, second)] == [
        (number, PLAN["seed"], PLAN["mss_bytes"]) for number in (1, 2)
    ]
    assert third is None
    assert sorted(path.name for path in (tmp_path / "trials").iterdir()) == ["cubic-001", "cubic-002"]
