# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab box`, `lab image` and `lab agree`: the disk that the VM starts from, its containers, and runs on it compared."""

import json
from typing import Annotated

import typer

from lab.base.console import PlainConsole
from lab.base.host_tool import run_tool

app = typer.Typer(no_args_is_help=True, help="The VM's box, made from Debian packages alone.")
console = PlainConsole()


@app.command()
def build() -> None:
    """Build the box unless it is built, and show its checksum.

    Example: `lab box build`
    """
    from lab.images import image
    from lab_vm import build as box

    made = box.ensure()
    console.print(f"box     {made.file}", soft_wrap=True, markup=False)
    console.print(f"sha256  {made.sha256}\nbytes   {made.file.stat().st_size}", markup=False)
    for package, drift in image.drifted(box.IMAGE, made.versions).items():
        console.print(f"box: {package}: {drift}: the archive no longer has the pinned version", markup=False)


@app.command(hidden=True)
def tell(
    make: Annotated[bool, typer.Option("--make/--no-make", help="Build the box if it is missing.")] = False,
) -> None:
    """Print what the Vagrantfile needs, as JSON."""
    from lab_vm import acceleration
    from lab_vm import build as box

    built = box.ensure() if make else box.find()
    accel, why = acceleration.chosen(built.file) if built else ("qemu", "")
    choice = {"name": f"search-lab-{box.digest()}", "accel": accel, "why": why}
    print(json.dumps(choice | ({"file": str(built.file), "sha256": built.sha256} if built else {})))


@app.command(hidden=True)
def parts() -> None:
    """Build what provisioning copies to a machine, unless it is built, and print its paths for Ansible, as JSON."""
    from lab_vm import go_build, stock, world_image

    modules, packed = stock.ensure(), world_image.ensure()
    paths = {
        "modules": {"file": str(modules.packed), "release": modules.release, "names": stock.names(modules)},
        "containerlab": {"file": str(go_build.ensure()), "version": go_build.VERSION},
        "image": {"file": str(packed.file), "digest": packed.digest},
    }
    print(json.dumps(paths))


@app.command(hidden=True)
def notebook() -> None:
    """Install JupyterLab for the VM's Python, unless it is installed, and print its path for Ansible, as JSON."""
    from lab_vm import notebook

    print(json.dumps({"file": str(notebook.ensure()), "python": notebook.PYTHON}))


@app.command(hidden=True)
def kernel(
    here: Annotated[
        bool, typer.Option("--here/--there", help="Build it here, or pack the files that build it there.")
    ] = True,
) -> None:
    """Build the kernel of `kernel_mode=build`, and print its path for Ansible, as JSON."""
    from lab_vm import kernel_build

    made = kernel_build.package() if here else kernel_build.recipe()
    print(json.dumps({"file": str(made.file), "suffix": made.suffix}))


image_app = typer.Typer(no_args_is_help=True, help="The container image of containerlab's nodes.")


@image_app.command("build")
def build_image() -> None:
    """Build the image from the world's packages, and load it if Docker runs here.

    Example: `lab image build`
    """
    from lab_vm import world_image

    packed = world_image.ensure()
    console.print(f"image   {packed.file}", soft_wrap=True, markup=False)
    if run_tool("docker", "info").returncode == 0:
        world_image.load(packed)
        console.print(f"loaded  {world_image.NAME}", markup=False)
    else:
        console.print("no Docker daemon runs here: 'make provision' copies the image to the VM", markup=False)


def agree(
    scenario: Annotated[
        str, typer.Argument(help="A scenario with runs on several backends or engines.")
    ] = "engines-agree",
) -> None:
    """Compare the latest runs of a scenario by backend and engine.

    Example: `lab agree engines-agree`
    """
    from lab.base import paths
    from lab.report.text import shown
    from lab.schema.scenario import load_scenario
    from lab_vm import agree as places

    name, loaded = load_scenario(scenario)
    runs = places.latest(paths.results() / name)
    compared = [places.place_run(run, places.judged_by(run, loaded.heuristic)) for run in runs]
    console.print(shown((), (places.table(compared),), console.width))
