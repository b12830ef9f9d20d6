# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of stacks for tests."""

import shutil
from pathlib import Path
from typing import Any

import yaml

ENDS = Path(__file__).with_name("stack_ends.py")
TINY = {
    "name": "tiny",
    "version": "1",
    "licence": "GPL-2.0-or-later",
    "transport": "udp",
    "server": "python3 ends.py serve {address} {port} {cca} {qlog}/server.sqlog",
    "client": "python3 ends.py get {address} {port} {bytes}",
    "controls": ["stops", "halves"],
    "qlog": "server.sqlog",
    "files": ["ends.py"],
}


def written(folder: Path, **fields: Any) -> Path:
    """Write the file of the small stack, with other fields; None leaves one out."""
    shutil.copyfile(ENDS, folder / "ends.py")
    file = folder / "tiny.yml"
    content = {name: value for name, value in {**TINY, **fields}.items() if value is not None}
    file.write_text(yaml.safe_dump(content))
    return file
