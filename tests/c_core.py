# SPDX-License-Identifier: GPL-2.0-or-later
"""Structs of the C cores from Python, and what every core exports."""

import ctypes
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any


def words(*names: str) -> list[tuple[str, type]]:
    """Return fields of a C struct that are a u32 each."""
    return [(name, ctypes.c_uint32) for name in names]


def octets(*names: str) -> list[tuple[str, type]]:
    """Return fields of a C struct that are a u8 each."""
    return [(name, ctypes.c_uint8) for name in names]


def flags(*names: str) -> list[tuple[str, type]]:
    """Return fields of a C struct that are true or false."""
    return [(name, ctypes.c_bool) for name in names]


def struct(values: Any) -> ctypes.Structure:
    """Return a data class's fields as a C struct of a u32 each."""
    fields = asdict(values)
    return _of_words(tuple(fields))(**fields)


@cache
def _of_words(names: tuple[str, ...]) -> type[ctypes.Structure]:
    return type("Struct", (ctypes.Structure,), {"_fields_": words(*names)})


def valid(library: Path, core: str, params: Any) -> bool:
    """Ask a core whether its parameters are in range."""
    function = getattr(ctypes.CDLL(str(library)), f"{core}_params_valid")
    function.restype = ctypes.c_bool
    return bool(function(ctypes.byref(struct(params))))
