# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands about what is cached and built on this machine, and how fast it is."""

from typing import Annotated

import typer

from lab.commands.cli_options import KernelSource, KernelVersion, console
from lab.kernel.versions import DEFAULT

app = typer.Typer()
kernel_app = typer.Typer(no_args_is_help=True, help="The virtual-time kernel and the sender modules.")


@app.command()
def clean(
    cache: Annotated[
        bool, typer.Option("--cache", help="Also remove kernels and images: the next run builds them.")
    ] = False,
) -> None:
    """Remove unfinished trials, the inner runs of lab whatif and other leftovers; results stay.

    Example: `lab clean`
    """
    from lab.commands.clean import tidy

    for removed in tidy(cache):
        console.print(f"removed {removed}", soft_wrap=True, markup=False)


@kernel_app.command()
def build(
    kernel: KernelVersion = DEFAULT,
    source: KernelSource = None,
    sanitize: Annotated[bool, typer.Option("--sanitize", help="Build with the kernel's bug checkers: slow.")] = False,
) -> None:
    """Build the virtual-time kernel and the modules that the cache lacks.

    Example: `lab kernel build`
    """
    from lab.commands.prepare import prepare
    from lab.kernel.recipe import Recipe

    virtual = prepare(Recipe(kernel, source, sanitize), console)
    lines = [f"kernel   {virtual.kernel.linux}", f"modules  {virtual.kernel.modules}", f"world    {virtual.world.root}"]
    console.print("\n".join(lines), soft_wrap=True, markup=False)
