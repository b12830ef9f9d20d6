# SPDX-License-Identifier: GPL-2.0-or-later
"""As for tests of parts."""

from tests.unit.conftest import one_process  # noqa: F401
