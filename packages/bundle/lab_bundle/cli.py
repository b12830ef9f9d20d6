# SPDX-License-Identifier: GPL-2.0-or-later
"""The `lab bundle` commands: each reads its arguments and calls one function."""

import platform
from pathlib import Path
from typing import Annotated

import typer

from lab.base.console import PlainConsole
from lab.base.errors import COMMAND_LINE, UserError

app = typer.Typer(no_args_is_help=True, help="One file with all that the lab builds or downloads: docs/bundle.md.")
console = PlainConsole()
PARTS = ("recordings", "wheels", "jupyter")


@app.command()
def make(
    file: Annotated[Path, typer.Argument(help="The bundle to write.")],
    parts: Annotated[
        str,
        typer.Option(
            "--with", help="recordings (whose licence allows it), wheels, jupyter (more wheels), quic: commas between."
        ),
    ] = "",
    python: Annotated[str | None, typer.Option(help="Python of the wheels; default: this one's version.")] = None,
) -> None:
    """Write kernel, modules and images, as built here, to one file.

    Example: `lab bundle make search-lab.bundle --with recordings,wheels`
    """
    from lab.base.choice import choose
    from lab_bundle.content import programs_of
    from lab_bundle.make import make as write

    if (file.exists() and not file.is_file()) or not file.parent.is_dir():
        raise UserError(f"{file}: must be a file in a folder that is there")
    programs = programs_of()
    known = [*PARTS, *programs]
    requested = [choose("with", name, known, COMMAND_LINE, "with") for name in parts.split(",") if name]
    chosen = [name for name in programs if name in requested]
    for program in (each for name in chosen for each in programs[name]):
        program.ensure(lambda what: console.print(f"{what}, once", markup=False))
    version = python or ".".join(platform.python_version_tuple()[:2])
    jupyter = "jupyter" in requested
    with_wheels = jupyter or "wheels" in requested
    wheels_of = version if with_wheels else None
    manifest = write(file, "recordings" in requested, wheels_of, jupyter, chosen)
    held = f"{len(manifest.folders)} folders, {manifest.files} files"
    packages = f"wheels for Python {manifest.python}" if manifest.python else "no wheels"
    line = f"{file}: {file.stat().st_size / 1e6:.0f} MB: commit {manifest.version}, {held}, {packages}"
    console.print(line, soft_wrap=True, markup=False)


@app.command()
def use(file: Annotated[Path, typer.Argument(help="A bundle of this commit.")]) -> None:
    """Install a bundle in the cache: no network, no build, no root.

    Example: `lab bundle use search-lab.bundle`
    """
    from lab.base import paths
    from lab_bundle.use import use as install

    manifest = install(file)
    console.print(
        f"{paths.cache()}: {len(manifest.folders)} folders of the bundle of {manifest.version}, every digest right",
        soft_wrap=True,
        markup=False,
    )
