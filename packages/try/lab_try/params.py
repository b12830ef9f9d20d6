# SPDX-License-Identifier: GPL-2.0-or-later
"""Parameters of a user's own module on a command line: name=value, by the types that the module declares."""

import re
from collections.abc import Mapping, Sequence

from lab.base.errors import COMMAND_LINE, field_error
from lab.schema.cca import Value
from lab_try.module.build import OwnModule

ARRAY = "array of "
TEXT = (r"[!#-~]{1,200}", "1 to 200 letters, digits and signs, without blanks and quotation marks")
TEXTS = {  # types whose values are no whole numbers: a form, and how a refusal states it
    "bool": ("[01YN]", "Y or N"),
    "invbool": ("[01YN]", "Y or N"),
    "charp": TEXT,
    "string": TEXT,
    "hexint": ("0x[0-9A-Fa-f]{1,8}|0|[1-9][0-9]{0,9}", "a whole number, such as 31 or 0x1f"),
}
NUMBER = ("-?[0-9]{1,20}", "a whole number")


def read_params(given: Sequence[str], modules: Sequence[OwnModule]) -> dict[str, Value]:
    """Read name=value pairs; UserError where no module has such a parameter, or it is of another type."""
    params = dict[str, Value]()
    known = {name: kind for module in modules for name, kind in module.parameters.items()}
    for text in given:
        name, _, value = text.partition("=")
        if name not in known:
            rule = f"a parameter of the module: {', '.join(sorted(known)) or 'none'}"
            raise field_error(COMMAND_LINE, "param", name, rule)
        if name in params:
            raise field_error(COMMAND_LINE, f"param {name}", value, f"given once: it is {params[name]} already")
        params[name] = _value(name, value, known)
    return params


def _value(name: str, value: str, known: Mapping[str, str]) -> Value:
    kind = known[name]
    form, rule = TEXTS.get(kind.removeprefix(ARRAY), NUMBER)
    is_list = kind.startswith(ARRAY)
    if not all(re.fullmatch(form, each) for each in (value.split(",") if is_list else [value])):
        raise field_error(COMMAND_LINE, f"param {name}", value, f"a list with commas, each {rule}" if is_list else rule)
    if kind.removeprefix(ARRAY) == "hexint":
        return ",".join(f"{int(each, 0):#08x}" for each in value.split(","))  # as the kernel shows them
    return value if is_list or form != NUMBER[0] else int(value)
