# SPDX-License-Identifier: GPL-2.0-or-later
"""The certificate passes a sound trial, and each check fails when its cause is put in."""

from lab.tables.stored_trial import Trial


def test_a_real_trial_passes_every_check(small_trial: Trial) -> None:
    checks = small_trial.meta["certificate"]["checks"]
    assert small_trial.valid
    assert [check for check in checks if not check["ok"]] == []
    assert [check for check in checks if check["got"] is None] == []
