# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's pure C cores from Python: their structs, functions and enums as their own headers declare them."""

import re
import subprocess
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from cffi import FFI

from lab.base.paths import LAB

FOLDERS = LAB / "kernel/search", LAB / "kernel/startup"
HEADERS = LAB / "kernel/search/hystartpp_core.h", *sorted((LAB / "kernel/startup").glob("*_core.h"))
TYPES = "typedef {0}8_t {1}8; typedef {0}16_t {1}16; typedef {0}32_t {1}32; typedef {0}64_t {1}64;"  # search_shim.h's
INLINE = re.compile(r"^static inline .*?^}$", re.DOTALL | re.MULTILINE)  # has no symbol in the library


@cache
def _declared() -> FFI:
    includes = "".join(f'#include "{header}"\n' for header in HEADERS)
    command = "cpp", "-P", "-DSEARCH_SHIM_H", *(f"-I{folder}" for folder in FOLDERS)
    text = subprocess.run(command, input=includes, capture_output=True, text=True, check=True).stdout
    ffi = FFI()
    ffi.cdef(TYPES.format("uint", "u") + TYPES.format("int", "s") + INLINE.sub("", text))
    return ffi


@cache
def functions(library: Path) -> Any:
    """Return the functions of a library that is built from cores."""
    return _declared().dlopen(str(library))


def new(struct: str, *values: Any, **fields: Any) -> Any:
    """Make a struct of its first fields' values, or of fields by name; all others are 0."""
    return _declared().new(f"struct {struct} *", values or fields)


def number() -> Any:
    """Make a u32 that a core writes to."""
    return _declared().new("u32 *")


def content(struct: Any) -> bytes:
    return bytes(_declared().buffer(_declared().addressof(struct)))


class Core:
    """One flow of a core: its parameters and its state."""

    def __init__(self, library: Path, name: str, params: Any) -> None:
        self.lib, self.name = functions(library), name
        self.params, self.state = new(f"{name}_params", **asdict(params)), new(f"{name}_state")

    def valid(self) -> bool:
        """Whether the parameters are in range."""
        return bool(getattr(self.lib, f"{self.name}_params_valid")(self.params))

    def taken(self, event: str, *values: Any) -> Any:
        """Call a function of the core that takes the flow and what happened."""
        return getattr(self.lib, f"{self.name}_{event}")(self.state, self.params, *values)
