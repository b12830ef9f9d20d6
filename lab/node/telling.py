# SPDX-License-Identifier: GPL-2.0-or-later
"""How a node tells what went wrong: one line in error.txt, and a traceback beside it where that may help."""

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.node.tools import NodeError


@contextmanager
def telling(folder: Path) -> Iterator[None]:
    """Write what ends the block into a folder, and raise nothing."""
    try:
        yield
    except NodeError as error:
        (folder / "error.txt").write_text(f"{error}\n")
    except OSError as error:  # a full disk, above all
        (folder / "error.txt").write_text(f"node: {error.filename or folder}: {error.strerror or repr(error)}\n")
        (folder / "traceback.txt").write_text(traceback.format_exc())
    except SystemExit:  # who asked for it ended it, or is gone
        (folder / "error.txt").write_text("node: ended before it was through\n")
    except BaseException:  # nobody else is there to tell of it
        (folder / "error.txt").write_text(f"bug in the node's code: {sys.exc_info()[1]!r}\n")
        (folder / "traceback.txt").write_text(traceback.format_exc())
