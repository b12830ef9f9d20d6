# SPDX-License-Identifier: GPL-2.0-or-later
"""A recording as a command line gives it: by the name of a fetched one, or as a file with a format and its options."""

import inspect
from pathlib import Path
from typing import Any, get_args, get_origin

from lab.base.errors import UserError, field_error
from lab.traces import importers, recording
from lab.traces.datasets import dataset, datasets, path_of, stem
from lab.traces.imported import stored_once
from lab.traces.importer import Importer, Option
from lab.traces.recording import Recording

FLAGS = {"yes": True, "true": True, "no": False, "false": False}


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
    """Read a value by the type of its option."""
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
