# SPDX-License-Identifier: GPL-2.0-or-later
"""The model of this machine's processor: wall times mean little without it."""

import platform
from pathlib import Path


def processor() -> str:
    """Return the model's name, or the architecture where the system gives no name."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return models[0] if models else platform.machine()
