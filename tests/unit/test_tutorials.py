# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tutorials let a user write is accepted by the lab."""

import re
from pathlib import Path

import pytest
import yaml

from lab.base.errors import UserError
from lab.base.paths import REPO
from lab.links.profile import read_profile

LINK = REPO / "docs" / "tutorials" / "link.md"


def blocks(page: Path) -> list[str]:
    """Return the code blocks of a page, without their indentation."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", page.read_text(), re.MULTILINE)
    return [re.sub(r"^    ", "", block, flags=re.MULTILINE).strip() + "\n" for block in found]


def profiles() -> list[str]:
    """Return the first profile of the tutorial, and the same with each other `down` that the tutorial shows."""
    first, *others = (block for block in blocks(LINK) if re.search("^down:", block, re.MULTILINE))
    whole = yaml.safe_load(first)
    buffer = {"buffer_bdps": whole["down"]["buffer_bdps"]}
    changed = [yaml.safe_load(other)["down"] for other in others]
    return [
        first,
        *(yaml.safe_dump(whole | {"down": down if "buffer_bytes" in down else buffer | down}) for down in changed),
    ]


@pytest.mark.parametrize("profile", profiles())
def test_each_link_of_the_tutorial_is_a_profile(tmp_path: Path, profile: str) -> None:
    (tmp_path / "my-link.yml").write_text(profile)
    assert read_profile(tmp_path / "my-link.yml").title == "My link"


def test_the_error_that_the_tutorial_shows_is_the_one_that_a_user_gets(tmp_path: Path) -> None:
    (tmp_path / "my-link.yml").write_text(profiles()[0].replace("rate_mbps: 20", "rate_mbps: -3"))
    with pytest.raises(UserError) as refused:
        read_profile(tmp_path / "my-link.yml")
    assert str(refused.value).replace(str(tmp_path), "trace-profiles") in LINK.read_text()
