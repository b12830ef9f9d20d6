# SPDX-License-Identifier: GPL-2.0-or-later
"""The data dictionary: what `lab data-dictionary` prints, or, while there is no such command, the sample's columns."""

import subprocess
from pathlib import Path

from pyarrow import parquet

from lab.base.paths import REPO

HEAD = (
    "# Data dictionary\n\nEvery table of a stored trial, column by column. Missing values are null, never 0 or -1.\n\n"
)
UNITS = {
    "_s": "s, from the data connection's SYN unless the text says otherwise",
    "_ms": "ms",
    "_us": "µs",
    "_ns": "ns",
    "_bytes": "bytes",
    "_pkts": "packets",
    "_mbps": "Mb/s",
    "_bps": "b/s",
    "_pct": "%",
}


def page() -> str:
    """Write the page as Markdown."""
    command = [str(REPO / "scripts" / "lab"), "data-dictionary"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        text = done.stdout
        return text if text.lstrip().startswith("# ") else HEAD + text
    return HEAD + "\n".join(_table(file) for file in _tables())


def _tables() -> list[Path]:
    trials = sorted((REPO / "analysis" / "sample").glob("*/*/trials/search-001/*.parquet"))
    return list({file.name: file for file in trials}.values())


def _table(file: Path) -> str:
    schema = parquet.read_schema(file)
    described = (schema.metadata or {}).get(b"description", b"").decode()
    lines = [
        f"## {file.stem}\n",
        f"{described}\n" if described else "",
        "| column | type | unit | meaning |",
        "|---|---|---|---|",
    ]
    for field in schema:
        said = {key.decode(): value.decode() for key, value in (field.metadata or {}).items()}
        unit = said.get("unit") or next((text for end, text in UNITS.items() if field.name.endswith(end)), "")
        lines.append(f"| `{field.name}` | {field.type} | {unit} | {said.get('description', '')} |")
    return "\n".join(lines) + "\n"
