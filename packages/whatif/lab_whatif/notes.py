# SPDX-License-Identifier: GPL-2.0-or-later
"""What `lab traces import` states of a capture's or a sender's log's link, beside the rate that a flow got."""

from pathlib import Path

from lab.base.errors import UserError
from lab_whatif import logs
from lab_whatif.judged import judged
from lab_whatif.shown import link_sentences


def of_recording(file: Path, form: str) -> list[str]:
    """Return the link of a file in sentences, or why it cannot be stated; nothing for other formats."""
    notes = list[str]()
    try:
        if form == "pcap":
            _, inferred, end = judged(file, None, notes)
            side: str = end
        elif form in logs.PER_ACK:
            inferred, side = logs.inferred_of(file, logs.read(file)), "sender, by its log"
        else:
            return []
    except UserError as error:
        return [f"The link behind it is not known: {str(error).splitlines()[0].removeprefix(f'{file}: ')}."]
    return [*link_sentences(inferred, side), *notes]
