# SPDX-License-Identifier: GPL-2.0-or-later
"""A stranger's program and qlog take a bounded part of this machine's memory."""

import json
import shutil
from pathlib import Path

import pytest
from lab_quic.stack import elf, qlog

from lab.base.errors import UserError

CAT = Path(shutil.which("cat") or "").resolve()
LOG = json.dumps({"qlog_version": "0.3", "traces": [{"events": [{}]}]})


def test_of_many_lists_of_libraries_the_first_is_read_as_the_loader_does() -> None:
    content = CAT.read_bytes()
    header = elf.HEADER.unpack_from(content)
    tables = content[header[5] :][: header[10] * elf.SEGMENT.size]
    lists = [each for each in elf.SEGMENT.iter_unpack(tables) if each[0] == elf.DYNAMIC] * 1000
    many = elf.HEADER.pack(*header[:5], len(content), *header[6:10], header[10] + 1000, *header[11:])
    more = b"".join(elf.SEGMENT.pack(*each) for each in lists)
    assert elf.read(many + content[len(many) :] + tables + more, "cat") == elf.read(content, "cat")


def test_a_log_of_too_many_values_for_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "server.qlog"
    monkeypatch.setattr(qlog, "MOST_VALUES", sum(map(LOG.count, ",[{")))
    file.write_text(LOG)
    assert qlog.read(file, "mine").is_empty()
    file.write_text(LOG.replace("[{}]", "[{},{}]"))
    with pytest.raises(UserError, match="values=8: must be at most 6, or leave qlog out"):
        qlog.read(file, "mine")
