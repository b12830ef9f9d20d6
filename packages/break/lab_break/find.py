# SPDX-License-Identifier: GPL-2.0-or-later
"""A find: the smallest link that shows a sender's weakness, as files that repeat it anywhere."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypedDict

import yaml

from lab.base.contract import read_checked
from lab.base.plain_file import write_whole
from lab_break.measures import Trials
from lab_break.numbers import Numbers
from lab_break.request import Request, RequestJson
from lab_break.space import Point, content_of

FILE, LINK = "find.json", "link.yml"
FORMAT = 1


class FindJson(TypedDict):
    """find.json."""

    format: Annotated[int, "version of the stored form"]
    request: Annotated[RequestJson, "the search"]
    value: Annotated[float, "the link's value by the measure", ""]
    point: Annotated[dict[str, float | str], "the link's parameters"]
    kernel: Annotated[dict[str, str], "digests of kernel, modules and world"]
    trials: Annotated[dict[str, Numbers], "each sender on the link"]


@dataclass(frozen=True)
class Find:
    """A link, and who did what on it."""

    request: Request
    point: Point
    value: float
    trials: Trials
    kernel: dict[str, str]

    @property
    def link(self) -> Path:
        return self.request.folder / LINK

    @property
    def digest(self) -> str | None:
        """Return the digest of the sender's packets; None where it gave no result."""
        return self.trials[self.request.sender]["packets"]

    def write(self) -> Path:
        """Write find.json and the profile; return the first."""
        request = self.request
        title = f"{request.sender} is worst here by `{request.measure.name}`, within {request.bounds.title}"
        value = f"{self.value:.3g} {request.measure.unit}"
        source = f"found by lab break {request.sender} --measure {request.measure.name}: {value}"
        text = yaml.safe_dump(content_of(self.point, title, source), sort_keys=False, allow_unicode=True, width=110)
        write_whole(self.link, f"# SPDX-License-Identifier: GPL-2.0-or-later\n{text}")
        stored: FindJson = {
            "format": FORMAT,
            "request": request.stored,
            "value": self.value,
            "point": dict(self.point),
            "kernel": self.kernel,
            "trials": dict(self.trials),
        }
        return write_whole(request.folder / FILE, json.dumps(stored, indent=1))


def read_find(file: Path) -> FindJson:
    """Read find.json; UserError where it is none."""
    content: FindJson = read_checked(file, FindJson, absent=": must be the find.json of a search")
    return content
