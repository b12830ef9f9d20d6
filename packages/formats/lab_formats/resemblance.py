# SPDX-License-Identifier: GPL-2.0-or-later
"""Which formats a file resembles that fits none: two or three names for the line that refuses it."""

import re
import struct

from lab.base.errors import UserError
from lab.traces.importer import Head

OTHER_TEXTS: tuple[tuple[str, str], ...] = (  # a sign, what prints such a file, and the nearest formats
    (
        r"\Atime,srcaddress,|\A\d{14}(?:\.\d+)?,[\w.:]+,\d+,[\w.:]+,\d+,-?\d+,[\d.]+-[\d.]+,\d+,\d+",
        "iperf2's CSV (-y C): iperf3-text reads its text (leave -y out); or columns, without the lines of totals: "
        "--set header=no --set interval=before --set 'columns=t_s=1 [%Y%m%d%H%M%S],rate_down_mbps=9 [bit/s]' "
        "(2.2, with a header: --set interval=before --set 'columns=t_s=iend,rate_down_mbps=speed [bit/s]')",
    ),
    (
        r"^(?:MIGRATED |OMNI )?\w+ (?:STREAM|MAERTS|REQUEST)\w* (?:TEST|REQUEST)|^NETPERF_|Interim result:",
        "netperf's: iperf3-text and iperf3-json read iperf3's; or columns, of its interim results (-D) as a table",
    ),
    (
        r"MB / +[\d.]+ sec = +[\d.]+ [kMG]bps",
        "nuttcp's: iperf3-text and iperf3-json read iperf3's; or columns, of its rates alone, one a line: "
        "--set header=no --set step_s=1 --set columns=rate_down_mbps=1",
    ),
    (
        r'"x_values"\s*:|"(?:BATCH_NAME|DATA_FILENAME|FLENT_VERSION)"',
        "flent's: columns reads the CSV that 'flent -f csv FILE' writes",
    ),
    (
        r'"report"\s*:\s*\{\s*"mtr"|^HOST: .*Loss%|\AMtr_Version,',
        "mtr's, a summary per hop without times: ping, irtt and columns read each probe",
    ),
    (
        r'"type"\s*:\s*"result"[\s\S]*"ping"|"download"\s*:\s*[\d.]+,\s*"upload"|"(?:downloadSpeed|bufferBloat)"'
        r'|"ServerFQDN"|"S2C"\s*:|\AServer ID,Sponsor|Speedtest by Ookla|^Download: [\d.]+ Mbit/s'
        r'|\A"server name","server id"|\ATimestamp,Server Name,|"bytes_received"\s*:|"unloadedLatency"',
        "a speed test's, one summary per test and no series: columns reads a CSV of many as samples, --set "
        "'columns=rate_down_mbps=Download [bit/s],rtt_ms=Ping' (Ookla's CSV and bandwidth are in B/s, LibreSpeed's "
        "in Mbit/s); "
        "iperf3-json and ndt7 read the intervals of one test",
    ),
    (
        r'"msm_id"\s*:[\s\S]*"prb_id"\s*:|"prb_id"\s*:[\s\S]*"msm_id"\s*:',
        "RIPE Atlas's results: columns reads the pings of one probe, --format columns --set lost=-1 "
        "--set 'columns=t_s=timestamp,rtt_ms=avg' (avg: of its few echoes at once)",
    ),
    (
        r"(?:owping|twping) statistics from |^seq_no=\d+ delay=",
        "owping's or twping's: columns reads its delays (-v) as a table, --set columns=t_s=sent,delay_ms=delay",
    ),
    (
        r'"(?:lud_foreign_h2_req_resp|dl_responsiveness)"|"(?:RPM|LUL)"\s*:',
        "networkQuality's or goresponsiveness's, a test's totals and lists of times without a clock: "
        "ndt7 and iperf3-json read the intervals of a test",
    ),
    (
        r"\[conn\]\[0x\w+\]|^I\d{8} 0x\w+ |\[QUIC:[\w-]+\] |\"type\":\s*\"quictrace-|\"logEventTypes\":",
        "a QUIC stack's log in its own form (msquic, ngtcp2, lsquic, quicly, Chrome): qlog reads a sender's qlog with "
        "frames",
    ),
    (
        r'"dishGet(?:Status|History)"',
        "a Starlink dish's gRPC reply: starlink-grpc reads the CSV of starlink-grpc-tools (dish_grpc_text.py status), "
        "leoviz that of LEOViz",
    ),
    (
        r'"Rtt"\s*:[\s\S]*"Timestamp"\s*:|"Timestamp"\s*:[\s\S]*"Rtt"\s*:',
        "MONROE's ping: columns reads it, --format columns --set 'columns=t_s=Timestamp,rtt_ms=Rtt'; "
        "ping and irtt are near",
    ),
    (
        r"tcp_probe: +family=|^[\d.]+ [\d.:]+:\d+ [\d.:]+:\d+ \d+ (?:0x)?[0-9a-f]+ (?:0x)?[0-9a-f]+ \d+ \d+ \d+ \d+",
        "tcp_probe's trace: ss reads 'ss -tin', ack-log a table of ACKs, pcap a capture of the same download",
    ),
    (
        r"\bcwnd:\d+.*\bbytes_\w+:\d|\brtt:[\d.]+/.*\bcwnd:\d+",
        "ss's, without bytes_acked: a receiver's, or of iproute2 before 4.1. ss reads 'ss -tin' of the sender, "
        "with a line of 'date +%s.%N' before each print",
    ),
    (
        r"^ *(?:[\d-]+ )?[\d:.]+ (?:\w+ +(?:In|Out|M|B|P) +)?"
        r"(?:IP6? (?:\S+ > \S+: |\(\w+ )|[\da-f:]{17} > [\da-f:]{17}, ethertype)",
        "tcpdump's text: pcap reads the capture itself, which 'tcpdump -w FILE' writes",
    ),
    (
        r'^"?No\."?[ ,]+"?Time"?[ ,]+"?Source\b|"_source"\s*:\s*\{\s*"layers"|<(?:pdml|psml) '
        r"|\A(?:timeval|dtime|double) (?:unsigned|signed|double|dtime)$|^Ostermann's tcptrace|^TCP connection \d+:$",
        "made of a capture by Wireshark or tcptrace: pcap reads the capture itself",
    ),
    (
        r"\Atraceroute6? to |\ATracing route ",
        "traceroute's, a few probes per hop without times: ping, irtt and columns read a series of probes",
    ),
    (r"\Aversion https://git-lfs\.", "a pointer of Git LFS, whose content is not here: 'git lfs pull' fetches it"),
    (r"(?i)\A\s*<(?:!doctype html|html)", "a web page: download the file itself"),
    (
        r"^HPING |^len=\d+ ip=.* rtt=",
        "hping's: ping reads ping's and fping's, irtt irtt's; or columns, of its seq and rtt as a table",
    ),
    (
        r"^\S+ : (?:[\d.]+|-)(?: (?:[\d.]+|-))+$",
        "fping -C's, without a clock: ping reads 'fping -D'; or columns, of one RTT a line: "
        "--set header=no --set step_s=1 --set lost=- --set columns=rtt_ms=1",
    ),
    (
        r'^\S+ +: xmt/rcv/%loss = |^\{"(?:resp|timeout|summary)": ?\{"',
        "fping's summary or JSON (-c -q, -Q, -J), without a clock: ping reads each probe, as 'fping -D -l' prints it",
    ),
    (
        r"^HEADER; LOG_DATETIME; |^DATA; \d{4}-",
        "cake-autorate's log: columns reads its lines of one kind (grep -E '^(HEADER|DATA);'), --format columns "
        "--set separator=semicolon --set interval=before "
        "--set 'columns=t_s=LOG_TIMESTAMP,rate_down_mbps=DL_ACHIEVED_RATE_KBPS [kbit/s]'",
    ),
    (
        r'"resultType"\s*:\s*"(?:matrix|vector)"',
        "Prometheus's reply: columns reads the values of one series, a time and a value a line "
        "(jq -r '.data.result[0].values[]|@csv'), --set header=no --set 'columns=t_s=1,rtt_ms=2 [s]'",
    ),
    (
        r'\A#kernel$|\A\{"kernel"\s*:|^qdisc \w+ \w+: |"requeues"\s*:',
        "nstat's or tc's, counters since a host's begin: columns reads a table of a clock and a counter's steps, "
        "--set interval=before --set 'columns=t_s=TIME,rate_down_mbps=BYTES [B/interval]'",
    ),
    (
        r"^# mahimahi mm-|^# init timestamp: \d+$",
        "a log of mahimahi's mm-link: mahimahi reads a trace of opportunities, which "
        "awk '/^# base/ {b=$4} $2==\"#\" {print $1-b}' makes of its lines",
    ),
    (
        r"\A#.*\bdistribution table\b",
        "a distribution of netem's (tc), which has neither a unit nor a clock: columns reads measured delays",
    ),
)
SIGNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"bits/sec|Bytes/sec|\[ ID\]|\[SUM\]", ("iperf3-text", "iperf3-json")),
    (r'^\s*[\[{][\s\S]*"round_trips"|"rtt"', ("irtt", "iperf3-json")),
    (r"\A\s*\[\s*\{", ("columns",)),
    (r'\A\s*\{[\s\S]*"(start|intervals|event)"', ("iperf3-json",)),
    (r'\A\s*\{\s*"', ("columns",)),
    (r"\A\s*[\[{]\s*[\"\[\]{}]", ("iperf3-json", "irtt")),
    (r"^\s*\d+[ \t]+-?[\d.]+([ \t]|$)", ("columns",)),
    (r"icmp|\bTTL\b|\bttl=|\d ?ms\b|[Pp]ing", ("ping", "ping-windows", "irtt")),
    (r"^\s*-?\d+\s*$", ("mahimahi", "leocc", "columns")),
    (r"[,;\t]", ("columns",)),
)
BINARY = ("pcap", "recording")
OTHER_CAPTURE = "a capture that is neither pcap nor pcapng: 'editcap -F pcap FILE NEW' turns it into one"
ERF, ERF_TYPES, ERF_SPAN_S = struct.Struct("<QBx"), range(1, 49), 3600  # Endace's: 2^-32 s, type; then a length
PEEK, PEEK_VERSIONS, PEEK_EMPTY = struct.Struct(">BB5I2I8x12s"), (5, 6, 7), bytes(12)  # EtherPeek's, without a sign
ETL, ETL_TYPES, ETL_FLAGS, ETL_UNIT = struct.Struct("<I68xHBB"), (1, 2), 0xC0, 1024  # Windows' traces of events
TAR_AT = 257  # of its sign
UTF_16 = re.compile(rb"(?:\0[^\0]){8,}|(?:[^\0]\0){8,}")  # of letters below 256
OTHER_FILES = {
    b"\x04\x22\x4d\x18": "packed by lz4: unpack it first",
    b"BZh": "packed by bzip2: unpack it first",
    b"7z\xbc\xaf\x27\x1c": "packed by 7-Zip: unpack it first",
    b"Rar!\x1a\7": "packed by RAR: unpack it first",
    b"\x1f\x8b": "packed by gzip twice: unpack it first",
    b"\x1f\x9d": "packed by compress: unpack it first",
    b"PK\3\4": "packed by zip, as a spreadsheet is: unpack it, or save it as CSV",
    b"\xd0\xcf\x11\xe0": "a spreadsheet, or another document of old Office: save it as CSV",
    **dict.fromkeys(
        (b"snoop\0\0\0", b"GMBU", b"RTSS", b"XCP\0", b"TRSNIFF", b"\x54\x52\x00\x64", b"iptrace ", b"\x7fver"),
        OTHER_CAPTURE,
    ),
    **dict.fromkeys(
        (b"\0\5\x16\7", b"\0\5\x16\0"),
        "what macOS keeps beside a file (AppleDouble): take the file whose name lacks the '._' in front",
    ),
}


def resembled(head: Head) -> tuple[str, ...]:
    """Return the names of at most three formats; UserError where the file is known to be of another kind."""
    if head.data[TAR_AT:].startswith(b"ustar"):
        raise UserError(
            f"{head.path}: format: must be one that the lab reads, and the file is packed by tar: unpack it first"
        )
    for sign, words in OTHER_FILES.items():
        if head.data.startswith(sign):
            raise UserError(f"{head.path}: format: must be one that the lab reads, and the file is {words}")
    text = "\n".join(head.lines[:50]) or _one_long_line(head.data)
    if not text and (_is_erf(head.data) or _is_etherpeek(head.data)):
        raise UserError(f"{head.path}: format: must be one that the lab reads, and the file is {OTHER_CAPTURE}")
    if not text and UTF_16.fullmatch(head.data):
        words = "UTF-16 without its mark: save it as UTF-8"
        raise UserError(f"{head.path}: format: must be one that the lab reads, and the file is {words}")
    if not text and _is_etl(head.data):
        words = "a trace of Windows (ETL): 'pktmon etl2pcap FILE', or etl2pcapng, turns it into a capture"
        raise UserError(f"{head.path}: format: must be one that the lab reads, and the file is {words}")
    if not text:
        return BINARY
    if other := next((words for sign, words in OTHER_TEXTS if re.search(sign, text, re.MULTILINE)), None):
        raise UserError(f"{head.path}: format: must be one that the lab reads, and the file is {other}")
    return next((names for sign, names in SIGNS if re.search(sign, text, re.MULTILINE)), ("columns",))


def _one_long_line(data: bytes) -> str:
    """Return the begin of a text whose first line is longer than what was read, as JSON's may be; else nothing."""
    text = data.decode("utf-8", "ignore")
    return text if text.lstrip()[:1] in ("{", "[") and "\0" not in text else ""


def _is_erf(data: bytes) -> bool:
    """Return whether two records of one type begin within an hour of each other: the format has no sign of its own."""
    next_at = int.from_bytes(data[ERF.size : ERF.size + 2], "big")
    if len(data) < next_at + ERF.size or next_at < ERF.size:
        return False
    (first, kind), (second, same) = ERF.unpack_from(data), ERF.unpack_from(data, next_at)
    return kind == same and kind in ERF_TYPES and 0 < first >> 32 <= second >> 32 <= (first >> 32) + ERF_SPAN_S


def _is_etherpeek(data: bytes) -> bool:
    """Return whether a file begins as EtherPeek's of version 5 to 7: kinds of 0 or 1 of medium, and an empty end."""
    if len(data) < PEEK.size:
        return False
    version, _, *_, media, medium, empty = PEEK.unpack_from(data)
    return version in PEEK_VERSIONS and media in (0, 1) and medium in (0, 1) and empty == PEEK_EMPTY


def _is_etl(data: bytes) -> bool:
    """Return whether a buffer of whole KB begins with a system's event."""
    if len(data) < ETL.size:
        return False
    size, _, kind, flags = ETL.unpack_from(data)
    return size > 0 and size % ETL_UNIT == 0 and kind in ETL_TYPES and flags & ETL_FLAGS == ETL_FLAGS
