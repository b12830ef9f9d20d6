# SPDX-License-Identifier: GPL-2.0-or-later
"""The data dictionary describes what is stored: the committed sample, a small trial, and each table's columns."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_origin, is_typeddict

import polars as pl
import pytest
from lab_papers.commands.data_dictionary import JSON_FILES, RUN_FILES, RUN_TABLES, TRIAL_FILES, USER_FILES, lines, parts
from lab_papers.evaluation.columns import evaluation_tables
from lab_papers.evaluation.write import write_all
from pyarrow import parquet

from lab.base.contract import check, fields
from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.judge.judged import TABLES, judged
from lab.judge.summary import summarise
from lab.node.plan import Plan
from lab.node.record import Iperf3Report, NodeRecord
from lab.runs.experiment import first_names
from lab.tables.columns import Described, schema
from lab.tables.run_json import RunJson
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from lab.tables.trial_json import TrialJson
from lab.tables.trial_tables import TRIAL_TABLES
from tests.command import lab
from tests.stored_run import rewrite

SAMPLE = next((REPO / "analysis/sample/sample").glob("[0-9]*"))
TRIALS = sorted((SAMPLE / "trials").iterdir())
DRAFT = REPO / "tests/data/draft"
STORED = [
    (SAMPLE / "run.json", RunJson),
    *((folder / "trial.json", TrialJson) for folder in TRIALS),
    (DRAFT / "plan.json", Plan),
    (DRAFT / "node.json", NodeRecord),
]
NOT_OURS = (Iperf3Report,)  # of iperf3's report only what is read is described


def undescribed(value: Any, kind: Any, path: str = "") -> Iterator[str]:
    """Yield each field of JSON content that its contract does not name."""
    if is_typeddict(kind) and isinstance(value, dict) and kind not in NOT_OURS:
        known = {field.name: field.kind for field in fields(kind)}
        for name, one in value.items():
            if name in known:
                yield from undescribed(one, known[name], f"{path}.{name}")
            else:
                yield f"{path}.{name}"
    elif get_origin(kind) is list and isinstance(value, list):
        for one in value:
            yield from undescribed(one, get_args(kind)[0], f"{path}[]")
    elif get_origin(kind) is dict and isinstance(value, dict):
        for one in value.values():
            yield from undescribed(one, get_args(kind)[1], f"{path}{{}}")


@pytest.mark.parametrize(("file", "contract"), STORED, ids=lambda of: of.parent.name if isinstance(of, Path) else "")
def test_every_stored_field_is_described_and_of_its_type(file: Path, contract: Any) -> None:
    content = json.loads(file.read_text())
    check(content, contract, file)
    assert list(undescribed(content, contract)) == []


@pytest.mark.parametrize("name", USER_FILES)
def test_the_users_files_are_stored_with_the_fields_of_their_models(name: str) -> None:
    stored = json.loads((SAMPLE / "run.json").read_text())[name]
    fields = dict.fromkeys(USER_FILES[name].model_fields)
    for one in stored if isinstance(stored, list) else [stored]:
        assert set(one) <= {*fields, *first_names(fields)}  # the sample may be older than a field's name


@pytest.mark.parametrize("name", TRIAL_TABLES)
@pytest.mark.parametrize("folder", TRIALS, ids=lambda folder: folder.name)
def test_a_stored_table_has_the_described_columns_and_nulls_only_where_described(folder: Path, name: str) -> None:
    table, columns = pl.read_parquet(folder / f"{name}.parquet"), TRIAL_TABLES[name].columns
    assert table.schema == schema(columns)
    nulls = {column for column in columns if table[column].null_count()}
    assert {column for column in nulls if "; null " not in columns[column].meaning} == set()


def test_the_tables_of_a_run_have_the_described_columns_and_nulls_only_where_described(tmp_path: Path) -> None:
    run = Run(shutil.copytree(SAMPLE, tmp_path / "run"))  # judging writes into it
    found = judged(run)
    summary = summarise(found.outcomes, ["search", "cubic", "cubic_plain", "bbr"])
    for name, table in {
        "outcomes.parquet": found.outcomes,
        "trials.parquet": found.trials,
        "summary.csv": summary,
    }.items():
        columns = RUN_TABLES[name][1]
        assert set(columns) - {"digest"} == set(table.columns), name
        nulls = {column for column in table.columns if table[column].null_count()}
        assert {column for column in nulls if "; null " not in columns[column].meaning} == set()


def test_every_file_of_the_sample_is_described_and_every_field_has_a_meaning() -> None:
    tables = {f"{name}.parquet" for name in TRIAL_TABLES}
    for folder in TRIALS:
        assert {file.name for file in folder.iterdir()} <= {*TRIAL_FILES, *tables}
    files = {file.name for file in SAMPLE.iterdir() if file.is_file()}
    assert files <= set(RUN_FILES)
    for contract in (*(contract for _, contract in JSON_FILES.values()), NodeRecord):
        for part in parts(contract):
            assert part.__doc__
            for field in fields(part):
                assert field.meaning, (part, field.name)
                assert bool(field.null) == (type(None) in get_args(field.kind)), (part, field.name)


def test_the_command_prints_markdown_and_always_the_same(tmp_path: Path) -> None:
    printed = lab(tmp_path, "data-dictionary").stdout
    assert printed == "\n".join(lines()) + "\n"
    rows = [line for line in printed.splitlines() if line.startswith("|")]
    assert all(len(re.findall(r"(?<!\\)\|", row)) in (3, 6) for row in rows)
    assert "| `cwnd_pkts` | UInt32 | packets | congestion window | never |" in rows


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rate_mbps": "fast"}, "rate_mbps=fast: must be a number"),
        ({"certificate": []}, "certificate=[]: must be a JSON object"),
        ({"flows": {}}, "flows={}: must be a list"),
        ({"flows": [{}]}, "flows[0].flow=: must be given"),
        ({"seed": None}, "seed=None: must be a whole number"),
        ({"seed": True}, "seed=True: must be a whole number"),
        ({"mss_bytes": ...}, "mss_bytes=: must be given"),
    ],
)
def test_a_corrupt_trial_is_one_line_that_names_the_field(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    content = json.loads((TRIALS[0] / "trial.json").read_text()) | change
    shutil.copytree(TRIALS[0], tmp_path, dirs_exist_ok=True)
    rewrite(tmp_path / "trial.json", {name: value for name, value in content.items() if value is not ...})
    with pytest.raises(UserError) as refusal:
        _ = Trial(tmp_path).meta
    assert str(refusal.value) == f"{tmp_path / 'trial.json'}: {message}"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = Path(shutil.copytree(REPO / "analysis" / "sample", tmp_path_factory.mktemp("evaluated") / "results"))
    write_all(results, None)
    return results


def require_meanings(file: Path, about: Described) -> None:
    stored, table = parquet.read_schema(file), pl.read_parquet(file)
    assert stored.metadata[b"row"].decode() == about.row
    assert table.schema == schema(about.columns), file.name
    for field in stored:
        assert field.metadata[b"meaning"].decode() == about.columns[field.name].meaning
        assert field.metadata[b"unit"].decode() == about.columns[field.name].unit_as(field.name)
        assert not table[field.name].null_count() or "; null " in about.columns[field.name].meaning, field.name


@pytest.mark.parametrize("name", TABLES)
def test_the_judged_trials_of_a_run_hold_their_meaning(results: Path, name: str) -> None:
    require_meanings(results / "sample" / "latest" / name, TABLES[name])


@pytest.mark.parametrize("name", sorted(evaluation_tables().keys() - {"sensitivity_checks"}))  # runs kernels
def test_a_table_over_all_runs_holds_its_meaning(results: Path, name: str) -> None:
    require_meanings(results / "evaluation" / f"{name}.parquet", evaluation_tables()[name])


def test_every_table_over_all_runs_is_described(results: Path) -> None:
    assert {file.stem for file in (results / "evaluation").glob("*.parquet")} <= evaluation_tables().keys()
