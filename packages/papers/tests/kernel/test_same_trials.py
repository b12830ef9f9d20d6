# SPDX-License-Identifier: GPL-2.0-or-later
"""The trials of `lab same` give the same values each time, and other values once anything about them changes."""

from pathlib import Path

import pytest
import yaml
from lab_papers.same import reference, trials
from lab_papers.same.reference import Values, values_of

from lab.runs.pool import attempt
from lab.tables.stored_trial import Trial
from tests.conftest import Bench


def run(bench: Bench, folder: Path, **changes: object) -> dict[str, Values]:
    """Run one short trial of the list's own link."""
    folder.mkdir()
    content = yaml.safe_load(trials.FILE.read_text()) | {"trials": 1}
    content["runs"] = {"mine": {"ccas": ["bbr"], "duration_s": 1, **changes}}
    (folder / "same.yml").write_text(yaml.safe_dump(content))
    (job,) = trials.jobs(bench.backend, folder, trials.experiments(folder / "same.yml"))
    result = attempt(job)
    assert not isinstance(result, str), result
    return {trials.name_of(job): values_of(Trial(job.folder))}


def test_a_trial_is_the_same_until_its_link_changes(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reference, "require_clean", lambda: "c0ffee")
    reference.write(run(bench, tmp_path / "first"), bench.backend.site.description, tmp_path / "reference")
    stored = reference.read(tmp_path / "reference")
    again, other = run(bench, tmp_path / "again"), run(bench, tmp_path / "other", down={"rate_mbps": 7})
    assert reference.difference("mine/bbr-001", again["mine/bbr-001"], stored) == []
    lines = reference.difference("mine/bbr-001", other["mine/bbr-001"], stored)
    assert lines[0].startswith("packets, acks")
    assert lines[1].startswith("packet ")
    assert lines[2].startswith("  here       t_s=")
    assert lines[3].startswith("  reference  t_s=")
