# SPDX-License-Identifier: GPL-2.0-or-later
"""How a node reports an error: one line in error.txt, and traceback.txt where a traceback may help."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.node.system.tools import NodeError


@contextmanager
def errors_stored(folder: Path) -> Iterator[None]:
    """Write the error that ends the block into a folder, and raise nothing."""
    try:
        yield
    except NodeError as error:
        (folder / "error.txt").write_text(f"{error}\n")
    except OSError as error:  # a full disk, above all
        (folder / "error.txt").write_text(f"node: {error.filename or folder}: {error.strerror or repr(error)}\n")
        _write_traceback(folder)
    except SystemExit:  # the command that requested the trial ended it, or has gone
        (folder / "error.txt").write_text("node: ended before it was through\n")
    except BaseException:  # nothing else would report it
        (folder / "error.txt").write_text(f"bug in the node's code: {sys.exc_info()[1]!r}\n")
        _write_traceback(folder)


def _write_traceback(folder: Path) -> None:
    """Write the traceback of the present error."""
    import traceback  # here: no trial without an error waits for it

    (folder / "traceback.txt").write_text(traceback.format_exc())
