# SPDX-License-Identifier: GPL-2.0-or-later
"""The lab's own recordings, as Parquet."""

from lab.traces import recording
from lab.traces.importers.reading.importer import Head, Importer
from lab.traces.parquet import MAGIC


def fits(head: Head) -> bool:
    """Recognise the lab's own metadata."""
    return head.data.startswith(MAGIC) and recording.is_recording(head.path)


IMPORTERS = (Importer("recording", "a recording of this lab (Parquet)", "the same recording", fits, recording.read),)
