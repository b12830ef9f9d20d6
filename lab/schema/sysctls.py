# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel settings that every trial pins."""

from lab.base.paths import SYSCTLS
from lab.schema.load import Strict, load


class Setting(Strict):
    """A value, and why it is pinned."""

    value: str
    reason: str


class Sysctls(Strict):
    """Settings of the ends, of the kernel, and of the ends' default route."""

    ends: dict[str, Setting]
    kernel: dict[str, Setting]
    route: dict[str, Setting]

    def values(self) -> dict[str, dict[str, str]]:
        """Return the bare values, by scope."""
        return {
            scope: {name: setting.value for name, setting in getattr(self, scope).items()}
            for scope in ("ends", "kernel", "route")
        }


def load_sysctls() -> Sysctls:
    """Read lab/sysctls.yml."""
    return load(Sysctls, SYSCTLS)
