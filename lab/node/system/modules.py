# SPDX-License-Identifier: GPL-2.0-or-later
"""The running kernel's modules: loading one, its description, and its parameters as they now are."""

import ctypes
import os
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypedDict

from lab.node.system import small_file
from lab.node.system.libc import LIBC
from lab.node.system.tools import NodeError, run

SYS = Path("/sys/module")
REFUSERS = ("TCP:",)  # net/ipv4/tcp_cong.c states why it registers no congestion control
FLAGS = {"Y": "1", "N": "0"}  # how the kernel shows a parameter of type bool
_stated: dict[str, dict[str, int | str]] = {}  # the parameters with which each module was loaded
PATIENCE_S = 30  # the last sockets of a namespace go some time after it


class Parameter(TypedDict):
    """One parameter of a module."""

    name: str
    value: str
    meaning: str  # as the module states it


class Described(TypedDict):
    """What is known of a module."""

    file: str
    description: str | None
    parameters: list[Parameter]


def load(name: str, params: Mapping[str, int | str] | None = None, file: Path | None = None) -> None:
    """Load a module, by its name or from a file; where the kernel refuses it, its log has the reason."""
    _require_same(name, params or {})
    try:
        if file or not loaded(name):
            stated = [f"{key}={value}" for key, value in (params or {}).items()]
            if file or not _insert(name, stated):
                run(*(("insmod", str(file)) if file else ("modprobe", name)), *stated)
    except NodeError as error:
        since_init = run("dmesg", "--notime").rpartition(" as init process\n")[2]
        logged = [line for line in since_init.splitlines() if line.startswith((name, *REFUSERS))]
        rules = [line for line in logged if "must be" in line]  # the module's own line comes before the kernel's
        raise NodeError(f"{error}; kernel: {[*logged, *rules][-1] if logged else 'silent'}") from None
    for key, value in (params or {}).items():
        try:
            got = small_file.read(SYS / name / "parameters" / key).strip()
        except OSError:
            raise NodeError(f"module {name}: {key}: must be a readable parameter: module_param(.., 0444)") from None
        if not shown_as(got, value) and not (_is_array(str(file or name), key) and _begins(got, str(value))):
            reason = "the module itself changed it" if file else "it was loaded before: unload it"
            raise NodeError(f"module {name}: {key}={got}: must be {value}: {reason}")


def _require_same(name: str, params: Mapping[str, int | str]) -> None:
    """Refuse a module that an earlier trial of this boot loaded with other parameters: it keeps them."""
    if (before := _stated.setdefault(name, dict(params))) != params:
        raise NodeError(f"module {name}: {before}: must be {params}: it was loaded before in this boot")


def shown_as(got: str, value: int | str) -> bool:
    """Return whether a parameter has this value, by what the kernel shows of it."""
    return str(value) in (got, FLAGS.get(got))


def _is_array(module: str, key: str) -> bool:
    return f"{key}:array of " in run("modinfo", "--field", "parmtype", module)


def _begins(got: str, value: str) -> bool:
    """Return whether a list begins with these values: without a count, the kernel shows the module's others, too."""
    shown, stated = got.split(","), value.split(",")
    return len(shown) >= len(stated) and all(map(shown_as, shown, stated))


def load_all(names: Iterable[str]) -> None:
    """Load modules that need no parameters, in one go."""
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        _require_same(name, {})
    missing = [name for name in wanted if not (loaded(name) or _insert(name))]
    try:
        if missing:
            run("modprobe", "--all", *missing)
    except NodeError:
        for name in missing:  # the one that is refused reports why
            load(name)


def _insert(name: str, stated: Iterable[str] = ()) -> bool:
    """Load a module, and those that it needs, without a process; False where that is left to modprobe.

    modprobe also knows compressed modules, and reports what the kernel refuses.
    """
    file, *needed = _files().get(name, [""])
    if any(not each.endswith(".ko") for each in (file, *needed)):
        return False
    loads = [(each, "") for each in reversed(needed) if not loaded(_name(each))] + [(file, " ".join(stated))]
    return all(_init(Path(_folder(), each).read_bytes(), values) for each, values in loads)


def _init(content: bytes, values: str) -> bool:
    """Load a module's content; return whether the kernel took it."""
    return not LIBC.init_module(content, ctypes.c_ulong(len(content)), values.encode())


@cache
def _files() -> dict[str, list[str]]:
    """Return the file of each module, followed by those that it needs, as depmod lists them."""
    listed = _folder() / "modules.dep"
    lines = [line.split() for line in listed.read_text().splitlines()] if listed.exists() else []
    return {_name(file): [file.removesuffix(":"), *needed] for file, *needed in lines}


def _name(file: str) -> str:
    return Path(file).name.split(".")[0].replace("-", "_")


def _folder() -> Path:
    return Path("/lib/modules", os.uname().release)


def loaded(name: str) -> bool:
    """Return whether a module is there already; one that is built in always is."""
    return (SYS / name).exists() or name in _built_in()


@cache
def _built_in() -> frozenset[str]:
    listed = _folder() / "modules.builtin"
    return frozenset(Path(line).stem for line in listed.read_text().split()) if listed.exists() else frozenset()


def unload(names: list[str], patience_s: int = PATIENCE_S) -> None:
    """Unload modules; what uses one may take its time to go."""
    for name in reversed(names):
        for _ in range(patience_s * 10):
            try:
                _remove(name)
                break
            except NodeError as error:
                refusal = error
                time.sleep(0.1)
        else:
            raise refusal


def _remove(name: str) -> None:
    """Unload a module; modprobe knows none that came as a file."""
    listed = subprocess.run(["modinfo", name], capture_output=True, check=False).returncode == 0
    run(*(("modprobe", "--remove") if listed else ("rmmod",)), name)
    _stated.pop(name, None)


@contextmanager
def given_back(names: list[str]) -> Iterator[None]:
    """Unload after the block what of these modules it loaded."""
    mine = [name for name in names if not loaded(name)]
    try:
        yield
    finally:
        unload([name for name in mine if loaded(name)])


def describe(name: str) -> Described:
    """Load a module, and return what is known of it."""
    load_all([name])
    fields = [line.split(":", 1) for line in run("modinfo", name).splitlines() if ":" in line]
    about = {key.strip(): value.strip() for key, value in fields}
    meanings = dict(value.strip().split(":", 1) for key, value in fields if key.strip() == "parm")
    return {
        "file": about["filename"],
        "description": about.get("description"),
        "parameters": [
            {"name": parameter, "value": value, "meaning": meanings.get(parameter, "")}
            for parameter, value in readable(name).items()
        ],
    }


def readable(name: str) -> dict[str, str]:
    """Read those parameters of a module that it lets be read; none of a module that is built in without any."""
    files = sorted((SYS / name / "parameters").glob("*"))
    return {file.name: small_file.read(file).strip() for file in files if file.stat().st_mode & 0o444}
