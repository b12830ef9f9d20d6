# SPDX-License-Identifier: GPL-2.0-or-later
# ruff: noqa: RUF001  what ping writes in other languages
"""What each system's ping writes is read; what is lost, cut or too fast to measure is stated."""

from pathlib import Path

import pytest

from lab.base.errors import UserError
from lab.traces import importers
from lab.traces.recording import Recording

FIELD = Path(__file__).parents[1] / "data"
REPLY = "64 bytes from 192.0.2.1: icmp_seq={} ttl=57 time=500 ms\n"
WINDOWS = "\nPinging 192.0.2.1 with 32 bytes of data:\n"
RTTS = list[float | None]


def read(folder: Path, content: str | bytes) -> Recording:
    file = folder / "ping.txt"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return importers.read(file)


@pytest.mark.parametrize(
    ("name", "rtts_ms"),
    [
        ("ping-busybox.txt", [41.223, 39.801, None, 44.010]),
        ("ping-macos-apple.txt", [41.223, 40.223, 39.223]),
        ("ping-macos-unreachable.txt", [41.223, None, 44.010]),
        ("ping6-macos.txt", [41.223, 40.223, 39.223]),
        ("ping-cut.txt", [41.2, 41.2]),
        ("ping-windows.txt", [41, None, None, 40]),
    ],
)
def test_a_file_of_a_user_has_its_right_values(name: str, rtts_ms: RTTS) -> None:
    assert importers.read(FIELD / name).frame["rtt_ms"].to_list() == rtts_ms


def test_a_cut_last_line_and_an_assumed_interval_are_stated() -> None:
    notes = "\n".join(importers.read(FIELD / "ping-cut.txt").notes)
    assert "The last line is cut, and left out: 64 bytes from 192.0.2.1: icmp_se." in notes
    assert "1 s, ping's default, is assumed" in notes


@pytest.mark.parametrize(
    ("clocks", "times_s"),
    [
        (["10:15:00.5 ", "10:15:01.75 "], [0.0, 1.25]),
        (["23:59:59.500000 ", "00:00:01.000000 "], [0.0, 1.5]),  # over midnight
        (["1700000000.1 ", "1700000001.2 "], [0.0, 1.1]),
        (["2026-11-25T10:15:00+0100 ", "2026-11-25T10:15:02+0100 "], [0.0, 2.0]),
        (["Nov 25 10:15:00 ", "Nov 25 10:15:01 "], [0.0, 1.0]),  # ts
        (["Wed Nov 25 10:15:00 UTC 2026: ", "Wed Nov 25 10:15:03 UTC 2026: "], [0.0, 3.0]),
        (["[1700000000.5] ", "[1700000001.0] "], [0.0, 0.5]),  # -D
        (["Wed Nov 25 10:15:00 -03 2026: ", "Wed Nov 25 10:15:03 -03 2026: "], [0.0, 3.0]),
        (["Wed 25 Nov 2026 11:59:59 AM UTC: ", "Wed 25 Nov 2026 12:00:01 PM UTC: "], [0.0, 2.0]),
        (["2026-11-25 10:15:00 | ", "2026-11-25 10:15:01 | "], [0.0, 1.0]),
        (["0.000123 ", "1.100123 "], [0.0, 1.1]),  # ts -s %.s
        (["2026-11-25-10:15:00 ", "2026-11-25-10:15:03 "], [0.0, 3.0]),  # ts %F-%T
        (["2026/11/25 10:15:00 ", "2026/11/25 10:15:03 "], [0.0, 3.0]),
        (["25.11.2026 10:15:00 ", "25.11.2026 10:15:03 "], [0.0, 3.0]),
        (["2026-11-25 10:15:00, ", "2026-11-25 10:15:03, "], [0.0, 3.0]),
        (["2026-10-25T02:59:58+0200 ", "2026-10-25T02:00:01+0100 "], [0.0, 3.0]),  # the end of summer time
        (["1764065700123 ", "1764065703123 "], [0.0, 3.0]),  # date +%s%3N
        (["Nov 25 10:15:00 host ping[7]: ", "Nov 25 10:15:03 host ping[7]: "], [0.0, 3.0]),  # a journal
    ],
)
def test_a_clock_before_each_line_times_the_probes(tmp_path: Path, clocks: list[str], times_s: list[float]) -> None:
    text = clocks[0] + HEAD + "bytes of data.\n"
    text += "".join(clock + REPLY.format(number) for number, clock in enumerate(clocks, 1))
    assert read(tmp_path, text).frame["t_s"].to_list() == pytest.approx(times_s, abs=1e-6)


def test_a_clock_whose_zone_changes_by_name_is_refused(tmp_path: Path) -> None:
    """An hour would pass in a second at the begin of summer time."""
    clocks = ("Sun Mar 31 01:59:59 CET 2024: ", "Sun Mar 31 03:00:00 CEST 2024: ")
    text = HEAD + "bytes of data.\n" + "".join(clock + REPLY.format(at) for at, clock in enumerate(clocks, 1))
    with pytest.raises(
        UserError, match=r"line 3: clock=Sun Mar 31 03:00:00 CEST 2024: must be of one zone, 'CET' as in"
    ):
        read(tmp_path, text)


HEAD = "PING 192.0.2.1 (192.0.2.1) 56(84) "


@pytest.mark.parametrize(
    ("text", "rtts_ms"),
    [
        (  # iputils writes in the system's language
            HEAD + "Bytes an Daten.\n64 Bytes von 192.0.2.1: icmp_seq=1 ttl=57 Zeit=41,2 ms\n"
            "Von 192.0.2.9 icmp_seq=2 Zielhost nicht erreichbar\n\n--- 192.0.2.1 Ping-Statistiken ---\n"
            "3 Pakete übertragen, 1 empfangen, +1 Fehler, 66,6667% Paketverlust, Zeit 2003 ms\n",
            [41.2, None, None],
        ),
        (
            HEAD + "octets de données.\n64 octets de h (192.0.2.1) : icmp_seq=1 ttl=57 temps=41.2 ms\n\n"
            "--- statistiques ping h ---\n2 paquets transmis, 1 reçus, 50% packet loss, time 1002ms\n",
            [41.2, None],
        ),
        (HEAD + "字节的数据。\n64 字节\N{FULLWIDTH COMMA}来自 192.0.2.1: icmp_seq=1 ttl=57 时间=41.2 毫秒\n", [41.2]),
        ("64 bytes from 192.0.2.1: icmp_req=1 ttl=57 time=41.2 ms\n", [41.2]),  # iputils until 2012
        ("64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=41.2 ms\a\n", [41.2]),  # ping -a
        ("Ping h (192.0.2.1): 56(84) bytes.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=41 ms\n", [41]),  # Android
        (
            "PING h: 56 data bytes\n64 bytes from h (192.0.2.1): icmp_seq=0. time=41.2 ms\n\n"
            "----h PING Statistics----\n"
            "1 packets transmitted, 1 packets received, 0% packet loss\nround-trip (ms)  min/avg/max = 41/41/41\n",
            [41.2],
        ),
        (
            HEAD
            + "bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=41 ms\nRR: \t192.0.2.2\n\t192.0.2.1\n",
            [41],
        ),
        (
            HEAD + "datových bajtů.\n64 bajtů od 192.0.2.1: pořadí=1 TTL=57 čas=41.2 ms\n"
            "Od 192.0.2.9: pořadí=2 Cílový stroj nedostupný\n",
            [41.2, None],
        ),
        (HEAD + "octets\n64\N{NO-BREAK SPACE}octets de h\N{NO-BREAK SPACE}: icmp_seq=1 ttl=57 temps=41.2 ms\n", [41.2]),
        (
            HEAD + "bayt veri.\n64 bayt, 192.0.2.1'den: icmp_seq=1 ttl=57 zaman=41.2 ms\n"
            "192.0.2.9'den: icmp_seq=2 Ulaşılamayan Hedef Ana Makine\n\n--- 192.0.2.1 ping istatistikleri ---\n"
            "3 paket iletildi, 1 alındı, %66 paket kaybı, zaman 2002ms\nrtt en az/ort/en çok/mdev = 1/1/1/0 ms\n",
            [41.2, None, None],
        ),
        (
            HEAD + "バイトのデータ\n64 バイト応答 送信元 192.0.2.1: icmp_seq=1 ttl=57 時間=41.2ミリ秒\n\n"
            "--- 192.0.2.1 ping 統計 ---\n送信パケット数 2, 受信パケット数 1, パケット損失 50%, 時間 1002ミリ秒\n",
            [41.2, None],
        ),
        (
            HEAD + "bytes of data.\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=9 ms (BAD CHECKSUM!)\n"
            "64 bytes from 192.0.2.1: icmp_seq=2 ttl=57 time=41 ms\nwrong data byte #16 should be 0x10 but was 0x0\n"
            "#16\t10 11 12\n2/2 packets, 0% loss, min/avg/ewma/max = 41/41/41/41 ms\n",
            [None, 41],
        ),
        ("PING h (192.0.2.1): 56 data bytes\nRequest 0 timed out\n64 bytes from h: icmp_seq=1 time=9 ms\n", [None, 9]),
        ("PING h (192.0.2.1): 56 data bytes\n" + REPLY.format(0) + "Timeout ...\n" + REPLY.format(2), [500, None, 500]),
        (
            "Ping h (192.0.2.1): 56 data bytes\n" + REPLY.format(0) + "Request time out\n" + REPLY.format(2),
            [500, None, 500],
        ),
        ("me@h:~$ ping 192.0.2.1\n" + HEAD + "bytes of data.\n" + REPLY.format(1) + "^C\nme@h:~$ \n", [500]),
        (
            "[2026-11-25T10:15:00+0100] h : [0], 84 bytes, 9.5 ms (9.5 avg, 0% loss)\n"
            "[2026-11-25T10:15:01+0100] h : duplicate for [0], 84 bytes, 10 ms\n",
            [9.5],
        ),
    ],
)
def test_each_system_and_language_is_read(tmp_path: Path, text: str, rtts_ms: RTTS) -> None:
    found = read(tmp_path, text)
    assert found.frame["rtt_ms"].to_list() == rtts_ms
    assert "is cut" not in "".join(found.notes)


def test_text_without_a_line_per_probe_is_said_to_have_none(tmp_path: Path) -> None:
    end = "\n--- h ping statistics ---\n2 packets transmitted, 2 received, 0% loss\n"
    for dots_of_a_flood in ("", "..\n"):
        with pytest.raises(UserError, match="must be ping's text with at least one answer: a line per probe"):
            read(tmp_path, HEAD + "bytes of data.\n" + dots_of_a_flood + end)


def test_an_answer_behind_an_unknown_clock_is_not_taken_for_a_lost_probe(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="must be a line that ping writes"):
        read(tmp_path, "".join(f"Mi 25. Nov 10:15:0{number}: {REPLY.format(number)}" for number in (1, 2, 3)))


FPING = "192.0.2.1 : [0], 84 bytes, 41.2 ms (41.2 avg, 0% loss)\n192.0.2.1 : [1], timed out (41.2 avg, 50% loss)\n"


def test_fping_of_one_target_is_read_and_of_two_refused(tmp_path: Path) -> None:
    end = "\n192.0.2.1 : xmt/rcv/%loss = 2/1/50%, min/avg/max = 41.2/41.2/41.2\n"
    assert read(tmp_path, FPING + end).frame["rtt_ms"].to_list() == [41.2, None]
    with pytest.raises(UserError, match=r"line 3: target=192\.0\.2\.9: must be 192\.0\.2\.1: one target of fping"):
        read(tmp_path, FPING + FPING.replace("2.1 ", "2.9 "))


@pytest.mark.parametrize(
    ("lines", "rtts_ms"),
    [
        ("Antwort von 192.0.2.1: Bytes=32 Zeit=41ms TTL=57\nZeitüberschreitung der Anforderung.\n", [41, None]),
        ("Réponse de 192.0.2.1 : octets=32 temps=7 ms TTL=57\nDélai d'attente de la demande dépassé.\n", [7, None]),
        ("Respuesta desde 192.0.2.1: bytes=32 tiempo=12ms TTL=57\n", [12]),
        ("Respuesta desde 192.0.2.1: bytes=32 tiempo=12m TTL=57\n", [12]),
        ("Reply from 2001:db8::1: time=41ms \nReply from 192.0.2.7: Destination host unreachable.\n", [41, None]),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_windows_in_any_language_and_encoding_is_read(tmp_path: Path, lines: str, rtts_ms: RTTS, encoding: str) -> None:
    lost = rtts_ms.count(None)
    counts = f"\nx:\n    P: S = {len(rtts_ms)}, R = {len(rtts_ms) - lost}, L = {lost} (5% loss),\n"
    recording = read(tmp_path, (WINDOWS + lines + counts).replace("\n", "\r\n").encode(encoding))
    assert (recording.format, recording.frame["rtt_ms"].to_list()) == ("ping-windows", rtts_ms)
    assert recording.frame["lost"].sum() == lost


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        (
            "cp866",
            "\nОбмен пакетами с h по с 32 байтами данных:\nОтвет от h: число байт=32 время=41мс TTL=57\n"
            "Превышен интервал ожидания для запроса.\n\nСтатистика Ping для h:\n"
            "    Пакетов: отправлено = 2, получено = 1, потеряно = 1\n    (50% потерь)\n",
        ),
        (
            "cp932",
            "\nh に ping を送信しています:\n192.0.2.1 からの応答: バイト数 =32 時間 =41ms TTL=57\n"
            "要求がタイムアウトしました。\n\nh の統計:\n    パケット数: 送信 = 2、受信 = 1、損失 = 1 (50% の損失)、\n",
        ),
        (
            "cp850",
            "\nEnvoi d'une requête 'Ping' h:\nRéponse de h : octets=32 temps=41 ms TTL=57\n"
            "Délai d'attente de la demande dépassé.\n\nStatistiques Ping pour h:\n"
            "    Paquets : envoyés = 2, reçus = 1, perdus = 1 (perte 50%),\n",
        ),
        (
            "cp857",
            "\nh: 32 bayt veri ile ping yapılıyor:\nh cevabı: bayt=32 süre=41ms TTL=57\nİstek zaman aşımına uğradı.\n\n"
            "h için Ping istatistikleri:\n    Paketler: Giden = 2, Gelen = 1, Kaybolan = 1 (%50 kayıp),\n",
        ),
    ],
)
def test_the_last_probe_of_windows_may_be_lost_in_each_language(tmp_path: Path, encoding: str, text: str) -> None:
    found = read(tmp_path, text.replace("\n", "\r\n").encode(encoding))
    assert (found.format, found.frame["rtt_ms"].to_list()) == ("ping-windows", [41, None])
    assert "A lost probe took its time-out, which the text does not state: 4 s by default." in found.notes[0]


def test_a_last_line_of_windows_that_may_be_cut_is_left_out_with_a_note(tmp_path: Path) -> None:
    notes = "\n".join(read(tmp_path, WINDOWS + "Reply from a: time=4ms TTL=57\nReply from a: ti\n").notes)
    assert "its last line may be cut, and is left out: Reply from a: ti." in notes


def test_windows_behind_a_prompt_or_without_a_heading_is_read(tmp_path: Path) -> None:
    text = WINDOWS + "Reply from 192.0.2.1: bytes=32 time=41ms TTL=57\n"
    banner = "Microsoft Windows [Version 10.0.19045.1]\n(c) Microsoft Corporation.\n"
    assert read(tmp_path, banner + "\nC:\\>ping 192.0.2.1\n" + text).frame["rtt_ms"].to_list() == [41]
    assert read(tmp_path, text.removeprefix(WINDOWS)).frame["rtt_ms"].to_list() == [41]


@pytest.mark.parametrize("clock", ["25.11.2026 10:15:0{} - ", "2026-11-25 10:15:0{} ", "10:15:0{}.000 "])
def test_a_clock_before_each_line_of_windows_times_the_probes(tmp_path: Path, clock: str) -> None:
    """PowerShell writes such lines, those of the heading with its clock, too."""
    reply = "Antwort von 192.0.2.1: Bytes=32 Zeit=41ms TTL=57"
    lines = ["", "Ping wird ausgeführt für h:", reply, "Zeitüberschreitung der Anforderung.", reply]
    text = "".join(f"{clock.format(at)}{line}\n" for at, line in zip((0, 0, 1, 5, 6), lines, strict=True))
    found = read(tmp_path, text.encode("utf-16"))
    assert found.frame["t_s"].to_list() == pytest.approx([0.0, 2.5, 5.0])
    assert found.frame["rtt_ms"].to_list() == [41, None, 41]


def test_windows_behind_a_clock_that_may_be_of_two_months_is_refused(tmp_path: Path) -> None:
    reply = "Reply from 192.0.2.1: bytes=32 time=41ms TTL=57\n"
    with pytest.raises(UserError, match=r"line 1: text=11/3/2026 10:00:00 AM - Reply.*behind a clock that ping's"):
        read(tmp_path, f"11/3/2026 10:00:00 AM - {reply}")


@pytest.mark.parametrize(
    ("sent", "words"), [(3, "packets sent=3: must be the 1 lines of probes"), (1, None)]
)  # fmt: skip
def test_windows_counts_must_be_those_of_its_lines(tmp_path: Path, sent: int, words: str | None) -> None:
    text = f"{WINDOWS}Reply from a: bytes=32 time=4ms TTL=57\n\nx:\n  P: S = {sent}, R = 1, L = 0 (0% loss),\n"
    if words is None:
        assert read(tmp_path, text).frame.height == 1
    else:
        with pytest.raises(UserError, match=words):
            read(tmp_path, text)


@pytest.mark.parametrize("line", [":=" * 50_000, "=1" * 50_000, f"time={'9' * 5000}ms TTL=57"])
def test_a_long_line_of_windows_is_a_lost_probe_and_takes_no_time(tmp_path: Path, line: str) -> None:
    text = f"{WINDOWS}Reply from a: bytes=32 time=4ms TTL=57\n{line}\n\nP: S = 2, R = 1, L = 1 (50% loss)\n"
    assert read(tmp_path, text).frame["lost"].to_list() == [False, True]
