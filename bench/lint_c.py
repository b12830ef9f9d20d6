# SPDX-License-Identifier: GPL-2.0-or-later
"""`python -m bench.lint_c`: the warnings of checkpatch, sparse and gcc's W=1 about the modules."""

import re
import subprocess
import sys

from lab.base.scratch import scratch_folder
from lab.images import image
from lab.images.compile import Compile
from lab.kernel import build
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe

SPARSE = "C=2"  # check every file, compiled again or not
WARNING = re.compile(r"^\S+\.[ch]:\d+.*(?:warning|error):")
CHECKPATCH = "--no-tree --terse --no-summary --file".split()


def checkpatch(kernel: Kernel) -> list[str]:
    """Return its warnings and errors, one line each; Perl is the machine's own (git brings it)."""
    script = kernel.linux.parents[1] / "src/scripts/checkpatch.pl"
    files = [file for folder in build.MODULES for file in sorted(folder.glob("*.[ch]"))] + [build.PRELOAD]
    with scratch_folder() as folder:  # it writes a list of names where it runs
        argv = ["perl", str(script), f"--root={script.parents[1]}", *CHECKPATCH, *map(str, files)]
        done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    return done.stderr.splitlines() + done.stdout.splitlines()


def compilers(kernel: Kernel) -> list[str]:
    """Return the warnings of gcc with W=1, and of sparse where the builder has it, about the modules' own files."""
    builder = image.ensure("builder")
    sparse = [SPARSE] if (builder.root / "usr/bin/sparse").exists() else []
    with scratch_folder() as folder:
        compile_ = Compile(builder.root, folder, lambda _steps: None, build.PLACE, kernel.linux.parents[1])
        build.make_modules(compile_, "W=1", *sparse)
        lines = compile_.log.read_text().splitlines()
        compile_.log.unlink()
    return [line for line in lines if WARNING.match(line) and _is_own(line.split(":")[0])]


def _is_own(file: str) -> bool:
    """Return whether the compiler's name of a file is a module's: since 6.13 make works in the module's folder."""
    return file.startswith(build.PLACE) or "/" not in file


def main() -> None:
    """Print every complaint, and fail where there is one."""
    kernel = build.ensure(Recipe())
    complaints = checkpatch(kernel) + compilers(kernel)
    print("\n".join(complaints) or "C: clean")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
