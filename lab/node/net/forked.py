# SPDX-License-Identifier: GPL-2.0-or-later
"""A function of ours that runs in a node, in a forked process: an interpreter of its own costs 0.1 s to start."""

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from lab.node.net.namespace import enter
from lab.node.system.tools import NodeError


class Forked:
    """One such process, from its construction on; what the function returns comes back as JSON."""

    def __init__(self, node: str, work: Callable[..., Any], *args: Any) -> None:
        self.name = work.__name__
        reading, writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            os.close(reading)
            _work(node, writing, work, args)
        os.close(writing)
        self.answers = os.fdopen(reading)

    def answer(self) -> Any:
        """Wait for the function's end and return what it returned."""
        with self.answers as stream:
            answer = stream.read()
        if os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]):
            raise NodeError(f"{self.name}: {answer.strip()}")
        return json.loads(answer)

    def stop(self) -> Any:
        """End a function that runs until it is stopped; SystemExit is raised in it, and it may return something yet."""
        os.kill(self.pid, signal.SIGTERM)
        return self.answer()


def _work(node: str, writing: int, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Never return: this is the other process."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    code, result = 0, "null"
    try:
        enter(node)
        result = json.dumps(work(*args))
    except SystemExit:
        pass
    except BaseException as error:
        code, result = 1, repr(error)
    finally:
        os.write(writing, result.encode())
        os._exit(code)
