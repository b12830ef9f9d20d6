# SPDX-License-Identifier: GPL-2.0-or-later
"""Compare each modelled stand-in with the recording that it stands for: quantiles of rate and round trip, and loss.

`python -m bench.stand_ins` writes the table of docs/stand-ins.md, from the recordings (`lab traces fetch --all`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lab.base import paths
from lab.base.named_files import profile_files
from lab.links.draw import COLUMNS, draw_link
from lab.links.profile import Profile, load_profile
from lab.links.recorded import Series, load_opportunities, load_series
from lab.links.steps import Quantity, added, rows

DOC = paths.REPO / "docs" / "stand-ins.md"
BEGIN, END = "<!-- table of bench.stand_ins -->\n", "<!-- end of the table -->\n"
RATE_BIN_S, RTT_BIN_S = 0.1, 0.02
TRIALS, TRIAL_S = 60, 60.0  # of a stand-in: the slow part of most is drawn again several times in each trial
MEAN_S = 8  # as long as a comparison's downloads over LTE
RATE_PCT, MEAN_PCT, RTT_PCT = (5, 25, 50, 75, 95), (5, 95), (5, 50, 95)
HEADER = (
    "link",
    f"rate, Mb/s: {', '.join(map(str, RATE_PCT))} %",
    f"mean of {MEAN_S} s: 5, 95 %",
    "round trip, ms: 5, 50, 95 %",
    "loss, %",
)
BAND, BAND_OF_MEDIAN = 0.2, 0.125  # a value's share of the recording's value, or of the median of its quantity
Values = tuple[float, ...]


@dataclass(frozen=True)
class Summary:
    """What is compared of a link."""

    rate_mbps: Values
    mean_mbps: Values
    rtt_ms: Values
    loss_pct: Values

    def outside(self, recorded: "Summary") -> Iterator[tuple[float, float]]:
        """Yield each value that is not near the recording's, with that."""
        medians = (recorded.rate_mbps[2], recorded.rate_mbps[2], recorded.rtt_ms[1], 0.0)
        for own, theirs, median in zip(self.groups, recorded.groups, medians, strict=True):
            for value, expected in zip(own, theirs, strict=True):
                if abs(value - expected) > max(BAND * expected, BAND_OF_MEDIAN * median):
                    yield value, expected

    @property
    def groups(self) -> tuple[Values, ...]:
        """Return the values by column."""
        return self.rate_mbps, self.mean_mbps, self.rtt_ms, self.loss_pct


def pairs() -> Iterator[tuple[str, str]]:
    """Name every profile that has a stand-in, with it."""
    for name in profile_files():
        if stand_in := load_profile(name, "stand_ins").stand_in:
            yield name, stand_in


def binned(quantity: Quantity, length_s: float, bin_s: float, opportunities: bool = False) -> np.ndarray:
    """Return means over time in bins; of opportunities, which are bytes at instants, the rate in Mb/s."""
    t_s, value = np.array(list(rows(quantity))).T
    edges = np.arange(int(length_s / bin_s + 1e-6) + 1) * bin_s
    if opportunities:
        return np.histogram(t_s, edges, weights=value)[0] * 8 / 1e6 / bin_s
    total = np.concatenate([[0.0], np.cumsum(value[:-1] * np.diff(t_s))])
    before = np.maximum(np.searchsorted(t_s, edges, "right") - 1, 0)
    return np.asarray(np.diff(total[before] + value[before] * (edges - t_s[before])) / bin_s)


def of_recording(profile: Profile) -> Summary:
    """Summarise a recorded profile over its whole recordings."""
    down = profile.down
    field, value = ("rtt_ms", profile.rtt_ms.series) if profile.rtt_ms else ("delay_ms", down.delay_ms)
    ways = 1 if profile.rtt_ms else 2  # one recorded delay is applied both ways
    rtt_ms = binned(*_whole(profile, field, value), RTT_BIN_S) * ways
    rate = _whole(profile, "down.rate_mbps", down.opportunities or down.rate_mbps)
    return summary([binned(*rate, RATE_BIN_S, down.opportunities is not None)], [rtt_ms], down.loss_pct)


def _whole(profile: Profile, field: str, value: object) -> tuple[Quantity, float]:
    """Return a recording from its beginning to its end, with its length; a number lasts a trial."""
    if not isinstance(value, Series):
        assert isinstance(value, float)
        return value, TRIAL_S
    if value is profile.down.opportunities:
        found = load_opportunities(value, profile.file, "down.opportunities")
    else:
        found = load_series(value, COLUMNS[field], profile.file, field)
    return found.window(0.0, found.length_s), found.length_s


def of_model(profile: Profile) -> Summary:
    """Summarise a modelled profile over many trials."""
    mbps, rtt_ms = [], []
    for seed in range(TRIALS):
        link = draw_link(profile, TRIAL_S, np.random.default_rng(seed))
        assert link.down.rate_mbps is not None
        mbps.append(binned(link.down.rate_mbps, TRIAL_S, RATE_BIN_S))
        rtt_ms.append(binned(added(link.down.delay_ms, link.up.delay_ms), TRIAL_S, RTT_BIN_S))
    return summary(mbps, rtt_ms, profile.down.loss_pct)


def summary(mbps: list[np.ndarray], rtt_ms: list[np.ndarray], loss_pct: object) -> Summary:
    """Summarise the trials of a link."""
    assert isinstance(loss_pct, float)
    count = int(MEAN_S / RATE_BIN_S)
    means = np.concatenate([np.convolve(trial, np.ones(count) / count, "valid") for trial in mbps])
    found = ((np.concatenate(mbps), RATE_PCT), (means, MEAN_PCT), (np.concatenate(rtt_ms), RTT_PCT))
    rate, mean, rtt = (tuple(np.percentile(values, list(percents)).tolist()) for values, percents in found)
    return Summary(rate, mean, rtt, (loss_pct,))


def table() -> str:
    """Return the table: each recorded link, and its stand-in below it."""
    lines = [f"| {' | '.join(HEADER)} |", f"|{'---|' * len(HEADER)}"]
    for recorded, stand_in in pairs():
        lines.append(row(f"`{recorded}`", of_recording(load_profile(recorded, "stand_ins"))))
        lines.append(row(f"`{stand_in}`", of_model(load_profile(stand_in, "stand_ins"))))
    return "\n".join(lines) + "\n"


def row(name: str, found: Summary) -> str:
    """Return a row of the table."""
    cells = [", ".join(f"{value:.1f}" for value in values) for values in found.groups]
    return f"| {' | '.join([name, *cells])} |"


if __name__ == "__main__":
    text = DOC.read_text()
    head, tail = text.split(BEGIN)[0], text.split(END)[1]
    DOC.write_text(head + BEGIN + table() + END + tail)
    print(DOC)
