# SPDX-License-Identifier: GPL-2.0-or-later
"""Exits as tcp_probe alone shows them: an oracle for the records that modules give."""

from typing import Any

from lab.tables.stored_trial import Trial


def seen_exit(trial: Trial) -> dict[str, Any] | None:
    """The download's exit: the ACK before the first one that finds a finite ssthresh, and the next one's time.

    tcp_probe shows the socket before each ACK; its ssthresh is tcp_current_ssthresh(), at least 3/4 of cwnd.
    """
    acks = trial.acks.filter(flow=1)
    finite = acks["ssthresh_pkts"].is_not_null().arg_true()
    if not len(finite):
        return None
    last, after = acks.row(max(int(finite[0]) - 1, 0), named=True), acks.row(int(finite[0]), named=True)
    return {
        "t_s": last["t_s"],
        "next_s": after["t_s"],
        "cwnd_pkts": last["cwnd_pkts"],
        "ssthresh_pkts": after["ssthresh_pkts"],
    }
