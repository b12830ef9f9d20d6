# SPDX-License-Identifier: GPL-2.0-or-later
"""What tests need in one line each: a file, a folder, a value that must be there, and the line of a refusal."""

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from lab.base.errors import UserError

P = ParamSpec("P")
T = TypeVar("T")


def put(file: Path, text: str) -> Path:
    """Write a file, below folders that may be new, and return its path."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def folder_at(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


def deepened(folder: Path, depth: int) -> None:
    """Make so many folders, each in the one before."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deep", dir_fd=here)
        inner = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def present(value: T | None) -> T:
    assert value is not None
    return value


@contextmanager
def few_bytes_per_file(most: int) -> Iterator[None]:
    """Let this process write files of so many bytes only, as on a disk that is almost full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def error_of(call: Callable[P, object], *given: P.args, **named: P.kwargs) -> str:
    """Return the one line with which a call is refused."""
    with pytest.raises(UserError) as refused:
        call(*given, **named)
    assert "\n" not in str(refused.value)
    return str(refused.value)
