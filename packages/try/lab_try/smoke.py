# SPDX-License-Identifier: GPL-2.0-or-later
"""The smoke test of a user's own module: a second of flows in a virtual kernel, and what went wrong there."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from lab.backends import boot
from lab.backends.records import LOG, TrialError
from lab.base import paths
from lab.base.errors import UserError
from lab.base.plain_file import write_whole
from lab.base.scratch import scratch_folder
from lab.kernel.build import Kernel, digest_of_files
from lab.schema.cca import Value
from lab_try.findings import Finding, faults
from lab_try.module.build import OwnModule, Where
from lab_try.node.smoke import STEP_FILE, Smoke, smoke

HERE = Path(__file__).parent
MEASURED = [paths.LAB / "node" / "measure" / name for name in ("kmemleak.py", "splats.py")]
FILE = "own/own.ko"
MEMORY_MB, SANITIZED_MEMORY_MB = 256, 1024
PROCESSOR_S, SANITIZED_PROCESSOR_S = 8, 15  # of a test that takes 1 and 4: a hook that does not return ends here


class SmokeError(UserError):
    """A module that did not pass; `log_file` keeps what the kernel printed."""

    def __init__(self, module: OwnModule, kernel: str, finding: Finding, log_file: Path) -> None:
        super().__init__(f"{finding.place or module.source.path}: {kernel}: {finding.message} (log: {log_file})")
        self.log_file = log_file


@dataclass(frozen=True)
class SmokeTest:
    """A module with its parameters, in one kernel."""

    module: OwnModule
    params: dict[str, Value]
    kernel: Kernel
    world: Path
    sanitized: bool = False

    def run(self) -> Smoke:
        """Return what the module registered; SmokeError where a flow, the module or the kernel failed."""
        stored = self.module.folder / f"{self._name}.json"
        if not stored.exists():
            write_whole(stored, json.dumps(self._run()))
        found: Smoke = json.loads(stored.read_text())
        return found

    @property
    def _name(self) -> str:
        """Name a test of these parameters in this kernel, by this code."""
        params = [f"{name}={value}" for name, value in sorted(self.params.items())]
        code = [*sorted(HERE.glob("*.py")), HERE / "node" / "smoke.py", *MEASURED]
        return f"smoke-{digest_of_files(code, self.kernel.folders[0].name, *params)}"

    @property
    def _kernel_label(self) -> str:
        return "smoke test in the sanitized kernel" if self.sanitized else "smoke test"

    def _run(self) -> Smoke:
        with scratch_folder() as folder:
            (folder / FILE).parent.mkdir()
            shutil.copyfile(self.module.file, folder / FILE)
            result, error = self._call(folder)
            log = (folder / LOG).read_text() if (folder / LOG).exists() else ""
            step = (folder / STEP_FILE).read_text()[:100] if (folder / STEP_FILE).exists() else "booting"
        log_file = write_whole(self.module.folder / f"{self._name}.log", log)
        where = Where(self.module)
        for finding in faults(log, error, step, result, where):
            raise SmokeError(self.module, self._kernel_label, finding, log_file)
        assert result
        return result

    def _call(self, folder: Path) -> tuple[Smoke | None, str]:
        """Run the test; returns its result, or the error that ended it."""
        arguments = {
            "file": FILE,
            "name": self.module.name,
            "params": self.params,
            "depends": list(self.module.depends),
        }
        memory_mb = SANITIZED_MEMORY_MB if self.sanitized else MEMORY_MB
        processor_s = SANITIZED_PROCESSOR_S if self.sanitized else PROCESSOR_S
        try:
            called = boot.call(
                smoke, arguments, folder, self.kernel, self.world, memory_mb=memory_mb, processor_s=processor_s
            )
        except TrialError as error:
            return None, str(error)
        result: Smoke = called.result
        return result, ""
