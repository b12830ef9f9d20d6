# SPDX-License-Identifier: GPL-2.0-or-later
"""Downloads with a limit of time and size; a failure is one line with its reason."""

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from lab.base.errors import UserError

SILENCE_S = 10.0  # without a byte, and without a connection
PATIENCE_S = 60.0  # and what the slowest bearable network needs
SLOWEST_BYTES_PER_S = 20_000
BLOCK_BYTES = 1 << 16


class Unreachable(UserError):
    """A server does not answer."""


class Refused(UserError):
    """One file is not available; others may be."""


@contextmanager
def downloading(url: str) -> Iterator[IO[bytes]]:
    """Open a URL; Unreachable without network, Refused where the server does not have it."""
    request = urllib.request.Request(url, headers={"User-Agent": "search-lab"})  # noqa: S310 (the user's or ours)
    try:
        with urllib.request.urlopen(request, timeout=SILENCE_S) as stream:  # noqa: S310
            yield stream
    except urllib.error.HTTPError as error:
        raise Refused(f"{url}: {error.code} {error.reason}: must be there") from None
    except urllib.error.URLError as error:
        why = getattr(error.reason, "strerror", None) or error.reason
        raise Unreachable(f"{url}: {why}: must be reachable; without network give a folder with --mirror") from None
    except (http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise Unreachable(f"{url}: {error or type(error).__name__}: must be reachable to the end of the file") from None


def copy(stream: IO[bytes], sink: IO[bytes], most_bytes: int, what: str) -> bool:
    """Copy a stream; returns whether it ended within so many bytes. UserError where it takes too long."""
    end = time.monotonic() + PATIENCE_S + most_bytes / SLOWEST_BYTES_PER_S
    copied = 0
    while block := stream.read(min(BLOCK_BYTES, most_bytes + 1 - copied)):
        copied += len(block)
        sink.write(block)
        if copied > most_bytes:
            return False
        if time.monotonic() > end:
            raise UserError(f"{what}: {copied} bytes so far: must come at {SLOWEST_BYTES_PER_S} bytes a second or more")
    return True
