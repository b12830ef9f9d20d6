# SPDX-License-Identifier: GPL-2.0-or-later
"""Work in a thread, whose result or error is taken where it is waited for."""

import threading
from collections.abc import Callable
from typing import Any


class Task(threading.Thread):
    """Work in a thread of its own from its construction on, with a result or an error to take."""

    def __init__(self, work: Callable[..., Any], *args: Any) -> None:
        super().__init__(daemon=True)
        self._work, self._args = work, args
        self._done: Any = None
        self._error: BaseException | None = None
        self.start()

    def run(self) -> None:
        """Do the work."""
        try:
            self._done = self._work(*self._args)
        except BaseException as error:  # raised again where it is waited for
            self._error = error

    def result(self) -> Any:
        """Wait for the end and return what came of it."""
        self.join()
        if self._error:
            raise self._error
        return self._done
