# SPDX-License-Identifier: GPL-2.0-or-later
"""The backend `virtual`: User Mode Linux in virtual time, as an ordinary process."""

import resource
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lab.backends import boot, guest_code
from lab.backends.backend import Description, Site
from lab.base.errors import field_error
from lab.images import image
from lab.images.image import Image
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab.node.plan import Plan
from lab.schema.topology import Topology

RLIMIT_SIGPENDING = 11  # asm-generic/resource.h; Python's module does not name it
LEAST_PENDING = 256
BuildProgress = Callable[[str, int | None], None]  # what is being built; steps of the compiler so far, of a kernel


@dataclass(frozen=True)
class Virtual:
    """A kernel that boots for each trial, in a root folder that all trials share."""

    kernel: Kernel
    world: Image
    engine: str = "netns"
    kind: str = "virtual"
    own_modules: Mapping[str, Path] = field(default_factory=dict)
    kernels: Mapping[str, Kernel] = field(default_factory=dict)  # of senders that need another one, by its digest

    @property
    def required_files(self) -> list[Path]:
        """Return the kernel, the root folder and modules that are not the lab's own."""
        kernels = [self.kernel, *self.kernels.values()]
        return [*(kernel.linux for kernel in kernels), self.world.root, *self.own_modules.values()]

    @property
    def digest(self) -> str:
        return self.kernel.described["kernel_digest"]

    @property
    def site(self) -> Site:
        """Return this backend with its description."""
        world = self.world
        return Site(self, Description(self.kernel.described, world.digest, world.versions, world.drifted))

    def adapt(self, plan: Plan, _folder: Path, _topology: Topology) -> Plan:
        """Return the plan unchanged."""
        return plan

    def run_plan(self, plan: Plan, folder: Path) -> None:
        """Boot a kernel that executes a plan: the one that the plan names, where its sender needs another one."""
        more = {place: self.own_modules[digest] for place, digest in plan.get("bound", {}).items()}
        boot.run_plan(plan, folder, self._kernel(plan), self.world.root, more=more)

    def run_plans(self, plans: Mapping[Path, Plan], folder: Path) -> None:
        """Boot one kernel that executes plans of one sender, by the folder of each; `folder` is the kernel's own."""
        boot.run_plans(plans, folder, self._kernel(next(iter(plans.values()))), self.world.root)

    def _kernel(self, plan: Plan) -> Kernel:
        return self.kernels[plan["kernel"]] if "kernel" in plan else self.kernel


def find_built(recipe: Recipe) -> Virtual | None:
    """Return the backend if its kernel and its world image are in the cache; UserError where a kernel would panic."""
    if 0 <= (pending := resource.getrlimit(RLIMIT_SIGPENDING)[0]) < LEAST_PENDING:
        raise field_error("environment", "ulimit -i", pending, f"{LEAST_PENDING} or more, or unlimited")
    kernel, world = build.find(recipe), image.find("world")
    return _with_guest_code(kernel, world) if kernel and world else None


def ensure_built(recipe: Recipe, progress: BuildProgress = lambda _what, _steps: None) -> Virtual:
    """Return the backend; build what the cache does not have."""
    progress("world image", None)
    world = image.ensure("world")
    progress("build image", None)
    image.ensure("builder")
    progress("kernel", 0)
    kernel = build.ensure(recipe, lambda steps: progress("kernel", steps))
    return _with_guest_code(kernel, world)


def _with_guest_code(kernel: Kernel, world: Image) -> Virtual:
    guest_code.ensure(world.root)
    return Virtual(kernel, world)
