# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab same` compares values, names the first packet that differs, and covers every sender and link model."""

import subprocess
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
import yaml
from lab_papers.commands.same import SameRequest, compare_all, ready_runs, wanted
from lab_papers.same import reference, trials
from lab_papers.same.reference import BLOCK_PKTS, ROWS_PKTS, Values, values_of
from lab_papers.same.trials import experiments
from rich.console import Console

from lab.backends.backend import Description
from lab.base import paths
from lab.base.errors import UserError
from lab.node.qdiscs import kinds
from lab.schema.cca import load_ccas
from lab.tables.stored_run import Run
from lab.tables.trial_tables import TRIAL_TABLES
from lab.tables.values_digest import digest
from tests.brief import error_of
from tests.stored_run import store_run

DESCRIPTION = Description({"kernel_digest": "k1", "modules_digest": "m1"}, "w1", {"iproute2": "6.15"}, {})


def packets(count: int = 5000) -> pl.DataFrame:
    columns = {"t_s": [number / 1000 for number in range(count)], "flow": [1] * count, "seq_bytes": list(range(count))}
    return pl.DataFrame(columns, schema_overrides={"flow": pl.UInt8})


def values(table: pl.DataFrame, **tables: str) -> Values:
    blocks = [digest(table[start : start + BLOCK_PKTS]) for start in range(0, table.height, BLOCK_PKTS)]
    return Values({"packets": digest(table), **tables}, blocks, table[:ROWS_PKTS])


def with_value(table: pl.DataFrame, row: int, value: float) -> pl.DataFrame:
    return table.with_columns(pl.when(pl.int_range(pl.len()) == row).then(value).otherwise("t_s").alias("t_s"))


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> reference.Reference:
    """A reference of two trials, written and read again."""
    monkeypatch.setattr(reference, "require_clean", lambda: "c0ffee")
    found = {"senders/cubic-001": values(packets()), "senders/bbr-001": values(packets(300), acks="a1")}
    reference.write(found, DESCRIPTION, tmp_path / "reference")
    return reference.read(tmp_path / "reference")


def test_a_new_reference_replaces_the_older_one(stored: reference.Reference, tmp_path: Path) -> None:
    reference.write({"senders/bbr-001": values(packets(2))}, DESCRIPTION, tmp_path / "reference")
    again = reference.read(tmp_path / "reference")
    assert (len(stored.content["trials"]), list(again.content["trials"])) == (2, ["senders/bbr-001"])
    assert again.packets.height == 2


def test_the_same_values_are_the_same(stored: reference.Reference) -> None:
    assert reference.difference("senders/cubic-001", values(packets()), stored) == []
    assert list(reference.surroundings(DESCRIPTION, stored)) == []


@pytest.mark.parametrize("row", [0, 999, 1000, 1999])
def test_the_first_packet_that_differs_is_shown_on_both_sides(stored: reference.Reference, row: int) -> None:
    other = with_value(packets(), row, -1.0)
    lines = reference.difference("senders/cubic-001", values(other), stored)
    assert lines == [
        "packets",
        f"packet {row + 1} differs in t_s",
        f"  here       t_s=-1.0 flow=1 seq_bytes={row}",
        f"  reference  t_s={row / 1000} flow=1 seq_bytes={row}",
    ]


def test_behind_the_stored_packets_the_thousand_is_named(stored: reference.Reference) -> None:
    lines = reference.difference("senders/cubic-001", values(with_value(packets(), 3456, -1.0)), stored)
    assert lines == ["packets", "the first packet that differs is one of 3001 to 4000"]


@pytest.mark.parametrize(("count", "expected"), [(250, "no such packet"), (4500, "one of 4001 to 5000")])
def test_a_trial_that_is_shorter_differs(stored: reference.Reference, count: int, expected: str) -> None:
    name = "senders/bbr-001" if count < ROWS_PKTS else "senders/cubic-001"
    lines = reference.difference(name, values(packets(count), acks="a1"), stored)
    assert any(expected in line for line in lines)


def test_a_table_that_differs_is_named_where_packets_are_the_same(stored: reference.Reference) -> None:
    assert reference.difference("senders/bbr-001", values(packets(300), acks="a2"), stored) == ["acks"]


def test_a_trial_that_the_reference_lacks_differs(stored: reference.Reference) -> None:
    assert reference.difference("senders/new-001", values(packets()), stored) == ["not in the reference"]


def test_kernel_modules_world_and_packages_that_differ_are_named(stored: reference.Reference) -> None:
    other = Description({"kernel_digest": "k2", "modules_digest": "m1"}, "w2", {"iproute2": "6.16"}, {})
    assert list(reference.surroundings(other, stored)) == [
        "kernel_digest: here k2, reference k1",
        "world: here w2, reference w1",
        "package iproute2: here 6.16, reference 6.15",
    ]


@pytest.mark.parametrize(
    "change",
    [
        pl.col("flow").cast(pl.UInt16),
        pl.col("t_s").alias("time_s"),
        pl.col("seq_bytes") + 1,
        pl.when(pl.col("seq_bytes") == 0).then(None).otherwise(pl.col("seq_bytes")).alias("seq_bytes"),
    ],
    ids=["type", "name", "value", "null for a zero"],
)
def test_a_digest_is_of_names_types_and_values(change: pl.Expr) -> None:
    table = packets(10)
    other = (
        table.with_columns(change) if change.meta.output_name() in table.columns else table.rename({"t_s": "time_s"})
    )
    assert digest(other) != digest(table)
    assert digest(table) == digest(packets(10))


def test_the_digest_of_a_table_is_the_one_of_before_or_no_reference_would_hold() -> None:
    table = pl.DataFrame(
        {"t_s": [0.5, None, 2.0], "exit": [True, None, False], "cause": ["loss", None, "search"], "flow": [1, 2, None]},
        schema={"t_s": pl.Float64, "exit": pl.Boolean, "cause": pl.String, "flow": pl.UInt8},
    )
    assert [digest(table), digest(table.select("exit")), digest(table.clear())] == [
        "ce77cefa8aac53b0",
        "3c8cde7fd4842cb5",
        "626ab85907aac8b0",
    ]


def test_a_digest_does_not_depend_on_how_a_table_lies_in_memory() -> None:
    table = packets(10)
    assert digest(pl.concat([table[:4], table[4:]], rechunk=False)) == digest(table)


@pytest.mark.parametrize("content", ["", "{}", '{"format": 1}', "[1]"])
def test_a_damaged_reference_is_one_line(stored: reference.Reference, tmp_path: Path, content: str) -> None:
    assert stored
    (tmp_path / "reference" / reference.TRIALS).write_text(content)
    assert "reference/same.json" in error_of(reference.read, tmp_path / "reference")


def test_without_a_reference_the_command_that_writes_it_is_named(tmp_path: Path) -> None:
    assert "lab same --update" in error_of(reference.read, tmp_path)


@pytest.mark.parametrize(("file", "change"), [("lab/cca.yml", "tracked"), ("lab/new.yml", "unknown to git")])
def test_a_reference_is_of_a_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, change: str) -> None:
    def git(*words: str) -> str:
        identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
        command = ["git", "-C", str(tmp_path), *identity, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/cca.yml").write_text("a: 1\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "Begin")
    monkeypatch.setattr(paths, "REPO", tmp_path)
    assert reference.require_clean() == git("rev-parse", "HEAD")
    (tmp_path / file).write_text(change)
    with pytest.raises(UserError, match=f"{file}: must be committed first"):
        reference.require_clean()


def test_every_sender_runs() -> None:
    run = {(job.experiment.name, job.cca) for job in trials.jobs(None, Path("/nowhere"), trials.experiments())}  # type: ignore[arg-type]
    assert {cca for name, cca in run if name == "senders"} == set(load_ccas())


def is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def test_every_queue_and_every_model_of_a_link_runs() -> None:
    links = [experiment.profile.model_dump() for experiment in trials.experiments()]
    text = repr(links)
    queues = {name for name in kinds.names() if kinds.find(name).queue}
    assert {name for name in queues if f"'kind': '{name}'" in text} == queues
    models = {"levels", "uniform", "quantiles", "cycle", "jitter", "sum", "lognormal"}
    for name in ("rate_mbps", "opportunities", "delay_ms"):
        assert any((link["down"][name] or {}).get("dataset") for link in links if not is_number(link["down"][name]))
    assert {name for name in models if f"'model': '{name}'" in text} == models
    for field in ("on_demand", "frames"):
        assert any(link[way][field] for link in links for way in ("down", "up"))
    assert any(link["down"]["loss_pct"] for link in links)


def test_each_trial_has_a_name_of_its_own_and_two_seeds() -> None:
    jobs = trials.jobs(None, Path("/nowhere"), trials.experiments())  # type: ignore[arg-type]
    names = [trials.name_of(job) for job in jobs]
    assert len(set(names)) == len(names)
    assert {job.number for job in jobs} == {1, 2}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"ccas": ["nosuch"], "duration_s": 1}, "nosuch"),
        ({"ccas": "all", "duration_s": 1, "profile": "wired-clean", "down": {"loss_pct": 1}}, "left out where down"),
        ({"ccas": "all", "duration_s": 1, "speed": 3}, "speed"),
        ({"ccas": ["cubic"], "duration_s": 1, "rival": "nosuch"}, r"same\.yml: runs\.mine\.rival=nosuch: must be "),
    ],
)
def test_a_mistake_in_the_list_is_one_line(tmp_path: Path, run: dict[str, object], message: str) -> None:
    file = tmp_path / "same.yml"
    content = yaml.safe_load(trials.FILE.read_text()) | {"runs": {"mine": run}}
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(UserError, match=message):
        list(trials.experiments(file))


def printed(found: dict[str, Values], stored: reference.Reference, description: Description) -> tuple[bool, list[str]]:
    """Return the verdict on trials, and the lines of the command."""
    stream = StringIO()
    verdict = compare_all(found, stored, description, Console(file=stream, width=200))
    return verdict.same, stream.getvalue().splitlines()


def test_the_command_prints_same(stored: reference.Reference) -> None:
    found = {"senders/cubic-001": values(packets()), "senders/bbr-001": values(packets(300), acks="a1")}
    assert printed(found, stored, DESCRIPTION) == (True, ["SAME: 2 trials have the packets and tables of c0ffee"])


def test_the_command_prints_what_differs_and_where_to_look(stored: reference.Reference) -> None:
    found = {"senders/cubic-001": values(with_value(packets(), 1, -1.0))}
    same, lines = printed(found, stored, DESCRIPTION)
    assert not same
    assert lines == [
        "DIFFERENT  senders/cubic-001: packets",
        "DIFFERENT  senders/cubic-001: packet 2 differs in t_s",
        "DIFFERENT  senders/cubic-001:   here       t_s=-1.0 flow=1 seq_bytes=1",
        "DIFFERENT  senders/cubic-001:   reference  t_s=0.001 flow=1 seq_bytes=1",
        "MISSING    senders/bbr-001: no such trial here",
        "kernel, modules and world are the reference's: the difference is elsewhere",
        "DIFFERENT: 1 of 1 trials from c0ffee",
    ]


def test_trials_that_are_not_wanted_are_not_missed(stored: reference.Reference) -> None:
    some = wanted(stored, SameRequest(only=("senders/cubic*", "geo-*")))
    console = Console(file=StringIO(), width=200)
    assert compare_all({"senders/cubic-001": values(packets())}, some, DESCRIPTION, console).same
    assert not compare_all({"senders/cubic-001": values(packets())}, stored, DESCRIPTION, console).same


def test_some_trials_are_no_reference() -> None:
    assert "only=geo-*: must be absent with --update" in error_of(SameRequest, update=True, only=("geo-*",))


def test_a_run_over_a_recording_that_is_not_fetched_is_left_out_with_the_command_that_fetches_it(
    stored: reference.Reference, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_CACHE", str(tmp_path / "cache"))
    console, every = Console(record=True, width=300), list(trials.experiments())
    ready, left_out = ready_runs(every, SameRequest(), console)
    assert {each.name for each in every} == {each.name for each in ready} | left_out
    assert left_out
    assert sorted(left_out) == sorted(line.split(": ")[1] for line in console.export_text().splitlines())
    assert all(name.split("/")[0] not in left_out for name in wanted(stored, SameRequest(), left_out).content["trials"])
    with pytest.raises(UserError, match=r"^reference: must be of every trial: lab traces fetch "):
        ready_runs(every, SameRequest(update=True), console)
    with pytest.raises(UserError, match=r"^lab same: no recording of these trials is fetched"):
        ready_runs(every, SameRequest(only=(f"{min(left_out)}/*",)), console)


def test_a_run_that_is_left_out_is_not_missed(stored: reference.Reference) -> None:
    assert set(wanted(stored, SameRequest(), frozenset({"senders"})).content["trials"]) == set()


def test_each_run_of_the_list_has_the_stanza_of_each_of_its_senders() -> None:
    for experiment in experiments():
        assert list(experiment.ccas) == list(experiment.scenario.ccas)
        assert all(experiment.ccas[name] == load_ccas()[name] for name in experiment.ccas)
    rivals = {experiment.name: experiment.rivals for experiment in experiments() if experiment.rivals}
    assert rivals == {"two-downloads": {"cubic": load_ccas()["cubic"]}}


def test_what_is_compared_of_a_trial_are_its_tables_its_packets_by_the_thousand_and_the_first(tmp_path: Path) -> None:
    (trial,) = Run(store_run(tmp_path, 1, senders=("cubic_plain",))).trials
    found = values_of(trial)
    assert found.tables == {name: digest(trial.table(name)) for name in TRIAL_TABLES}
    assert len(set(found.tables.values())) > 1
    assert len(found.blocks) == -(-trial.packets.height // BLOCK_PKTS) > 1
    assert found.blocks[1] == digest(trial.packets.slice(BLOCK_PKTS, BLOCK_PKTS))
    assert found.first.equals(trial.packets.head(ROWS_PKTS))
