# SPDX-License-Identifier: GPL-2.0-or-later
"""SEARCH as BPF: its source as a module leaves where the lab's module leaves, and a real kernel decides as the core."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lab_bpf.node import loader
from lab_bpf.program import build
from lab_papers.search_replay import AGAIN_NEW, DRAIN, built_versions, version
from lab_quic.quinn import build as quic

from bench.same_exit import implementations as decide
from bench.same_exit.compare import differences, exit_ack
from bench.same_exit.record import record_one
from bench.same_exit.stream import Decisions, Stream, load
from lab.backends.virtual import Virtual
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.node.system.tools import NodeError
from lab.runs.experiment import Experiment
from lab.runs.trial import Job, run_trial
from lab.schema.cca import load_senders
from lab.senders.ways import prepared
from lab.tables.stored_trial import Trial
from tests.conftest import SMALL, experiment_on
from tests.exact_links import deep, silent

SENDERS = ("search", loader.NAME)
LINKS = {"deep": deep(rate_mbps=20, rtt_ms=60), "silent": silent(0.8, 1.8), "losing": SMALL}
SLOTS = 64  # SEARCH_BPF_SLOTS
TCP_CONGESTION = 13
CANNOT = "BPF cannot be loaded here: it needs root, and Linux 6.12 or newer with BTF"


def experiment_of(link: str) -> Experiment:
    experiment = experiment_on(LINKS[link], "cubic", duration_s=4)
    return replace(experiment, ccas={name: load_senders()[name] for name in SENDERS})


@pytest.fixture(scope="module")
def virtual(kernel: Kernel, world: Image) -> Virtual:
    return Virtual(kernel, world)


@pytest.fixture(scope="module")
def recorded(virtual: Virtual, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Stream, Decisions]]:
    """What the lab's module and BPF's source as a module got and decided, on each link."""
    folder = tmp_path_factory.mktemp("streams")
    for link in LINKS:
        for sender in SENDERS:
            record_one(experiment_of(link), virtual, sender, 1, folder / f"{link}-{sender}.npz")
    return {file.stem: load(file) for file in sorted(folder.glob("*.npz"))}


@pytest.fixture
def able() -> None:
    try:
        loader.this_machine().require_able("test")
    except NodeError:
        pytest.skip(CANNOT)


def test_core_modules_and_quic_decide_every_bin_alike(
    recorded: dict[str, tuple[Stream, Decisions]], search_library: Path
) -> None:
    streams = [stream for stream, _ in recorded.values()]
    by = {"core": decide.by_core(search_library, streams), "modules": [found for _, found in recorded.values()]}
    built = quic.QUINN.find()
    if built:
        by["QUIC"] = decide.by_quic(built.program, streams)
    assert list(differences(list(recorded), by)) == []
    assert min(map(len, by["core"])) > 10
    assert exit_ack(recorded["deep-search"][1]) is not None
    assert exit_ack(recorded["deep-search_bpf"][1]) is not None
    assert recorded["silent-search_bpf"][0].reset.sum() > 1


def test_its_module_passes_the_certificate_and_reports_its_exit(virtual: Virtual, tmp_path: Path) -> None:
    experiment = experiment_of("deep")
    ccas, backend = prepared(experiment.ccas, virtual)
    exits = []
    for name in SENDERS:
        job = Job(replace(experiment, ccas=ccas), name, 1, tmp_path / "trials" / f"{name}-001", backend)
        job.folder.parent.mkdir(exist_ok=True)
        assert run_trial(job)["certificate"]["valid"]
        exits.append(Trial(job.folder).exits.to_dicts())
    assert [row["cause"] for row in exits[0]] == [row["cause"] for row in exits[1]] == ["search"]
    assert exits[1][0]["t_s"] == pytest.approx(exits[0][0]["t_s"], abs=1e-3)
    assert exits[1][0]["cwnd_pkts"] == exits[0][0]["cwnd_pkts"]


def test_the_versions_offered_are_those_whose_hooks_are_the_same(search_library: Path) -> None:
    fit = []
    for name in built_versions(search_library):
        published = version(search_library, name)
        params = published.params
        habits = published.compact or params.epoch_blind_ms or params.in_recovery or params.again != AGAIN_NEW
        if not habits and params.on_exit != DRAIN and params.bins + params.extra_bins + 1 < SLOTS:
            fit.append(name)
    assert sorted(fit) == sorted(build.VERSIONS)


@pytest.mark.usefixtures("able")
def test_a_real_kernel_decides_every_bin_as_the_core(
    recorded: dict[str, tuple[Stream, Decisions]], search_library: Path
) -> None:
    streams = [stream for stream, _ in recorded.values()]
    by = {"core": decide.by_core(search_library, streams), "BPF": decide.by_bpf_here(streams)}
    assert list(differences(list(recorded), by)) == []


@pytest.fixture
def loaded(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    built = build.ensure(request.param)
    loader.load(built.program, built.bpftool)
    try:
        yield built.bpftool
    finally:
        if loader.is_loaded():
            loader.unload(built.bpftool)


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("loaded", build.VERSIONS, indirect=True)
def test_it_carries_a_flow_and_is_unloaded_without_a_trace(loaded: list[str]) -> None:
    with pytest.raises(NodeError, match="must not be loaded already"):
        loader.load(Path("another"), loaded)
    arrived, port = carried(4 << 20)
    assert arrived == 4 << 20
    assert {left["dport"] for left in loader.exits(loaded)} <= {
        port
    }  # it may leave: the loopback's round trip is short
    assert loader.unload(loaded) == []
    assert not loader.is_loaded()
    with pytest.raises(NodeError, match="must be loaded: 'lab senders load search_bpf' loads it"):
        loader.unload(loaded)


def carried(total_bytes: int) -> tuple[int, int]:
    """Send bytes over the loopback by this sender; return how many arrive, and at which port."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as sender:
        sender.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, loader.NAME.encode())
        sender.connect(server.getsockname())
        receiver = server.accept()[0]
        sending = threading.Thread(target=_send, args=(sender, total_bytes))
        sending.start()
        arrived = 0
        with receiver:
            while got := len(receiver.recv(1 << 16)):
                arrived += got
        sending.join()
        return arrived, server.getsockname()[1]


def _send(sender: socket.socket, total_bytes: int) -> None:
    sender.sendall(bytes(total_bytes))
    sender.shutdown(socket.SHUT_WR)
