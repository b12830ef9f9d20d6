# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab data-dictionary`: every file of a result folder, every column of its tables, every field of its JSON files.

The text is generated from the definitions that the code itself uses, as Markdown on standard output.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, is_typeddict

import polars as pl
from lab_compare.record import ComparisonJson
from pydantic import BaseModel

from lab.base.contract import NULL, Field, fields
from lab.judge import summary
from lab.judge.columns import SUMMARY, with_meanings
from lab.judge.judged import TABLES
from lab.links.profile import Profile
from lab.node.plan import Plan
from lab.runs.shard import ShardJson
from lab.schema.cca import Cca
from lab.schema.scenario import Scenario
from lab.schema.sysctls import Sysctls
from lab.schema.topology import Topology
from lab.schema.workload import workloads
from lab.tables.columns import Column, Described
from lab.tables.run_json import RunJson
from lab.tables.trial_json import TrialJson
from lab.tables.trial_tables import TRIAL_TABLES
from lab_papers.evaluation.columns import evaluation_tables

RUN_FILES = {
    "run.json": "what was requested, by whom, on which kernel: see below",
    "trials/<sender>-<number>/": "one folder per trial: see below",
    "run.json.sha256": "its SHA-256, in the form of sha256sum",
    "outcomes.parquet": "one row per trial and at-capacity rule: see below",
    "outcomes.csv": "the same as text, without the digest",
    "trials.parquet": "one row per trial: see below",
    "<table>.parquet.seal": "that this user's lab made the table: one from elsewhere is made again from the trials",
    "summary.csv": "one row per sender and at-capacity rule: see below",
    "summary.md": "the tables of the report, as Markdown",
    "tables/": "each table of the report alone, as CSV, Markdown, and LaTeX for a page and for a column (`-column`)",
    "summary.txt": "the tables of the report, as plain text",
    "report.html": "the report: one page without any other file",
    "figures/": "each figure as SVG; with --format also as PDF and PNG",
    ".lock": "held by the command that runs the run",
}
TRIAL_FILES = {
    "trial.json": "what was drawn, applied, measured and certified: see below",
    "plan.json": "what the nodes executed: see below",
    "<table>.parquet": "the tables: see below",
    "SHA256SUMS": "the SHA-256 of each file of the trial: `sha256sum --check SHA256SUMS`",
    "kernel.log.zst": "what the kernel printed from its init on, zstd-compressed: `lab log RUN TRIAL` shows it",
    "client.pcapng.zst": "the headers of every frame at the client, zstd-compressed pcapng; absent with --no-pcap",
    "browser.json.gz": "what the report's trial browser shows, made again where it or its `.seal` is another's",
}
JSON_FILES = {
    "run.json": ("The run.", RunJson),
    "trial.json": ("One trial.", TrialJson),
    "comparison.json": ("A comparison, in `comparisons/<time>/` (`lab compare`).", ComparisonJson),
    "shard.json": ("A shard, in the folder of `lab run --shard K/N --out DIR`.", ShardJson),
    "plan.json": ("What the host writes and the node executes.", Plan),
}
RUN_TABLES = {
    **TABLES,
    "summary.csv": Described("One row per sender and at-capacity rule.", with_meanings(summary.SCHEMA, SUMMARY)),
}
USER_FILES: dict[str, type[BaseModel]] = {
    "scenario": Scenario,
    "profile": Profile,
    "topology": Topology,
    "sysctls": Sysctls,
    "ccas": Cca,
}
BASIC = {int: "integer", float: "number", str: "text", bool: "boolean", Any: "any"}


def lines() -> Iterator[str]:
    """Yield the data dictionary, line by line."""
    yield "# Data dictionary"
    yield ""
    yield "A value that does not exist is null, never 0 or -1. Delays are one-way; a round trip is called RTT."
    yield "Each Parquet file also holds the meaning and unit of its columns (`pyarrow.parquet.read_schema`)."
    yield from _files("results/<scenario>/<time>/", RUN_FILES)
    yield from _files("trials/<sender>-<number>/", TRIAL_FILES)
    for name, (text, columns) in TRIAL_TABLES.items():
        yield from _section(f"{name}.parquet", text, map(_column_row, columns, columns.values()))
    for name, (text, columns) in RUN_TABLES.items():
        yield from _section(name, text, map(_column_row, columns, columns.values()))
    described: set[Any] = set()
    for name, (text, contract) in JSON_FILES.items():
        yield from _json_file(name, text, contract, described)
    yield from _user_files()
    yield from ("", "## `results/evaluation/`", "", "Tables over the latest runs of all scenarios.")
    for name, (text, columns) in evaluation_tables().items():
        yield from _section(f"evaluation/{name}.parquet", text, map(_column_row, columns, columns.values()))


def _files(folder: str, files: Mapping[str, str]) -> Iterator[str]:
    yield from ("", f"## `{folder}`", "", "| file | content |", "| --- | --- |")
    yield from (f"| `{name}` | {text} |" for name, text in files.items())


def _section(name: str, text: str, rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield from ("", f"## `{name}`", "", text, "", "| name | type | unit | meaning | null |", "| --- " * 5 + "|")
    yield from (_row(row) for row in rows)


def _json_file(name: str, text: str, contract: Any, described: set[Any]) -> Iterator[str]:
    """Yield a file's fields, and those of its parts that no file before has."""
    whole, *inner = parts(contract)
    yield from _section(name, text, map(_field_row, fields(whole)))
    for part in (each for each in inner if each not in described):
        described.add(part)
        yield from ("", f"### `{part.__name__}` in `{name}`", "", (part.__doc__ or "").strip(), "")
        yield from ("| name | type | unit | meaning | null |", "| --- " * 5 + "|")
        yield from (_row(_field_row(field)) for field in fields(part))


def parts(contract: Any) -> Iterator[Any]:
    """Yield a TypedDict and every TypedDict that its fields hold, each once."""
    found = [contract]
    for one in found:
        yield one
        for field in fields(one):
            found += [part for part in _typed_dicts(field.kind) if part not in found]


def _typed_dicts(kind: Any) -> list[Any]:
    if is_typeddict(kind):
        return [kind]
    return [part for argument in get_args(kind) for part in _typed_dicts(argument)]


def _user_files() -> Iterator[str]:
    yield from ("", "## The user's files in `run.json`", "", "As they were read, with their defaults.")
    models = USER_FILES | {f"workload: {name}": model for name, model in workloads().items()}
    for name, model in models.items():
        yield from ("", f"### `{name}`", "", (model.__doc__ or "").strip(), "", "| name | type |", "| --- | --- |")
        for field, found in model.model_fields.items():
            if found.exclude:
                continue  # no run stores it
            yield f"| `{field}` | {_escaped(_type(found.annotation))} |"


def _column_row(name: str, column: Column) -> tuple[str, ...]:
    meaning, _, null = column.meaning.partition(NULL)
    kind = column.kind if isinstance(column.kind, pl.DataType) else column.kind()
    return f"`{name}`", str(kind), column.unit_as(name), meaning, null or "never"


def _field_row(field: Field) -> tuple[str, ...]:
    name = f"`{field.name}`" + ("" if field.required else " (optional)")
    return name, _type(field.kind), field.unit, field.meaning, field.null or "never"


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def _type(kind: Any) -> str:
    origin, arguments = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        return f"`{kind.__name__}`"
    if origin in (Union, UnionType):
        return " or ".join(_type(one) for one in arguments if one is not NoneType)
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in arguments)
    if origin is list:
        return f"list of {_type(arguments[0])}"
    if origin is tuple:
        return f"[{', '.join(map(_type, arguments))}]"
    if origin is dict:
        return "object" if arguments[1] is Any else f"object of {_type(arguments[1])}"
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"`{kind.__name__}`"
    return _type(arguments[0]) if arguments else BASIC.get(kind, str(kind))
