# SPDX-License-Identifier: GPL-2.0-or-later
"""What `lab whatif` prints: sentences first, then tables that fit 80 columns."""

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table

from lab.base.format import NONE, counted
from lab.commands.lines import say
from lab.traces.recording import Recording
from lab_whatif.capacity import MARGIN_S
from lab_whatif.counterfactual import Range
from lab_whatif.evidence import Item, items
from lab_whatif.infer import MOST_OVERTAKEN_PCT, Inferred
from lab_whatif.queue import LEAST_DROPS
from lab_whatif.segments import HEADER_BYTES
from lab_whatif.verdict import Compared, marks

DIGITS = {"s": 2, "MB": 1, "ms": 0, "packets": 0}
KIND_WORDS = {"tail": "drops what exceeds", "threshold": "drops a share above", "at least": "holds at least"}
MB = 1e6
MOST_LONGER_SHARE = 0.005  # by which packets may be longer than they count, without a word


def sentences(
    was: str, others: list[str], compared: list[Compared], ranges: list[Range], fitting: str | None
) -> Iterator[str]:
    """Yield what is known, in a sentence per sender; `fitting` are words for the links that fit."""
    if not fitting:
        wrong = [f"{each.quantity} {each.difference}" for each in compared if each.answer == "DOES NOT FIT"]
        differs = f"differs: {', '.join(wrong) or 'between the links'}"
        yield f"DOES NOT FIT: {was}, replayed on each link that this capture allows, {differs}. Of others: nothing."
        return
    yield f"FITS: {was}, replayed on {fitting}, does what was recorded. This is necessary, and not sufficient."
    for sender in others:
        mine = [each for each in ranges if each.sender == sender]
        best = next((each for each in reversed(mine) if each.quantity in marks() and each.low is not None), None)
        if best:
            took = f"{was} took {number(best.recorded, 's')} s"
            yield f"With {sender} {best.quantity} would have taken {span(best)} s; {took}."
        else:
            refused = next((each for each in mine if each.recorded is not None), mine[0])
            yield f"With {sender}: cannot be known. {refused.quantity}: {refused.reason}."


def show_tables(compared: list[Compared], ranges: list[Range], console: Console) -> None:
    """Print the verdict, each sender's ranges, and the reasons of refusals."""
    senders = list(dict.fromkeys(each.sender for each in ranges))
    table = Table("Quantity", "Recorded", "Replayed", "Verdict", *senders, box=None, padding=(0, 1))
    for row in compared:
        own = {each.sender: each for each in ranges if each.quantity == row.quantity}
        cells = [span(own[name]) if own[name].low is not None else "refused" for name in senders]
        name = f"{row.quantity} ({row.unit})"
        table.add_row(name, number(row.recorded, row.unit), number(row.replayed, row.unit), row.answer, *cells)
    console.print(table)
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in compared:
        if row.answer == "CANNOT TELL":
            reasons.setdefault(("", row.reason), []).append(row.quantity)
    for each in ranges:
        if each.low is None:
            reasons.setdefault((f"{each.sender}: ", f"refused: {each.reason}"), []).append(each.quantity)
    for (whose, reason), names in reasons.items():
        say(console, f"{whose}{', '.join(names)}{' ' if whose else ': '}{reason}")


def show_link(inferred: Inferred, side: str, notes: list[str], console: Console) -> None:
    """Print the link, and what was noted while the file was read."""
    for line in [*link_sentences(inferred, side), *notes]:
        say(console, line)


def link_sentences(inferred: Inferred, side: str) -> list[str]:
    """Return the lines of the link as sentences."""
    return [f"{line[0].upper()}{line[1:]}." for line in link_lines(inferred, side)]


def link_lines(inferred: Inferred, side: str) -> list[str]:
    """Return the link in two sentences, and one more for each thing by which its numbers may be others."""
    known = {each.name: each for each in items(inferred)}
    capacity, base = known["capacity_median"], known["base_rtt"]
    share = known["capacity_known"]
    return [
        f"The link, seen at the {side}: base RTT {base.value} ms; capacity known in {share.value} {share.unit},"
        f" median {capacity.value} Mb/s ({capacity.low} to {capacity.high})",
        _queue(inferred, known),
        *_caveats(inferred),
    ]


def _caveats(inferred: Inferred) -> Iterator[str]:
    """Yield by what the numbers may be others: one line each."""
    if inferred.longer_share > MOST_LONGER_SHARE:
        counts = f"headers of {inferred.header_bytes} bytes (IP and TCP) count as {HEADER_BYTES}, as in a replay"
        yield f"{counts}: the link's own capacity and buffer are larger by {inferred.longer_share:.1%}"
    if inferred.is_rough:
        moments = f"the link was backlogged for {inferred.backlog_ms:.0f} ms at a time (mean)"
        why = "as where the sender's application writes in bursts, its window stays small or ACKs are late"
        late = f"packets that are late by themselves move the capacity by up to {inferred.rough_share:.0%}"
        yield f"{moments}, {why}: {late}"
    if varies := _varies(inferred):
        taken = f"{varies}: that is taken for a queue, so the capacity may be higher and the buffer smaller"
        random = inferred.buffer.random_loss_pct > 0
        yield taken + (", and what seems lost without a full queue may have met one" if random else "")
    if moved := inferred.moved:
        before_mb, since_mb = (each / MB for each in moved[1:])
        met = f"from {moved[0]:.1f} s on losses met a queue of {since_mb:.3f} MB, until then of {before_mb:.3f} MB"
        how = "as where the way down becomes longer at once (a handover)"
        no_share = ", and drops no share" if inferred.buffer.kind == "threshold" else ""
        yield f"{met}, {how}: then the buffer holds the smaller of the two{no_share}"
    if inferred.near_ms:
        took = f"the near end took {inferred.near_ms:.1f} ms to answer the handshake"
        yield f"{took}: if the capture was not taken at it, the base RTT is longer by as much"
    if inferred.is_long:
        took = f"the handshake's round trip took {inferred.handshake_ms:.1f} ms"
        yield f"{took}: the base RTT is no longer than that, unless something on the way answered it"
    if inferred.apart_ms > inferred.least_apart_s * 1e3:
        how = "steadily, as between two clocks that run apart"
        if inferred.stepped_s:
            how = "at once, as where the other end's clock is set, and then buffer and losses are others, too"
        yield f"the way up changes {how}: the base RTT is then longer by up to {inferred.apart_ms:.1f} ms"
    if inferred.set_ms:
        words = f"the base RTT is then longer by up to {inferred.set_ms + inferred.path.step_ms:.1f} ms"
        yield f"the capture's clock leaves its host's time stamps, as one that is set meanwhile (NTP): {words}"


def _varies(inferred: Inferred) -> str:
    """Return in words how the way down varies without a queue; nothing where it does not."""
    if inferred.jitter_ms > MARGIN_S * 1e3 + inferred.path.step_ms:
        return f"the way down varies by {inferred.jitter_ms:.0f} ms without a queue"
    if inferred.overtaken_pct > MOST_OVERTAKEN_PCT:
        return f"{inferred.overtaken_pct:.1f} % of the packets were overtaken, so that others may be late too"
    return ""


def show_bounds(found: list[Item], log: Recording, console: Console) -> None:
    """Print what coarse readings bound, and that they give no link."""
    capacity, base = found
    bounds = f"capacity at least {capacity.low} {capacity.unit}, base RTT at most {base.high} {base.unit}"
    say(console, f"By {log.frame.height} readings of the sender's tcp_info: {bounds}.")
    say(console, "Coarse: what passed between two readings is not known. So no link, no buffer and no other sender.")
    for note in log.notes[1:]:
        say(console, note)


def _queue(inferred: Inferred, known: dict[str, Item]) -> str:
    found = inferred.buffer
    holds = min(found.bytes, int(known["buffer"].low or 0)) if found.kind == "at least" else found.bytes
    lost = known["random_loss"]
    bounds = f" ({lost.low:.3f} to {lost.high:.3f})" if lost.low is not None else ""
    loss = f"; {found.random_loss_pct:.3f} %{bounds} lost without a full queue" if found.random_loss_pct else ""
    share = f" ({found.drop_pct:.1f} %)" if found.drop_pct is not None else ""
    if found.kind == "tail" and found.losses < LEAST_DROPS:
        share = f" (by {counted(found.losses, 'lost packet')} alone, which may be an AQM's)"
    if not found.is_placed:
        loss = (
            f"; {found.losses} packets lost, at which queue is not seen, for ACKs or packets are late, or an AQM drops"
        )
    wait = known["ack_wait_p95"]
    return f"buffer {KIND_WORDS[found.kind]} {holds / MB:.3f} MB{share}{loss}; ACKs wait up to {wait.high} ms (95 %)"


def span(each: Range) -> str:
    """Return a range as text; a dash where it is refused."""
    low, high = number(each.low, each.unit), number(each.high, each.unit)
    return low if low == high else f"{low} to {high}"


def number(value: float | None, unit: str) -> str:
    """Return a number as text, with the digits of its unit; a dash where there is none."""
    if value is None:
        return NONE
    digits = DIGITS[unit] if unit != "s" or value >= 1 else 3
    return f"{value:,.{digits}f}"
