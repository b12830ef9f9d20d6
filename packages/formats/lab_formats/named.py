# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording as a command line gives it: by the name of a fetched one, or as a file with a format and its options."""

import inspect
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_origin

import polars as pl

from lab.base.entry_points import loaded
from lab.base.errors import Faults, UserError, field_error
from lab.traces import importers, recording
from lab.traces.datasets import dataset, datasets, path_of, stem
from lab.traces.importer import Importer, Option
from lab.traces.importers import stored_once
from lab.traces.recording import Recording
from lab_formats.shown.panels import SHARES, lasting_s, quantiles

FLAGS = {"yes": True, "true": True, "no": False, "false": False}
PAIR = "leocc"


def find(name: str, form: str | None, settings: list[str]) -> Recording:
    """Return the recording of a name of datasets.yml or of a file; settings are the importer's, as name=value."""
    known = stem(name) in datasets()
    if not known and not Path(name).is_file():
        raise UserError(f"{name}: must be a file, or a recording that 'lab traces list' names")
    if known and form:
        raise UserError(f"--format={form}: must be left out for a recording of datasets.yml")
    file = path_of(name) if known else Path(name)
    form = form or (dataset(name).own.format if known else None)
    importer = importers.importer_of(form) if form else importers.detect(file)
    options = given_options(importer, settings)
    return recording_of(name, **options) if known else importers.read(file, importer.name, **options)


def recording_of(name: str, **options: Any) -> Recording:
    """Return a fetched recording; imported once (for each set of an importer's options), then read from the cache."""
    file, found = path_of(name), dataset(name)
    return recording.read(stored_once(file, found.own.format, found.options | options, file.parent))


def given_options(importer: Importer, settings: list[str]) -> dict[str, Option]:
    """Read a command line's `name=value` settings as the importer's options; lists are separated by commas."""
    known = importers.options_of(importer)
    found: dict[str, Option] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or name not in known:
            rule = f"name=value of {importer.name}: {', '.join(known) or 'no option'}"
            raise field_error("import", "--set", setting, rule)
        found[name] = _value(known[name], value, setting)
    return found


def _value(parameter: inspect.Parameter, text: str, setting: str) -> Any:
    kinds = get_args(parameter.annotation) or (parameter.annotation,)
    if get_origin(parameter.annotation) is tuple:
        return tuple(text.split(","))
    try:
        if bool in kinds:
            return FLAGS[text.lower()]
        for kind in (int, float, Path):
            if kind in kinds:
                return kind(text)
    except (ValueError, KeyError):
        raise UserError(f"import: --set={setting}: must be a value of the option's kind") from None
    return text


def run(files: list[Path], format: str | None, out: Path | None, settings: list[str]) -> Iterator[str]:  # noqa: A002
    """Import the files, describe and store them; two files of `leocc` are a pair, rate first. Faults come last."""
    pair = format == PAIR and len(files) == 2
    if out is not None and len(files) > 1 and not pair:
        raise field_error("import", "--out", out, "given for one recording at a time")
    if out is not None and _is_one_of(files, out):
        raise field_error("import", "--out", out, "another file than the recording, which it would replace")
    faults = []
    for file in files[1:] if pair else files:
        try:
            importer = importers.importer_of(format) if format is not None else importers.detect(file)
            options = given_options(importer, settings) | ({"rate": files[0]} if pair else {})
            found = _with_notes(importers.read(file, importer.name, **options), file)
        except UserError as error:
            faults.append(error)
            continue
        yield from described(found)
        if out is not None:
            recording.write(found, out)
            yield f"  stored in {out}"
    if faults:
        raise Faults(faults)


def _is_one_of(files: list[Path], out: Path) -> bool:
    with suppress(OSError):  # one of them is not there
        return any(out.samefile(file) for file in files)
    return False


def _with_notes(found: Recording, file: Path) -> Recording:
    """Add what packages state of a file, such as the link behind a capture's rate."""
    added = [note for notes in loaded("lab.recording_notes").values() for note in notes(file, found.format)]
    return replace(found, notes=tuple(dict.fromkeys((*found.notes, *added))))


def described(found: Recording) -> Iterator[str]:
    """Describe a recording: its kind, its columns with their spread, and its notes."""
    what = f"{found.kind} of {found.meaning}" if found.meaning else found.kind
    length_s = found.length_s or (found.frame["t_s"][-1] if "t_s" in found.frame.columns else None)
    length = "" if length_s is None else f", {length_s:.3f} s"
    yield f"{found.source}: {found.format}, {what}, {found.frame.height} rows{length}"
    for name in found.frame.columns:
        if name != "t_s":
            yield f"  {name:17} {_spread(found.frame[name], lasting_s(found))}"
    yield from (f"  {note}" for note in found.notes)


def _spread(column: pl.Series, lasts_s: pl.Series) -> str:
    missing = f", {column.null_count()} missing" if column.null_count() else ""
    if column.dtype == pl.String:
        return f"{column.n_unique()} different{missing}"
    if column.dtype == pl.Boolean:
        return f"{column.sum()} of {len(column)}{missing}"
    known = [f"{value:.4g}" for value in quantiles(column, lasts_s, SHARES)]
    return f"p5/50/95/max {'/'.join(known)}{missing}" if known else f"all {len(column)} missing"
