# SPDX-License-Identifier: GPL-2.0-or-later
"""A package that brings another way in which senders exist needs nothing of the core: from a name to stored tables."""

import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from lab_bundle.content import programs_of

from lab.base.entry_points import _declared, _installed, brought
from lab.base.errors import UserError
from lab.commands.prepare import refuse
from lab.runs.experiment import Experiment, load_experiment, try_link
from lab.runs.plan import draw, make_plan
from lab.runs.trial import STORED, run_trial
from lab.schema.cca import cca_names, load_cca, load_ccas, load_senders
from lab.schema.scenario import scenarios
from lab.senders.ways import prepared
from lab.tables.digests import SUMS
from lab.tables.stored_trial import TABLES, Trial
from tests.brief import error_of
from tests.command import lab, refused
from tests.own_cache import unbuilt
from tests.unit.test_trial_stored import Recorded, job

RUN_ON_HOST = "run --profile wired-clean --cca cubic,pigeon --backend host".split()
METADATA = "Metadata-Version: 2.1\nName: sixth\nVersion: 1\n"
ENTRY_POINT = "[lab.senders]\nsixth = sixth:WAY\n"
STANZA = """pigeon:
  label: Over carrier pigeons
  transport: pigeon
  algorithm: coo
  slow_start_exit: grain
  exit_label: out of grain
"""
CODE = """
from dataclasses import replace
from pathlib import Path

from lab.senders.traced import Traced
from lab.senders.way import Way


class Feathers(Traced):
    def counted(self, download):
        return {**download, "retransmits_pkts": 7}

    def keep(self):
        (self.raw.folder / "feathers.txt").write_text((self.raw.folder / "own/pigeon").read_text())
        return ["feathers.txt"]


class Pigeons(Way):
    file = Path(__file__).with_name("pigeons.yml")
    order = 9
    alone = "a pigeon"

    def owns(self, cca):
        return cca.transport == "pigeon"

    def prepare(self, senders, virtual, progress):
        progress("feeding the pigeons")
        fed = {name: cca.model_copy(update={"module_digest": "fed"}) for name, cca in senders.items()}
        return fed, replace(virtual, own_modules={**virtual.own_modules, "fed": self.file})

    def refuse(self, names, backend):
        return None if backend == "virtual" else f"virtual: {', '.join(names)} rest in real time"

    def shares_boot(self, cca):
        return False

    def plan(self, plan, cca, mtu_bytes):
        return {**plan, "mss_bytes": mtu_bytes // 2}

    def files(self, cca, backend):
        return {"own/pigeon": backend.own_modules[cca.module_digest]}

    def decode(self, raw):
        return Feathers(raw)

    def where(self, cca):
        return "a loft"


WAY = Pigeons()
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install a distribution that brings a way, for this process and those that it starts."""
    folder = tmp_path / "site"
    (folder / "sixth-1.dist-info").mkdir(parents=True)
    (folder / "sixth-1.dist-info/METADATA").write_text(METADATA)
    (folder / "sixth-1.dist-info/entry_points.txt").write_text(ENTRY_POINT)
    (folder / "pigeons.yml").write_text(STANZA)
    (folder / "sixth.py").write_text(CODE)
    monkeypatch.syspath_prepend(str(folder))
    _forget()
    yield folder
    sys.modules.pop("sixth", None)
    monkeypatch.undo()
    _forget()


@pytest.fixture
def core_alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Take the checkout's packages away."""
    monkeypatch.setattr("lab.base.entry_points._of_checkout", lambda _group: iter(()))
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    importlib.invalidate_caches()
    brought.cache_clear()
    _installed.cache_clear()
    cca_names.cache_clear()


@pytest.fixture
def experiment(package: Path) -> Experiment:
    assert package.is_dir()
    return try_link("wired-clean", ["cubic", "pigeon"], {"trials": 2, "duration_s": 4})


def test_its_senders_stand_behind_all_others_and_look_like_none(package: Path) -> None:
    assert package.is_dir()
    known = load_senders()
    assert list(known) == cca_names()
    assert list(known)[-1] == "pigeon"
    assert len({cca.look for cca in known.values()}) == len(known)


def test_its_senders_are_named_by_every_command(package: Path, tmp_path: Path) -> None:
    listed = lab(tmp_path, "senders", "list", PYTHONPATH=str(package)).stdout
    assert re.search(r"^pigeon +Over carrier pigeons \(a loft\) *\n +exit: out of grain *$", listed, re.MULTILINE)
    line = refused(lab(tmp_path, *RUN_ON_HOST, PYTHONPATH=str(package)))
    assert line == "command line: backend=host: must be virtual: pigeon rest in real time"


def test_without_the_package_its_senders_are_unknown() -> None:
    assert "cca=pigeon: must be a known sender" in error_of(load_cca, "pigeon", "command line", "cca")


@pytest.mark.parametrize(("text", "fault"), [("[project\n", "Expected ']'"), ("[tool]\n", "'project'")])
def test_a_package_of_the_checkout_whose_file_is_wrong_is_one_line(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    line = error_of(_declared, tmp_path / "pyproject.toml")
    assert line.startswith(f"{tmp_path}/pyproject.toml: {fault}")
    assert line.endswith("must be TOML with a table [project]")


def test_a_package_without_entry_points_brings_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    assert _declared(tmp_path / "pyproject.toml") == {}


@pytest.mark.parametrize("group", ["lab.senders", "lab.commands"])
def test_a_package_that_cannot_be_imported_is_one_line(package: Path, tmp_path: Path, group: str) -> None:
    (package / "sixth-1.dist-info/entry_points.txt").write_text(f"[{group}]\nsixth = seventh:WAY\n")
    line = refused(lab(tmp_path, "senders", "list", PYTHONPATH=str(package)))
    rule = "must be an object of an installed package: No module named 'seventh'"
    assert line == f"entry point of {group}: sixth=seventh:WAY: {rule}"


@pytest.mark.usefixtures("core_alone")
def test_without_any_package_the_core_has_its_own_senders_and_scenarios() -> None:
    assert list(load_senders()) == list(load_ccas()) == cca_names()
    assert programs_of() == {}
    for name in scenarios():
        load_experiment(name)


def test_a_stanza_with_a_name_of_the_core_is_refused(package: Path) -> None:
    (package / "pigeons.yml").write_text(STANZA.replace("pigeon:", "cubic:"))
    assert "pigeons.yml: name=cubic: must be another name: lab/cca.yml or" in error_of(load_senders)


def test_it_plans_prepares_and_refuses_its_own_senders_only(experiment: Experiment, tmp_path: Path) -> None:
    drawn = draw(experiment, 1)
    plans = {name: make_plan(experiment, cca, drawn) for name, cca in experiment.ccas.items()}
    assert {name: plan["mss_bytes"] for name, plan in plans.items()} == {"cubic": 1448, "pigeon": 750}
    said: list[str] = []
    senders, ready = prepared(experiment.ccas, unbuilt(tmp_path), said.append)
    assert {name: cca.module_digest for name, cca in senders.items()} == {"cubic": None, "pigeon": "fed"}
    assert (said, list(ready.own_modules)) == (["feeding the pigeons"], ["earlier", "fed"])
    refuse({"cubic": experiment.ccas["cubic"]}, "host")
    assert "must be virtual: pigeon rest in real time" in error_of(refuse, experiment.ccas, "host")
    with pytest.raises(UserError, match=r"rival=cubic: must be absent with a pigeon \(pigeon\)"):
        try_link("wired-clean", ["pigeon"], {"rival": "cubic", "topology": "dumbbell"})
    with pytest.raises(UserError, match="ecn_at_ends=True: must be absent with pigeon: it is a setting of TCP"):
        try_link("wired-clean", ["pigeon"], {"ecn_at_ends": True})


@dataclass(frozen=True)
class Loft(Recorded):
    """A backend of which every trial is the recorded one, with files of senders."""

    own_modules: dict[str, Path] = field(default_factory=dict)


def test_its_trial_has_the_tables_of_any_and_what_it_keeps(experiment: Experiment, package: Path) -> None:
    backend = Loft(own_modules={"fed": package / "pigeons.yml"})
    fed = experiment.ccas["pigeon"].model_copy(update={"module_digest": "fed"})
    plain = job(package.parent, backend)
    folder = package.parent / "trials" / "pigeon-001"
    trial = replace(plain, experiment=replace(plain.experiment, ccas={"pigeon": fed}), cca="pigeon", folder=folder)
    meta = run_trial(trial)
    assert {path.name for path in folder.iterdir()} == {*STORED, "client.pcapng.zst", "feathers.txt", SUMS}
    assert (folder / "feathers.txt").read_text() == STANZA
    assert [(flow["cca"], flow["retransmits_pkts"]) for flow in meta["flows"]] == [("pigeon", 7)]
    stored = Trial(folder)
    assert stored.is_whole
    assert all(stored.table(name).width for name in TABLES)
    assert stored.packets.height > 100
