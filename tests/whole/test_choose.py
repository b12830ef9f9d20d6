# SPDX-License-Identifier: GPL-2.0-or-later
"""Where a run goes, and who is refused; a scheduler is reached over TLS, or refused before a run begins."""

import datetime
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dask
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from distributed import LocalCluster
from distributed.security import Security
from lab_cluster import scheduler as cluster
from lab_vm import machine
from lab_vm.node.exclusive import held_alone
from lab_vm.real import real_backend

from lab.backends import choose
from lab.base.errors import UserError
from lab.node.system.tools import NodeError
from lab.runs import pool
from lab.runs.options import RunOptions
from lab.tables.stored_trial import Trial
from tests.brief import error_of
from tests.unit.test_trial_stored import Recorded, job


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_BACKEND", raising=False)


@pytest.fixture
def up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "is_up", lambda: True)


@pytest.fixture
def down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "ssh_config", lambda: None)


@pytest.mark.usefixtures("down")
def test_without_a_vm_the_virtual_kernel_is_usual_and_a_vm_that_is_requested_named() -> None:
    assert (choose.choose(None, None).backend, choose.choose(None, None).engine) == ("virtual", "netns")
    assert "vm: not up: run 'vagrant up'" in error_of(real_backend, choose.choose("vm", None))


@pytest.mark.usefixtures("up")
def test_a_vm_that_is_up_is_used_with_containerlab_unless_something_else_is_requested() -> None:
    chosen = choose.choose(None, None)
    assert chosen == choose.Choice("vm", "containerlab", "the VM is up")
    assert choose.choose("virtual", None).backend == "virtual"
    assert choose.choose("host", "mininet").engine == "mininet"


@pytest.mark.usefixtures("down")
@pytest.mark.parametrize(
    ("backend", "engine", "message"),
    [
        ("cloud", None, "command line: backend=cloud: must be one of virtual, host, vm"),
        (None, "docker", "command line: engine=docker: must be one of netns, containerlab, mininet"),
        ("virtual", "mininet", "command line: engine=mininet: must be netns in the virtual kernel"),
        (None, "mininet", "command line: engine=mininet: must be netns without a VM"),
    ],
)
def test_what_does_not_go_together_is_refused(backend: str | None, engine: str | None, message: str) -> None:
    with pytest.raises(UserError, match=message):
        choose.choose(backend, engine)


@pytest.mark.usefixtures("up")
def test_the_environment_decides_where_the_command_line_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_BACKEND", "virtual")
    assert choose.choose(None, None).reason == "set by LAB_BACKEND"
    assert choose.choose("host", None).reason == "as requested"
    monkeypatch.setenv("LAB_BACKEND", "cloud")
    assert "environment: backend=cloud: must be one of" in error_of(choose.choose, None, None)


@pytest.fixture
def other(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Another process that holds the lock."""
    holding = "import sys, time; from pathlib import Path; from lab_vm.node.exclusive import held_alone\n"
    holding += "with held_alone(Path(sys.argv[1]), \"'lab run geo' of ann\"): print('held', flush=True); time.sleep(60)"
    command = [sys.executable, "-c", holding, str(tmp_path / "lock")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.usefixtures("other")
def test_a_second_holder_is_refused_with_the_name_of_the_first(tmp_path: Path) -> None:
    with (
        pytest.raises(NodeError, match="lock: held by 'lab run geo' of ann: wait for it"),
        held_alone(tmp_path / "lock", "me"),
    ):
        pass


def test_a_killed_holder_holds_nothing(tmp_path: Path, other: "subprocess.Popen[str]") -> None:
    other.kill()
    other.wait()
    with held_alone(tmp_path / "lock", "me"):
        assert (tmp_path / "lock").read_text() == "me"


def square(number: int) -> int:
    return number * number


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate that vouches for itself: the authority of a cluster, and its only member."""
    folder = tmp_path_factory.mktemp("tls")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a cluster of tests")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(days=1)).not_valid_after(
        now + datetime.timedelta(days=1)
    )
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    pem = serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(pem))
    plain = serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    return folder


@pytest.fixture(scope="module")
def encrypted(certificates: Path) -> Iterator[str]:
    """A cluster that takes only members with the certificate."""
    cert, key = str(certificates / "cert.pem"), str(certificates / "key.pem")
    files = {
        f"tls_{role}_{kind}": file
        for role in ("scheduler", "worker", "client")
        for kind, file in (("cert", cert), ("key", key))
    }
    security = Security(require_encryption=True, tls_ca_file=cert, **files)
    there = LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tls://",
        security=security,
        dashboard_address=None,
        silence_logs=50,
    )
    with there:
        yield str(there.scheduler_address)


def test_a_scheduler_with_tls_serves_whoever_has_the_certificate(encrypted: str, certificates: Path) -> None:
    cert, key = str(certificates / "cert.pem"), str(certificates / "key.pem")
    where = "distributed.comm.tls"
    tls = {f"{where}.ca-file": cert, f"{where}.client.cert": cert, f"{where}.client.key": key}
    with dask.config.set(tls), cluster.connected(encrypted) as client:
        assert dict(cluster.run_on(client, [1, 2, 3], square)) == {1: 1, 2: 4, 3: 9}


@pytest.fixture(scope="module")
def plain() -> Iterator[str]:
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "silence_logs": 50}
    with LocalCluster(protocol="tcp://", dashboard_address="127.0.0.1:0", **options) as there:
        yield str(there.scheduler_address)


def test_workers_must_have_the_folder_of_results_and_each_file(plain: str, tmp_path: Path) -> None:
    results, there, gone = tmp_path / "results", tmp_path / "there", tmp_path / "gone"
    there.touch()
    pool.require_cluster(plain, results, [there])
    assert list(results.iterdir()) == []
    with pytest.raises(UserError, match=rf"^worker .*: {gone}: must exist there too"):
        pool.require_cluster(plain, results, [there, gone])
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        pool.require_cluster(plain, tmp_path / "file", [])


def test_trials_on_a_cluster_are_stored_and_need_the_files_of_their_backend(plain: str, tmp_path: Path) -> None:
    options = RunOptions(scheduler=plain)
    trial = job(tmp_path)
    trial.folder.parent.mkdir(parents=True)
    ((done, result),) = pool.run_jobs([trial], options)
    assert done == trial
    assert isinstance(result, dict)
    assert Trial(trial.folder).is_whole
    needy = replace(trial, backend=Recorded(required_files=(tmp_path / "gone",)))  # type: ignore[arg-type]
    with pytest.raises(UserError, match=rf"^worker .*: {tmp_path / 'gone'}: must exist there too"):
        list(pool.run_jobs([needy], options))


def fault(number: int) -> int:
    raise ValueError(f"{number}\nand more")


def test_a_fault_is_one_line_and_a_result_of_a_lost_worker_not_waited_for_without_end(plain: str) -> None:
    with cluster.connected(plain) as client:
        assert dict(cluster.run_on(client, [1], fault)) == {1: "cluster: 1"}
        assert dict(cluster.run_on(client, [*range(20)], square)) == {number: number**2 for number in range(20)}
    ended: Any = SimpleNamespace(status="finished", result=lambda timeout: timeout)
    assert 0 < cluster._result(ended) <= 60


def test_a_scheduler_with_tls_serves_nobody_else(encrypted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "REPLY_S", 1)
    with pytest.raises(
        UserError, match=r"^command line: scheduler=tls://.*names no TLS certificates: see docs/cluster.md"
    ):
        connect(encrypted)
    with pytest.raises(UserError, match=r"^command line: scheduler=tcp://.*: must be a dask scheduler that replies: "):
        connect(encrypted.replace("tls:", "tcp:"))


def connect(address: str) -> None:
    with cluster.connected(address):
        pass


def test_a_scheduler_without_its_package_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(pool, "loaded", lambda _group: {})
    with pytest.raises(UserError, match=r"^command line: scheduler=tcp://a:1: must be used with packages/cluster"):
        pool.require_cluster("tcp://a:1", tmp_path, [])


@pytest.mark.parametrize("address", ["", "tcp", "foo://x", "inproc://x", "ucx://127.0.0.1:1"])
def test_an_address_of_another_form_is_one_line(address: str) -> None:
    assert error_of(connect, address).endswith(": must be tcp://HOST:PORT or tls://HOST:PORT")


@pytest.mark.parametrize("address", ["tcp://", "tcp://127.0.0.1:99999999", "tls://127.0.0.1:1"])
def test_an_address_without_a_scheduler_is_one_line(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(cluster, "REPLY_S", 1)
    with pytest.raises(UserError, match=r": must be a dask scheduler that replies: [^\n]+$"):
        connect(address)


def test_a_socket_that_stays_silent_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "REPLY_S", 1)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(UserError, match=r": must be a dask scheduler that replies: no reply in 1 s$"),
    ):
        connect(f"tcp://127.0.0.1:{silent.getsockname()[1]}")
