# SPDX-License-Identifier: GPL-2.0-or-later
"""The links of a race: the kinds of link with a recording, a wire with small and large buffers, and one with fq_codel.

A trial lasts until two senders of the usual kinds have 20 MB each.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.base.choice import suggested
from lab.base.errors import COMMAND_LINE, field_error
from lab.base.named_files import profile_files
from lab.base.plain_file import write_whole
from lab.runs.link_kinds import KINDS, Link
from lab.runs.link_kinds import links as links_of_kinds
from lab.schema.load import read_yaml

LONG_S, LASTS_S = {"geo": 60}, 15
WIRE = "wired-clean"
BUFFERS_BDPS = {"0.5": 0.5, "1": 1, "4": 4}
RECORDED = ("geo", "leo", "lte", "wifi-high")
# What changes of the wire, by the link's name.
WIRES: Mapping[str, Mapping[str, Any]] = {
    **{f"wired-{name}bdp": {"buffer_bdps": bdps} for name, bdps in BUFFERS_BDPS.items()},
    "wired-fq_codel": {"buffer_bdps": 4, "queue": {"kind": "fq_codel"}},
}
NAMES = (*RECORDED, *WIRES)


def links(given: str | None, duration_s: int | None, folder: Path) -> list[Link]:
    """Return the links that are named, else all; the profiles of wires are written into a folder."""
    names = [name.strip() for name in given.split(",")] if given else list(NAMES)
    found = [_link(name, duration_s, folder) for name in names]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise field_error(COMMAND_LINE, "links", name, "a link that is named once")
    return found


def _link(name: str, duration_s: int | None, folder: Path) -> Link:
    lasts_s = duration_s or LONG_S.get(name, LASTS_S)
    if name in WIRES:
        return Link(name, str(_written(name, folder)), lasts_s)
    if name in KINDS and not KINDS[name].rival:
        return replace(KINDS[name], duration_s=lasts_s)
    if Path(name).suffix == ".yml" or name in profile_files():
        return replace(links_of_kinds([name], lasts_s)[0], duration_s=lasts_s)
    raise field_error(COMMAND_LINE, "links", name, f"a link of the race or a profile: {suggested(name, NAMES)}")


def _written(name: str, folder: Path) -> Path:
    """Write a wire's profile: JSON is YAML."""
    content = read_yaml(profile_files()[WIRE])
    content = {**content, "title": f"{content['title']}: {name}", "down": {**content["down"], **WIRES[name]}}
    folder.mkdir(parents=True, exist_ok=True)
    return write_whole(folder / f"{name}.yml", json.dumps(content, indent=1) + "\n")
