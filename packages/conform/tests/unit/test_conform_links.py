# SPDX-License-Identifier: GPL-2.0-or-later
"""The link of a case is the case's, whatever an earlier command left in its place."""

import json
from pathlib import Path

import pytest
from lab_conform.link import written

CONTENT = {"title": "a link", "down": {"rate_mbps": 50.0}}


@pytest.mark.parametrize("left", [b"", b'{"title": "a li', json.dumps(CONTENT).replace("50", "90").encode()])
def test_a_file_that_a_killed_command_or_a_stranger_left_is_written_again(tmp_path: Path, left: bytes) -> None:
    file = written(CONTENT, tmp_path / "links")
    file.write_bytes(left)
    assert json.loads(written(CONTENT, tmp_path / "links").read_text()) == CONTENT


def test_a_link_to_another_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    file = written(CONTENT, tmp_path / "links")
    (canary := tmp_path / "canary").write_text("as it was")
    file.unlink()
    file.symlink_to(canary)
    assert json.loads(written(CONTENT, tmp_path / "links").read_text()) == CONTENT
    assert canary.read_text() == "as it was"
