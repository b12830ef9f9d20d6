# SPDX-License-Identifier: GPL-2.0-or-later
"""What stress tests share: every sender, a small link and a slow one, calls in the guest that no splat may follow."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lab.backends import boot
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.links.profile import Profile
from lab.node.measure.splats import splats
from lab.runs.plan import draw, make_plan
from lab.schema.cca import load_ccas
from lab.tables.kernel_log import since_init
from tests.brief import folder_at
from tests.conftest import SMALL, experiment_on
from tests.guest import checked as guest_checked

PATIENCE_S = 1800  # wall: with all checks on, a call may take minutes
NEEDED = ("topology", "ends", "addresses", "sysctls", "shapes")


def algorithms() -> list[str]:
    """Name the congestion control of every stanza of cca.yml."""
    return list(dict.fromkeys(cca.algorithm for cca in load_ccas().values()))


def link(profile: Profile = SMALL) -> dict[str, Any]:
    """Build a link, with every sender's module."""
    experiment = experiment_on(profile, "cubic")
    plan = make_plan(experiment, experiment.ccas["cubic"], draw(experiment, 1))
    modules = [cca.module for cca in load_ccas().values() if cca.module]
    return {name: value for name, value in plan.items() if name in NEEDED} | {"modules": list(dict.fromkeys(modules))}


SLOW = Profile.model_validate(
    {
        "title": "a slow path, for tests of many rounds",
        "down": {"rate_mbps": 4.0, "delay_ms": 5.0, "buffer_bytes": 50_000},
        "up": {"delay_ms": 5.0},
        "recorded": [],
        "assumed": ["everything"],
    }
)


class Guest:
    """Calls functions in kernels booted for them; none may be followed by a complaint of the kernel, or a leak."""

    def __init__(self, folder: Path, kernel: Kernel, world: Image) -> None:
        self.folder, self.kernel, self.world = folder, kernel, world

    def call(
        self, function: Callable[..., Any], files: Mapping[str, Path] = MappingProxyType({}), /, **arguments: Any
    ) -> Any:
        """Call a function in the guest, beside copies of files by their name below the trial's folder."""
        folder = folder_at(self.folder / f"{function.__name__}-{len(list(self.folder.iterdir()))}")
        for name, file in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / name)
        requested = {"module": function.__module__, "function": function.__name__, "arguments": arguments}
        called = boot.call(
            guest_checked.checked, requested, folder, self.kernel, self.world.root, patience_s=PATIENCE_S
        )
        assert splats(since_init(called.log)) == []
        assert not called.result["leaks"]
        return called.result["answer"]
