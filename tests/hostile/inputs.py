# SPDX-License-Identifier: GPL-2.0-or-later
"""The corpus: bad inputs, each with the line that refuses it (corpus.toml explains its fields)."""

import gzip
import os
import tomllib
from pathlib import Path
from typing import Any

CORPUS = tomllib.loads((Path(__file__).parent / "corpus.toml").read_text(encoding="utf-8"))
BASES: dict[str, str] = CORPUS.pop("base")
INPUTS: dict[str, dict[str, Any]] = {
    name: {"name": name, "reads": reads, **one} for reads, named in CORPUS.items() for name, one in named.items()
}


def write(one: dict[str, Any], folder: Path) -> Path:
    file = folder / str(one.get("file", file_name(one["reads"])))
    if one.get("pipe"):
        os.mkfifo(file)
    elif "device" in one:
        file.symlink_to(one["device"])
    else:
        file.write_bytes(_content(one))
    return file


def file_name(reads: str) -> str:
    """Return the name of a file that a reader takes."""
    return reads if "." in reads else "mine.yml"


def _content(one: dict[str, Any]) -> bytes:
    text = one.get("before", "") + one.get("content", "") * one.get("repeat", 1) + one.get("after", "")
    if one.get("changed"):
        text = _changed(BASES[one["reads"]], text)
    content = bytes.fromhex(text) if one.get("hex") else text.encode()
    return gzip.compress(content, compresslevel=1) if one.get("gzip") else content


def _changed(base: str, changes: str) -> str:
    """Replace the lines of a base whose field the changes give."""
    given = {line.split(":")[0] for line in changes.splitlines() if not line.startswith(" ")}
    kept = [line for line in base.strip().splitlines() if line.split(":")[0] not in given]
    return "\n".join([*kept, changes, ""])
