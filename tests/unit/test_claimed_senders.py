# SPDX-License-Identifier: GPL-2.0-or-later
"""Each claim's sender has the constants that its source states."""

from pathlib import Path

import numpy as np
import pytest
from lab_papers.evaluation.claims.numbered import numbered
from lab_papers.evaluation.search.forms import FORMS
from lab_papers.evaluation.search.replay import Download, exit_of

from lab.judge.search_replay import version
from lab.schema.cca import load_ccas
from lab.schema.scenario import Claims

# Threshold (%), window (ms, or tenths of the initial round trip) and bins: poster, "Results"; thesis, algorithm 1;
# NetDev 0x18, SEARCH algorithm. The WiFi paper gives none, and refers to the thesis's code.
STATED = {
    ("poster", "GEO"): (25, 2000, 10),
    ("poster", "LEO"): (25, 200, 10),
    ("thesis", ""): (35, 35, 10),
    ("NetDev 0x18", ""): (35, 35, 10),
    ("WiFi paper", ""): (35, 35, 10),
}


def claimed() -> list[tuple[str, str, Claims]]:
    """Document, row and claim of every claim of a SEARCH that is judged."""
    rows = [(claim.document, row.row, row) for claim in numbered() for row in claim.rows if not row.not_judged]
    search = {name for name, cca in load_ccas().items() if cca.slow_start_exit == "search"} | set(FORMS)
    return [each for each in rows if (each[2].replayed or each[2].cca) in search]


@pytest.mark.parametrize(("document", "row", "claim"), claimed())
def test_the_sender_of_a_claim_has_the_constants_of_its_source(
    library: Path, document: str, row: str, claim: Claims
) -> None:
    name = claim.replayed or claim.cca
    stated = STATED.get((document, row)) or STATED[document, ""]
    if name in FORMS:
        form = FORMS[name]
        assert (form.threshold_pct, form.window_ms, form.bins) == stated
    else:
        params = version(library, name).params
        assert (params.threshold_pct, params.window_factor_tenths, params.bins) == stated


def download(rtt_us: int) -> Download:
    """Slow start over a path of one round trip, at capacity from its fifteenth round on: an ACK every tenth of it."""
    steps = np.arange(300)
    per_ack = 1448 * 2.0 ** np.minimum(steps // 10, 14)
    delivered = np.cumsum(per_ack).astype(np.int64)
    sent = np.cumsum(1448 * 2.0 ** (1 + steps // 10)).astype(np.int64)
    rtts, windows = np.full(300, rtt_us), np.full(300, 10)
    t_us = (steps * rtt_us) // 10 + rtt_us
    return Download(1, t_us, rtts, delivered, sent, windows, None, None, None, {}, None, 1448)


def test_the_posters_window_does_not_follow_the_round_trip_and_its_threshold_is_met_sooner(
    library: Path,
) -> None:
    path = download(2000 * 1000 * 10 // 35)  # the window is 3.5 of its round trips
    ours = exit_of(library, path, version(library, "search1"))
    posters = FORMS["search1_poster_geo"].exit_of(library, path)
    assert ours is not None
    assert posters is not None
    assert posters.t_s < ours.t_s
    assert FORMS["search1_poster_leo"].exit_of(library, path) != posters
