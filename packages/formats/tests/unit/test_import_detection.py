# SPDX-License-Identifier: GPL-2.0-or-later
"""A file's content decides its format: one that fits, or a refusal that says what can be done."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from lab_formats.named import run
from typer.testing import CliRunner

from lab.base.errors import UserError
from lab.commands.cli import app
from lab.traces import importers, recording
from tests.brief import error_of

FIELD = Path(__file__).parents[1] / "data"
# Of an Ethernet frame of 60 bytes: the time in units of 2^-32 s, type, flags, lengths of record, losses, and frame.
ERF_RECORD = bytes(4) + (1_700_000_000).to_bytes(4, "little") + bytes([2, 4, 0, 78, 0, 0, 0, 60]) + bytes(62)


def written(folder: Path, content: str | bytes, name: str = "some.txt") -> Path:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


@pytest.mark.parametrize("content", ["", "\n\n", "   "])
def test_an_empty_file_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(UserError, match=r"some\.txt: content: must be something: the file is empty"):
        importers.read(written(tmp_path, content))


@pytest.mark.parametrize(
    "content", ["Dear reader,\n", "a,b\n1,2\n", "1.5 2.5\n7 8\n", b"\x00\x01\x02", "{}", "[1, 2]", "1\nx\n"]
)
def test_what_nothing_fits_is_refused_with_the_way_out(tmp_path: Path, content: str | bytes) -> None:
    with pytest.raises(
        UserError, match=r"format: must be one that the lab recognises; it resembles .*name the file's columns"
    ):
        importers.read(written(tmp_path, content))


def test_files_that_are_refused_keep_no_other_from_being_read(tmp_path: Path) -> None:
    refused = [written(tmp_path, "Dear reader,\n", name) for name in ("one.txt", "two.txt")]
    printed: list[str] = []
    with pytest.raises(UserError) as faults:
        printed.extend(run([refused[0], FIELD / "ping-cut.txt", refused[1]], None, None, []))
    assert printed[0].startswith("ping-cut.txt: ping, series")
    assert [line.split(": ")[0] for line in str(faults.value).splitlines()] == [str(file) for file in refused]


def test_few_small_rising_numbers_may_be_times_or_delays(tmp_path: Path) -> None:
    file = written(tmp_path, "12\n13\n13\n20\n\n")
    with pytest.raises(UserError, match=r"must be given with --format, because several fit: leocc \(.*\), mahimahi \("):
        importers.read(file)
    assert importers.read(file, "mahimahi").frame["opportunities"].to_list() == [1, 2, 1]
    assert importers.read(file, "leocc").frame["delay_ms"].to_list() == [12, 13, 13, 20]


def test_a_name_decides_nothing(tmp_path: Path) -> None:
    assert "format: must be given" in error_of(importers.read, written(tmp_path, "12\n11\n13\n", "trace.down"))


def test_one_number_a_line_may_be_delays_or_rates_and_is_not_guessed() -> None:
    with pytest.raises(UserError, match=r"must be given with --format: leocc \(.*\), or columns, such as --set"):
        importers.read(FIELD / "kbits-one-a-line.txt")


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("{}", "iperf3-json or irtt"),
        ("64 bytes from a: seq 1 time 3 ms\n", "ping or ping-windows or irtt"),
        ("[  5] 0-1 sec 3 bits/sec\n", "iperf3-text or iperf3-json"),
        ("1\nx\n", "mahimahi or leocc or columns"),
        ("1200\n" * 2000, "mahimahi or leocc or columns"),  # a constant rate is no time
        ("a,b\n1,2\n", "columns"),
        ("  0 192.0.2.1  56  57 41ms\n  sent=1 received=1 max-rtt=41ms\n", "columns"),  # RouterOS: no text of Windows
        (b"\x00\x01", "pcap or recording"),
    ],
)
def test_the_line_names_what_a_file_resembles(tmp_path: Path, content: str | bytes, names: str) -> None:
    with pytest.raises(UserError, match=f"it resembles {names}: give --format"):
        importers.read(written(tmp_path, content))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"type": "result", "ping": {"latency": 20.3}}', "a speed test's, .*columns reads .*iperf3-json and ndt7"),
        ('{"download": 93846012.1, "upload": 9846012.1, "ping": 20.3}', "a speed test's, .*columns"),
        ('{"ServerFQDN": "a", "Download": {"Throughput": {"Value": 9}}}', "a speed test's, .*columns"),
        ('{"Control": {}, "C2S": {}, "S2C": {"MeanThroughputMbps": 91.2}}', "a speed test's, .*columns"),  # NDT5
        ("Server ID,Sponsor,Server Name,Timestamp,Distance,Ping\n1,a,b,c,2,3\n", "a speed test's, .*columns"),
        ('"server name","server id","idle latency"\n"a","1","12.3"\n', "a speed test's, .*Ookla's CSV .* in B/s"),
        ("Timestamp,Server Name,Address,Ping,Jitter\n2026-11-01T10:00:00Z,a,b,12,1\n", "a speed test's, .*LibreSpeed"),
        ('[{"bytes_sent":1,"bytes_received":2,"ping":12,"upload":9.45,"download":93.4}]', "a speed test's, .*columns"),
        ('{"download":[{"bytes":100000,"bps":93456789.0}],"unloadedLatency":12.2}', "a speed test's, .*columns"),
        ("20240331135959,192.0.2.1,5001,192.0.2.2,41234,3,0.0-1.0,125,1000\n", "iperf2's CSV .*iperf3-text .*columns"),
        ("20240331135959.1,192.0.2.1,5,2001:db8::1,4,1,0.0-1.0,1,8,-1,-1\n", "iperf2's CSV .*iperf3-text .*columns"),
        ("time,srcaddress,srcport,dstaddr,dstport,transferid,istart,iend,bytes,speed\n", "iperf2's CSV .*t_s=iend"),
        ("Interim result:  934.1 10^6bits/s over 1.0 seconds ending at 1.1\n", "netperf's: iperf3-text .*columns"),
        ("MIGRATED TCP STREAM TEST from 0.0.0.0 port 0 to b\n", "netperf's: iperf3-text .*columns"),
        ("   11.6875 MB /   1.00 sec =   98.0338 Mbps     0 retrans\n", "nuttcp's: iperf3-text .*columns"),
        ('{"metadata": {"BATCH_NAME": null}, "results": {}, "x_values": []}', "flent's: columns"),
        ('{"metadata": {"BATCH_NAME": "' + "x" * 99_999 + '"}}', "flent's: columns"),
        ('{"report": {"mtr": {"src": "a"}, "hubs": []}}', "mtr's, .*ping, irtt and columns"),
        ("Start: x\nHOST: a    Loss%   Snt   Last\n  1.|-- b  0.0%  10  1.0\n", "mtr's, .*ping, irtt and columns"),
        (
            '{"apiVersion": "30", "dishGetHistory": {"popPingLatencyMs": [1]}}',
            "a Starlink dish's gRPC reply: starlink-grpc .*leoviz",
        ),
        (
            '{"Host": "a", "Rtt": 41.2, "SequenceNumber": 1, "Timestamp": 15.0}\n',
            "MONROE's ping: columns .*ping and irtt",
        ),
        ('[{"msm_id":1,"result":[{"rtt":7.5}],"prb_id":2,"timestamp":15}]', "RIPE Atlas's results: columns .*lost=-1"),
        (
            "\n--- owping statistics from [a]:1 to [b]:2 ---\nseq_no=0 delay=2.5e+01 ms\n",
            "owping's or twping's: columns",
        ),
        ("Mtr_Version,Start_Time,Status,Host,Hop,Ip,Loss%\nMTR.0.95,17,OK,a,1,b,0.00\n", "mtr's, a summary per hop"),
        ("cpus=2\n  x-0  [001]  1.0: tcp_probe:            family=AF_INET src=a\n", "tcp_probe's trace"),
        ("  x-0  [1] ..s1.  1.0: tcp_probe: family=AF_INET src=a\n", "tcp_probe's trace: ss .*ack-log .*pcap"),
        (
            "0.1 192.0.2.1:5201 192.0.2.2:412 32 0x1000 0x900 10 214 65535 20 65535\n",
            "tcp_probe's trace: ss .*ack-log .*pcap",
        ),
        ("HPING b (eth0 b): S set\nlen=44 ip=b ttl=64 seq=0 rtt=20.1 ms\n", "hping's: ping .*irtt .*columns"),
        ("192.0.2.1 : 20.1 - 22.1\n", "fping -C's, .*ping .*columns"),
        ("192.0.2.1 : xmt/rcv/%loss = 4/4/0%, min/avg/max = 1.1/1.2/1.3\n", "fping's summary .*fping -D -l"),
        ("[10:15:00]\\n1.2.3.4 : xmt/rcv/%loss = 1/1/0%, min/avg/max = 9/9/9 ms\\n", "fping's summary .*fping -D -l"),
        ('{"resp": {"host": "192.0.2.1", "seq": 0, "size": 64, "rtt": 1.1}}\n', "fping's summary or JSON"),
        ("HEADER; LOG_DATETIME; LOG_TIMESTAMP\nDATA; 2023-03-01-10:00:00; 1.0\n", "cake-autorate's log: columns"),
        ('{"status":"success","data":{"resultType":"matrix","result":[]}}', "Prometheus's reply: columns"),
        ('{"base_rtt": 23.5,\n "dl_responsiveness": 120.3}', "networkQuality's or goresponsiveness's"),
        ('{"RPM": {"P90": 333}, "Download": {}}', "networkQuality's or goresponsiveness's"),
        ("[0][0001.1f2][13:00:00.000001] [conn][0x7f1] OUT: SRtt=50123\n", "a QUIC stack's log in its own form"),
        ("I00000001 0x5a6f ldc latest_rtt=50 min_rtt=49\n", "a QUIC stack's log in its own form"),
        ('13:00:00 [DEBUG] qlog: [QUIC:6F5D] [17,"TRANSPORT","PACKET_RX"]\n', "a QUIC stack's log in its own form"),
        ("13:00:00 [DEBUG] [QUIC:6F5D-3] qlog: [17,1]\n", "a QUIC stack's log in its own form"),
        ('{"constants":{"logEventTypes":{"A":1}},"events":[]}', "a QUIC stack's log in its own form"),
        ('{"type":"quictrace-cc-ack","conn":1,"time":17}\n', "a QUIC stack's log in its own form"),
        ("#kernel\nIpInReceives                    16                 0.0\n", "nstat's or tc's, .*columns"),
        ("qdisc fq 0: dev eth0 root\n Sent 9 bytes 1 pkt (dropped 0)\n", "nstat's or tc's, .*columns"),
        ('[{"kind":"fq","handle":"0:","bytes":9,"drops":0,"requeues":0}]', "nstat's or tc's, .*columns"),
        ("# This is the distribution table for x.\n-27307 -26871\n", "a distribution of netem's"),
        ("10:00:00.1 IP 192.0.2.1.80 > 192.0.2.2.4000: Flags [.], length 0\n", "tcpdump's text: pcap .*tcpdump -w"),
        ("2026-11-28 10:00:00.1 eth0  Out IP 192.0.2.1.80 > 192.0.2.2.4000: Flags [.]\n", "tcpdump's text"),
        (
            "10:00:00.1 IP (tos 0x0, ttl 64, length 60)\n    192.0.2.1.80 > 192.0.2.2.4000: Flags [.]\n",
            "tcpdump's text",
        ),
        ("1.1 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 60: a > b: \n", "tcpdump's text"),
        ('"No.","Time","Source","Destination","Length"\n"1","0.0","a","b","60"\n', "made of a capture by Wireshark or"),
        ('[{"_index": "a", "_source": {"layers": {}}}]', "made of a capture by Wireshark or"),
        (
            "timeval unsigned\ntitle\na_==>_b (time sequence graph)\n",
            "made of a capture by Wireshark or tcptrace: pcap",
        ),
        ("traceroute to h (192.0.2.1), 30 hops max\n 1  gw (192.0.2.2)  1.2 ms\n", "traceroute's, .*ping, irtt"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "a pointer of Git LFS, .*git lfs pull"),
        ("<!DOCTYPE html>\n<html></html>\n", "a web page: download"),
        ("\n   Speedtest by Ookla\n\n    Download:    94.12 Mbps\n", "a speed test's, .*columns"),
    ],
)
def test_a_known_file_that_is_not_read_is_named_with_what_is(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(UserError, match=f"format: must be one that the lab reads, and the file is {words}"):
        importers.read(written(tmp_path, content))


def test_a_format_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="format=tcpdump: must be one of 5gophers, 5gophers-rtt, ack-log, columns"):
        importers.read(written(tmp_path, "1\n"), "tcpdump")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert "none: No such file or directory: must be a readable file" in error_of(importers.read, tmp_path / "none")
    assert "must be a plain file, no folder, pipe or device" in error_of(importers.read, tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1\n2\n1\n", "line 3: t_ms=1: must be no less than 2, the line before"),
        ("1\n2.5\n", "line 2: t_ms=2.5: must be a whole number from 0"),
        ("1\n-2\n", "line 2: t_ms=-2: must be a whole number from 0"),
        ("1\n\n2\n", "line 2: t_ms=: must be a whole number from 0"),
        ("1\n99999999999\n", "line 2: t_ms=99999999999: must be a whole number from 0 to 604800000"),
        ("1\n99999999999999999999\n", "line 2: t_ms=99999999999999999999: must be a whole number"),
        (b"1\n\xff\xfe\n", "line 2: must be UTF-8 text"),
        (b"1\n2\x00\n", "line 2: must be text, without zero bytes"),
        (b"\x1f\x8b\x08\x00broken", "must be a whole gzip file"),
        (b"\xfd7zXZ\0broken", "must be a whole xz file"),
        (b"\x28\xb5\x2f\xfdbroken", "must be a whole zstd file"),
    ],
)
def test_a_line_of_mahimahi_that_cannot_be_is_refused(tmp_path: Path, content: str | bytes, words: str) -> None:
    assert words in error_of(importers.read, written(tmp_path, content), "mahimahi")


def test_half_a_million_lines_are_read(tmp_path: Path) -> None:
    times = np.sort(np.random.default_rng(1).integers(0, 120_000, 500_000))
    file = written(tmp_path, "\n".join(map(str, times)) + "\n", "long.down")
    assert importers.read(file).frame["opportunities"].sum() == 500_000


def test_the_command_words_and_stores_a_recording(tmp_path: Path) -> None:
    file, out = written(tmp_path, "12\n11\n13\n"), tmp_path / "out.parquet"
    result = CliRunner().invoke(app, ["traces", "import", str(file), "--format", "leocc", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "some.txt: leocc, series, 3 rows, 0.020 s" in result.output
    assert recording.read(out).frame["delay_ms"].to_list() == [12, 11, 13]
    assert importers.read(out).format == "leocc"  # as it was, when it is imported again


def test_two_files_of_leocc_are_a_pair(tmp_path: Path) -> None:
    rate, delay = written(tmp_path, "5\n5\n10\n", "rate.txt"), written(tmp_path, "12\n11\n", "delay.txt")
    (first, *_) = list(run([rate, delay], "leocc", tmp_path / "pair.parquet", []))
    assert first == "rate.txt, delay.txt: leocc, opportunities of capacity, 3 rows, 0.010 s"
    frame = recording.read(tmp_path / "pair.parquet").frame
    assert frame["t_s"].to_list() == [0.0, 0.005, 0.01]
    assert frame["opportunities"].to_list() == [None, 2, 1]
    assert frame["delay_ms"].to_list() == [12.0, None, 11.0]


def test_options_are_words_of_the_command(tmp_path: Path) -> None:
    file = written(tmp_path, "0;5\n1;-1\n")
    settings = ["columns=t_s=1,rtt_ms=2", "separator=semicolon", "header=no", "lost=-1,x"]
    assert any("lost              1 of 2" in line for line in run([file], "columns", None, settings))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["ramp=cut"], "--set=ramp=cut: must be name=value of columns: columns, separator"),
        (["header"], "--set=header: must be name=value of columns"),
        (["header=perhaps"], "--set=header=perhaps: must be a value of the option's kind"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path: Path, settings: list[str], words: str) -> None:
    with pytest.raises(UserError, match=words):
        list(run([written(tmp_path, "0;5\n")], "columns", None, settings))


def test_one_store_holds_one_recording(tmp_path: Path) -> None:
    file = written(tmp_path, "12\n11\n")
    with pytest.raises(UserError, match=r"--out=.*: must be given for one recording at a time"):
        list(run([file, file], None, tmp_path / "out.parquet", []))


def test_a_recording_is_not_stored_in_place_of_its_own_file(tmp_path: Path) -> None:
    """It is the only copy of what was measured."""
    file = written(tmp_path, "12\n11\n")
    before = file.read_bytes()
    with pytest.raises(UserError, match=r"--out=.*: must be another file than the recording, which it would replace"):
        list(run([file], "leocc", file, []))
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("t_s,rtt_ms\n0,1\n".encode("utf-16-le"), "UTF-16 without its mark: save it as UTF-8"),
        ("t_s,rtt_ms\n0,1\n".encode("utf-16-be"), "UTF-16 without its mark"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet, or another document of old Office: save it as CSV"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "packed by 7-Zip: unpack it first"),
        (gzip.compress(gzip.compress(b"1\n" * 9, mtime=0), mtime=0), "packed by gzip twice: unpack it first"),
        (
            b"a.sqlog".ljust(257, b"\0") + b"ustar\0" + bytes(249) + b'{"qlog_version": "0.3"}',
            "packed by tar: unpack it",
        ),
        (ERF_RECORD * 2, "neither pcap nor pcapng: 'editcap -F pcap FILE NEW' turns it into one"),
        (b"iptrace 2.0\0\0", "neither pcap nor pcapng: 'editcap -F pcap FILE NEW' turns it into one"),
        (b"\x7fver\x10\0\0\0\0\2\0\0", "neither pcap nor pcapng: 'editcap -F pcap FILE NEW' turns it into one"),
        (
            struct.pack(">BB9I12x", 7, 0, 9000, 10, 1, 2, 3, 0, 0, 7 << 24, 10**9),
            "neither pcap nor pcapng: 'editcap -F pcap FILE NEW' turns it into one",
        ),
        (struct.pack("<I68xHBB", 65_536, 2, 2, 0xC0), r"a trace of Windows \(ETL\): 'pktmon etl2pcap FILE'"),
        (b"\0\5\x16\7\0\2\0\0Mac OS X        ", r"what macOS keeps beside a file \(AppleDouble\)"),
        (b"# mahimahi mm-link (downlink) [a] > log\n# base timestamp: 9\n10 # 1504\n", "a log of mahimahi's mm-link"),
        (b"snoop\0\0\0\0\0\0\2", "neither pcap nor pcapng: 'editcap -F pcap FILE NEW' turns it into one"),
    ],
)
def test_a_file_of_a_kind_that_no_format_reads_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(UserError, match=f"must be one that the lab reads, and the file is .*{words}"):
        importers.detect(written(tmp_path, content + bytes(40) * (content[:1] != b"\x1f" and b"\n" not in content)))
