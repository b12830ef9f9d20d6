# SPDX-License-Identifier: GPL-2.0-or-later
"""Every format of a recording: recognised by content, read into a Recording, or refused.

The core reads its own Parquet. Packages bring formats (entry points of the group `lab.importers`, each a `Formats`);
LAB_IMPORTERS names a folder with formats of the user's own.
"""

import hashlib
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from lab.base import entry_points, paths
from lab.base.additions import load_file
from lab.base.choice import one_of
from lab.base.errors import UserError, field_error
from lab.traces import recording
from lab.traces.datasets import dataset, path_of
from lab.traces.importer import Formats, Head, Importer, Option
from lab.traces.parquet import MAGIC
from lab.traces.recording import Recording

HERE = Path(__file__).parent
CODE = (".py", ".yml")


def is_stored(head: Head) -> bool:
    """Recognise the lab's own metadata."""
    return head.data.startswith(MAGIC) and recording.is_recording(head.path)


STORED = Importer("recording", "a recording of this lab (Parquet)", "the same recording", is_stored, recording.read)


@cache
def known_formats() -> dict[str, Importer]:
    """Return every importer by name; UserError where two have the same."""
    found: dict[str, Importer] = {}
    for source, formats in _sources():
        for importer in formats:
            if importer.name in found:
                raise field_error(source, "name", importer.name, "a name that no other format has")
            found[importer.name] = importer
    return dict(sorted(found.items()))


def read(path: Path, format: str | None = None, **options: Any) -> Recording:  # noqa: A002
    """Import a file; without a format, by the only importer whose format its content fits. Else UserError."""
    importer = importer_of(format) if format is not None else detect(path)
    known = options_of(importer)
    for option in options:
        if option not in known:
            rule = f"an option of {importer.name}: {', '.join(known) or 'none'}"
            raise field_error(path, option, options[option], rule)
        choices = choices_of(known[option])
        if choices and options[option] != known[option].default and str(options[option]) not in choices:
            raise field_error(path, option, options[option], f"one of {', '.join(choices)}")
    return importer.read(path, **options)


def importer_of(name: str) -> Importer:
    """Return an importer by the name of its format."""
    if name not in known_formats():
        raise field_error("import", "format", name, one_of(name, known_formats()))
    return known_formats()[name]


def detect(path: Path) -> Importer:
    """Find the one importer whose format a file's content fits."""
    found = fitting(path)
    if len(found) == 1:
        if found[0].ambiguous:
            rule = f"given with --format: {found[0].name} ({found[0].reads}), or {found[0].ambiguous}"
            raise UserError(f"{path}: format: must be {rule}")
        return found[0]
    if found:
        names = ", ".join(f"{one.name} ({one.reads})" for one in found)
        raise UserError(f"{path}: format: must be given with --format, because several fit: {names}")
    remedy = "give --format, or name the file's columns with --format columns ('lab traces formats' lists all)"
    raise UserError(f"{path}: format: must be one that the lab recognises; it resembles {resembled(path)}: {remedy}")


def resembled(path: Path) -> str:
    """Return the formats that a file which fits none resembles; UserError of a file that is known to be another's."""
    return " or ".join(name for formats in _packages() for name in formats.resembled(Head(path))) or "none"


def fitting(path: Path) -> list[Importer]:
    """Return every importer whose format a file's content fits; UserError where it is empty."""
    head = Head(path)
    if not head.data.strip():
        raise UserError(f"{path}: content: must be something: the file is empty")
    return [importer for importer in known_formats().values() if importer.fits(head)]


def code_files() -> list[Path]:
    """Return all code that can change what an import returns, the user's own formats included."""
    own = [HERE / name for name in ("importer.py", "recording.py", "columns.py")]
    brought = [file for formats in _packages() for file in sorted(formats.code.glob("**/*")) if file.suffix in CODE]
    return [*own, *brought, *_own_files()]


def options_of(importer: Importer) -> dict[str, inspect.Parameter]:
    """Return the options of a format, by name."""
    parameters = inspect.signature(importer.read).parameters
    return {name: one for name, one in parameters.items() if one.kind is inspect.Parameter.KEYWORD_ONLY}


def choices_of(option: inspect.Parameter) -> tuple[str, ...]:
    """Return the words that an option takes, one of them at a time, where its kind states them."""
    kind = option.annotation
    kinds = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    return next((tuple(map(str, get_args(one))) for one in kinds if get_origin(one) is Literal), ())


def _packages() -> list[Formats]:
    return list(entry_points.loaded("lab.importers").values())


def _sources() -> Iterator[tuple[str, Iterable[Importer]]]:
    yield __file__, (STORED,)
    for formats in _packages():
        yield str(formats.code), formats.importers()
    for file in (file for file in _own_files() if file.suffix == ".py"):
        yield str(file), getattr(load_file(file, f"own_format_{file.stem}"), "IMPORTERS", ())


def _own_files() -> list[Path]:
    folders = paths.with_own(HERE, "LAB_IMPORTERS")[1:]
    return [file for folder in folders for file in sorted(folder.iterdir()) if file.suffix in CODE]


def imported_dataset(name: str) -> Path:
    """Return the stored recording of a fetched dataset, for reading it lazily."""
    file, found = path_of(name), dataset(name)
    return stored_once(file, found.own.format, found.options, file.parent)


def imported(file: Path, form: str | None) -> Path:
    """Return the stored recording of any file: the file itself where it is one, else its import."""
    if form is None and is_stored(Head(file)):
        return file
    folder = paths.cache() / "recordings"
    folder.mkdir(parents=True, exist_ok=True)
    return stored_once(file, form, {}, folder, f"{content_digest(file)}-")


def content_digest(file: Path) -> str:
    """Digest what a file holds."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def stored_once(file: Path, form: str | None, options: dict[str, Option], folder: Path, prefix: str = "") -> Path:
    """Return the stored recording of a file, imported by the same code with the same options now or before."""
    request = f"{form}" + "".join(f" {name}={value}" for name, value in sorted(options.items()))
    kept = folder / f"recording-{prefix}{digest(request)}.parquet"
    if not kept.exists():
        recording.write(read(file, form, **options), kept)
    return kept


@cache
def digest(request: str) -> str:
    """Digest an importer's options and all code that can change what it returns, the user's own formats included."""
    code = hashlib.sha256(request.encode())
    for file in code_files():
        code.update(file.read_bytes())
    return code.hexdigest()[:16]
