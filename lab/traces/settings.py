# SPDX-License-Identifier: GPL-2.0-or-later
"""An importer's options as a command line writes them: name=value."""

import inspect
from pathlib import Path
from typing import Any, get_args, get_origin

from lab.base.errors import UserError, field_error
from lab.traces import importers
from lab.traces.importers.reading.importer import Importer, Option

FLAGS = {"yes": True, "true": True, "no": False, "false": False}


def options_of(importer: Importer, settings: list[str]) -> dict[str, Option]:
    """Read `name=value` settings as the importer's options; lists are separated by commas."""
    known = importers.options_of(importer)
    found: dict[str, Option] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or name not in known:
            raise field_error(
                "import", "--set", setting, f"name=value of {importer.name}: {', '.join(known) or 'no option'}"
            )
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
