# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole files of each kind, which fuzzing changes."""

import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from bundles import whole_content, write_bundle
from captures_of_users import PLAIN, pcap
from lab_break.numbers import Store, crashed
from lab_break.request import Request
from lab_break.space import FOLDER as BOUNDS
from lab_break.space import load_bounds
from lab_conform.case import FOLDER as CASES
from lab_course.answers import NOTEBOOK
from quic_logs import event as qlog_event
from stack_files import TINY
from test_import_fuzz import SMALL
from test_import_ndt7 import info, ndt7
from test_import_qlog import EVENTS, qlog
from test_import_ss import SS
from test_stack_qlog import BY_LOSS, BY_STATE, BY_THRESHOLD, FORMS, document
from whatif_captures import Download, Known, ack_log
from whatif_captures import written as whatif_capture

from lab.base import paths
from tests.hostile.draft import DRAFT, LEFT
from tests.hostile.inputs import BASES
from tests.stored_run import store_run

SHORT = Known(rate_mbps=8, one_way_ms=10, buffer_bytes=50_000, size_bytes=1_500_000)  # long enough to be judged
HEAD_BYTES = 20_000  # of a capture: every kind of block, and quick
Documents = Callable[[], list[Any]]


def documents(reads: str) -> list[Any]:
    """Return samples of a kind that is YAML or JSON, as plain data; none of another kind."""
    return DOCUMENTS[reads]() if reads in DOCUMENTS else []


def contents(reads: str) -> list[bytes]:
    if reads in DOCUMENTS:
        return [json.dumps(one).encode() for one in documents(reads)] + _texts(reads)
    return CONTENTS[reads]()


def _texts(reads: str) -> list[bytes]:
    base = BASES.get(reads)
    return [base.encode()] if base else CONTENTS.get(reads, list)()


def _yaml(*files: Path) -> list[Any]:
    return [yaml.safe_load(file.read_text()) for file in files if file.exists()]


def _profiles() -> list[Any]:
    found = sorted(paths.PROFILES.glob("*.yml"))
    own = [file for file in found if file.name != "datasets.yml" and "dataset:" not in file.read_text()]
    return [yaml.safe_load(BASES["profile"]), *_yaml(*own)]


def _datasets() -> list[Any]:
    whole = yaml.safe_load((paths.PROFILES / "datasets.yml").read_text())
    return [dict(list(whole.items())[:2])]


@cache
def _stored() -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as folder:
        run = store_run(Path(folder), trials=1, senders=("search",))
        files = [run / "run.json", *(run / "trials" / "search-001").iterdir()]
        return {file.name: file.read_bytes() for file in files}


@cache
def _bundle() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return write_bundle(Path(folder) / "x", whole_content()).read_bytes()


ANSWERED = {"metadata": {"tags": ["answers"]}, "source": ["answers = {'rate_mbps': 8.5, 'why': ['it', 'is']}"]}


def _handed_in() -> dict[str, bytes]:
    return {"own.c": b"int x;\n" * 50, NOTEBOOK: json.dumps({"cells": [ANSWERED]}).encode()}


def _zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in _handed_in().items():
            made.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def _tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as made:
        for name, content in _handed_in().items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
    return file.getvalue()


def _user_captures() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        as_pcap = pcap(Path(folder) / "x", PLAIN).read_bytes()
    return [as_pcap, (DRAFT / "client.pcapng").read_bytes()[:HEAD_BYTES]]


def _whatif_captures() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        return [
            whatif_capture(Path(folder) / "x", frames, SHORT).read_bytes()
            for frames in (_short().client, _short().server)
        ]


def _whatif_logs() -> list[bytes]:
    readings = ndt7(*(info(100_000 * row, 500_000 * row, 12_000 + row, 0) for row in range(1, 20)))
    return [text.encode() for text in (ack_log(_short()), qlog(*EVENTS), SS, readings)]


@cache
def _short() -> Download:
    return Download(SHORT)


QUIC_SERVER = """ack\t5000\t14480\t18446744073709551615\t100\t20\t0\t1280\t2560\t1280\t0
bin\t5000\t14480\t18446744073709551615\t1\t20\t3\t100\t90\t500\t7
exit\t5000\t14480\t14480\t20\tsearch
lost\t5000\t2
"""
COMPILED = {
    "server": "./server --listen {address}:{port} --cc {cca} --cert {cert} --key {key} --qlog {qlog} -n {datagram}",
    "environment": {"LOG": "{qlog}/a {stack}"},
    "libraries": ["."],
    "causes": {"stops": "hystartpp"},
}
ENDS = ("sent", "received")
QUIC_CLIENT = "sent\t1\t60\ngot\t2\t1280\npiece\t0\t1200\ngot\t3\t1280\npiece\t1200\t1200\nsent\t4\t60\n"


def _numbers() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        store.write("0" * 16, crashed("a reason"))
        stored: dict[str, Any] = json.loads(store.file("0" * 16).read_bytes())
    return stored


def _find() -> dict[str, Any]:
    bounds = load_bounds("access")
    rivals = ("cubic_plain",)
    request = Request.of("search", "early", ("access", bounds), ",".join(rivals), None, 100, 1, "random", 1)
    trials = {name: crashed("a reason") for name in ("search", *rivals)}
    found = {"format": 1, "request": request.stored, "value": 1.0, "point": dict(bounds.usual), "kernel": {}}
    return {**found, "trials": trials}


DOCUMENTS: dict[str, Documents] = {
    "scenario": lambda: _yaml(paths.SCENARIOS / "geo.yml", paths.SCENARIOS / "wifi-paper-low-spread.yml"),
    "profile": _profiles,
    "topology": lambda: _yaml(*sorted(paths.TOPOLOGIES.glob("*/*.clab.yml"))),
    "senders": lambda: _yaml(paths.CCAS),
    "sysctls": lambda: _yaml(paths.SYSCTLS),
    "datasets": _datasets,
    "trial.json": lambda: [json.loads(_stored()["trial.json"])],
    "case": lambda: _yaml(*sorted(CASES.glob("*/*.yml"))[::8]),
    "bounds": lambda: _yaml(*sorted(BOUNDS.glob("*.yml"))),
    "numbers.json": lambda: [_numbers()],
    "find.json": lambda: [_find()],
    "notebook.ipynb": lambda: [{"cells": [ANSWERED]}],
    "stack": lambda: [TINY, {**TINY, **COMPILED}],
    "stack.sqlog": lambda: [json.loads(document(events)) for events in (BY_THRESHOLD, BY_LOSS, BY_STATE)],
    **{name: partial(list, (content,)) for name, content in LEFT.items()},
    "run.json": lambda: [json.loads(_stored()["run.json"])],
}
CONTENTS: dict[str, Callable[[], list[bytes]]] = {
    "packets.parquet": lambda: [_stored()["packets.parquet"]],
    "capture": lambda: [(DRAFT / "client.pcapng").read_bytes()[:HEAD_BYTES]],
    "trace": lambda: [(DRAFT / "trace.raw").read_bytes()],
    "recording": lambda: [text.encode() for text in SMALL.values()],
    "user.pcap": _user_captures,
    "whatif.pcap": _whatif_captures,
    "whatif.log": _whatif_logs,
    "kernel.log.zst": lambda: [bytes(pa.Codec("zstd").compress(b"[    0.000000] Linux\n" * 50, asbytes=True))],
    "submission.zip": lambda: [_zip()],
    "submission.tar.gz": lambda: [_tar()],
    "one_more.format": lambda: [file.read_bytes() for file in (DRAFT / "formats").glob("*.format")],
    "page_bytes": lambda: [(DRAFT / "formats" / "page_bytes").read_bytes()],
    "quic-server.log": lambda: [QUIC_SERVER.encode()],
    "quic-client.log": lambda: [QUIC_CLIENT.encode()],
    "stack.sqlog": lambda: [text.encode() for text in FORMS.values()],
    "server.qlog": lambda: ["\n".join(qlog_event(end, 9.5, n) for end in ENDS for n in range(3)).encode()],
    "search-lab.bundle": lambda: [_bundle()],
}
