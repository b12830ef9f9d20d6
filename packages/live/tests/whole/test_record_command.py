# SPDX-License-Identifier: GPL-2.0-or-later
"""A path is measured as it is: over loopback, over shaped links, in virtual time; and raw records are read honestly."""

import json
import socket
from pathlib import Path

import pytest
from live_paths import wait_until_listening

from lab.traces.recording import read
from tests.command import lab, press_ctrl_c, start


def test_the_command_writes_a_dataset_that_explains_itself(tmp_path: Path) -> None:
    with socket.create_server(("", 0)) as free:
        port = str(free.getsockname()[1])
    server = start(tmp_path, "traces", "record", "--server", "--port", port, PYTHONUNBUFFERED="1")
    try:
        wait_until_listening(int(port))
        words = "--seconds 1 --idle-seconds 1 --ways down --rate-mbps 10 --opportunities".split()
        out = tmp_path / "mine"
        done = lab(tmp_path, "traces", "record", "localhost", "--port", port, "--out", str(out), *words)
        again = lab(tmp_path, "traces", "record", "localhost", "--port", port, "--out", str(out), *words)
    finally:
        press_ctrl_c(server)
        _, errors = server.communicate(timeout=10)
    assert (server.returncode, errors) == (0, "")
    assert done.returncode == 0, done.stderr
    assert {file.name for file in out.iterdir()} == {
        "raw",
        "record.json",
        "idle.parquet",
        "down.parquet",
        "down-opportunities.parquet",
    }
    assert read(out / "down.parquet").format == "recorder"
    about = json.loads((out / "record.json").read_text())
    assert about["asked"]["rate_mbps"] == 10
    assert set(about) >= {"began", "server_address", "client", "server", "phases", "files"}
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)
    assert "must be a folder that does not exist yet" in again.stderr


@pytest.mark.parametrize("bound", ["--most-mbps", "--most-seconds"])
@pytest.mark.parametrize("value", ["nan", "0", "-1"])
def test_a_server_does_not_start_without_a_real_bound(tmp_path: Path, bound: str, value: str) -> None:
    done = lab(tmp_path, "traces", "record", "--server", bound, value)
    assert done.returncode == 2
    assert f"Invalid value for '{bound}'" in done.stderr
