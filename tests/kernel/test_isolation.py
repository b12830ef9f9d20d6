# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest writes nowhere but in its trial's folder, whatever a topology's lines leave; preloads change no packet."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import polars as pl
import pytest

from lab.backends import boot
from lab.base import paths, sandbox, sandbox_mode
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.node.plan import Plan
from lab.runs.pool import Result, attempt
from lab.runs.trial import prepare, store
from lab.tables.digests import write_digests
from lab.tables.stored_trial import Trial
from tests.brief import folder_at, put
from tests.command import scenario_file, wait_for
from tests.conftest import SMALL, Bench, experiment_on

ESCAPES = """
try() { if (eval "$1") 2>/dev/null; then echo "done: $1"; else echo "refused: $1"; fi >>/trial/escapes; }
try 'touch /trial/mine'
try 'touch /usr/escaped'
try 'touch /lab/lab/escaped'
try 'echo x >>/lab/linux'
try 'echo x >>/lab/lab/cli.py'
try 'mount -o remount,rw / && touch /etc/escaped'
mkdir -p /tmp/host && mount -t hostfs -o hostfs=/ none /tmp/host
try 'touch /tmp/host/usr/escaped'
try 'echo x >>/tmp/host/lab/lab/cli.py'
try 'ls /tmp/host{home}'
try 'mknod /tmp/host/lab/disk b 8 0'
"""
LINKED = """
mkdir -p /tmp/up && ln -s / /trial/up
try 'mount -t hostfs -o hostfs=/trial/up/etc none /tmp/up && cat /tmp/up/passwd'
try 'mount -t hostfs -o hostfs=/trial/../.. none /tmp/up && ls /tmp/up'
rm -f /trial/up
"""


@pytest.fixture(scope="module", params=sandbox_mode.MODES)
def escaped(request: pytest.FixtureRequest, bench: Bench, kernel: Kernel, world: Image) -> Path:
    """A trial whose topology's own lines try to get out, as the guest's root."""
    folder = folder_at(bench.folder / f"escape-{request.param}")
    experiment = experiment_on(SMALL, "cubic", duration_s=1)
    plan = prepare(bench.job(experiment, "cubic", f"escape-{request.param}"), folder)
    lines = (ESCAPES.replace("{home}", str(paths.REPO)).strip() + LINKED).strip().splitlines()
    plan["topology"]["nodes"]["server"]["exec"] += lines
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(sandbox_mode.VARIABLE, request.param)
        boot.run_plan(plan, folder, kernel, world.root)
    return folder


def test_the_guest_writes_in_its_trials_folder_and_nothing_of_its_attempts_is_on_the_host(
    escaped: Path, world: Image, small_trial: Trial
) -> None:
    tried = (escaped / "escapes").read_text().splitlines()
    assert [line for line in tried if line.startswith("done: ")] == ["done: touch /trial/mine"]
    assert len(tried) == 12
    assert escaped.is_dir()
    for folder in (world.root / "usr", world.root / "etc", paths.LAB, Path("/usr"), Path("/etc")):
        assert not (folder / "escaped").exists()
    for folder in (escaped, small_trial.path):
        assert {path.stat().st_uid for path in (folder, *folder.rglob("*"))} == {os.geteuid()}


def kernels_on(folder: Path) -> list[Path]:
    """Processes that are virtual kernels with a folder mounted, as the host sees them."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            is_kernel = (process / "cmdline").read_bytes().startswith(b"/lab/linux")
            if is_kernel and str(folder) in (process / "mountinfo").read_text():
                found.append(process)
        except OSError:  # ended meanwhile, or another user's
            continue
    return found


@pytest.fixture(scope="module")
def inside(bench: Bench) -> tuple[dict[str, str], list[str]]:
    """A running virtual kernel from outside: its status, and its network interfaces."""
    job = bench.job(experiment_on(SMALL, "cubic", duration_s=2), "cubic", "seen-from-the-host")
    draft = job.folder.parent / f".{job.folder.name}."  # and what separates this attempt from another
    trial = threading.Thread(target=bench.run, args=(job.experiment, "cubic", "seen-from-the-host"))
    trial.start()
    try:
        wait_for(lambda: kernels_on(draft), "virtual kernel", 30)
        process = kernels_on(draft)[0]
        status = (process / "status").read_text().splitlines()
        interfaces = (process / "net/dev").read_text().splitlines()[2:]
    finally:
        trial.join()
    return dict(line.split(":\t", 1) for line in status), [line.split(":")[0].strip() for line in interfaces]


def test_the_kernel_under_test_has_no_rights_or_network_on_the_host(inside: tuple[dict[str, str], list[str]]) -> None:
    status = inside[0]
    assert set(status["Uid"].split()) == {str(sandbox.NOBODY if os.geteuid() == 0 else os.geteuid())}
    assert status["NoNewPrivs"] == "1"
    assert int(status["CapBnd"], 16) == 0 or os.geteuid() == 0
    assert (int(status["CapEff"], 16), int(status["CapPrm"], 16), int(status["CapInh"], 16)) == (0, 0, 0)
    assert inside[1] == ["lo"]


@pytest.mark.skipif(os.geteuid() != 0, reason="not root: then every test here is the lab as an unprivileged user")
def test_the_lab_runs_as_an_unprivileged_user(kernel: Kernel) -> None:
    assert kernel
    user, home = 12345, Path(tempfile.mkdtemp(prefix="search-lab-user-"))
    try:
        scenario = scenario_file(home, trials=1)
        for path in (home, scenario):
            os.chown(path, user, user)
        run = [sys.executable, "-m", "lab", "run", str(scenario), "--jobs", "1"]
        words = [f"{name}={value}" for name, value in {"HOME": home, "LAB_CACHE": "/mnt", "LAB_RESULTS": home}.items()]
        done = subprocess.run(
            [*_readable(user), "env", *words, *run], cwd=paths.REPO, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        stored = list((home / "mine").rglob("*"))
        assert {path.lstat().st_uid for path in stored} == {user}
        assert [path.name for path in stored if path.name == "trial.json"] == ["trial.json"]
    finally:
        shutil.rmtree(home)


def _readable(user: int) -> list[str]:
    """Build a command line as another user, who may read this checkout, this Python and the cache wherever they lie."""
    words = ["bwrap", "--dev-bind", "/", "/", "--perms", "0755", "--tmpfs", str(Path.home())]
    for folder in (paths.REPO, Path(sys.base_prefix)):
        for parent in reversed(folder.parents):
            words += ["--perms", "0755", "--dir", str(parent)] if Path.home() in parent.parents else []
        words += ["--ro-bind", str(folder), str(folder)]
    words += ["--ro-bind", str(paths.cache()), "/mnt", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    return [*words, "--", "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", "--inh-caps=-all"]


@pytest.fixture(scope="module", params=["cubic", "cubic_plain"])
def both(request: pytest.FixtureRequest, bench: Bench, kernel: Kernel, world: Image) -> tuple[Trial, Trial]:
    """The same trial with the wake-up preload and without it."""
    cca = request.param
    experiment = experiment_on(SMALL, cca)
    job = bench.job(experiment, cca, "without-preload")
    job.folder.mkdir(parents=True)
    plan: Plan = {**prepare(job, job.folder), "preload": None}
    boot.run_plan(plan, job.folder, kernel, world.root)
    store(job, plan, job.folder)
    write_digests(job.folder)
    return bench.run(experiment, cca, "with-preload"), Trial(job.folder)


CLOCK_STEP_US = 3.0  # reading the time costs a virtual kernel 0.256 us, and with the preload it is read less often


def test_until_the_exit_the_preload_changes_no_packet(both: tuple[Trial, Trial]) -> None:
    exit_s = [float(trial.exits["t_s"][0]) for trial in both]
    assert exit_s[0] == pytest.approx(exit_s[1], abs=CLOCK_STEP_US / 1e6)
    with_, without = (one.packets.filter((pl.col("flow") == 1) & (pl.col("t_s") < exit_s[0] - 2e-6)) for one in both)
    same = ["to_client", "seq_bytes", "ack_bytes", "len_bytes", "flags", "sack_edges"]
    assert with_.select(same).equals(without.select(same))
    assert (with_["t_s"] - without["t_s"]).abs().max() < CLOCK_STEP_US / 1e6  # type: ignore[operator]


def test_the_preload_changes_no_exit_and_over_the_whole_trial_little(both: tuple[Trial, Trial]) -> None:
    with_, without = (trial.exits.drop("t_s", "rtt_ms") for trial in both)
    rtt_ms = [trial.exits["rtt_ms"].to_list() for trial in both]
    assert with_.equals(without)
    assert rtt_ms[0] == pytest.approx(rtt_ms[1], abs=CLOCK_STEP_US / 1e3)
    # The reader's wake-ups decide when a window update goes out: some more or fewer ACKs, once slow start is over.
    heights = [trial.acks.height for trial in both]
    assert heights[0] == pytest.approx(heights[1], rel=0.1)
    delivered = [trial.packets.filter(pl.col("flow") == 1)["ack_bytes"].max() for trial in both]
    assert delivered[0] == pytest.approx(delivered[1], rel=0.01)


HELD = "held by the host alone"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    return put(tmp_path / "secret", HELD)


def attacked(bench: Bench, name: str, *lines: str) -> tuple[Result, Path]:
    """Run a trial whose topology has further lines; return its result and its folder."""
    experiment = experiment_on(SMALL, "cubic", duration_s=1)
    nodes = experiment.topology.topology.nodes
    nodes["server"] = nodes["server"].model_copy(update={"exec": [*nodes["server"].exec, *lines]})
    job = bench.job(experiment, "cubic", name)
    return attempt(job), job.folder


@pytest.mark.parametrize(
    "line",
    [
        "for name in trial.json packets.parquet client.pcapng.zst error.txt; do ln -s {file} /trial/$name; done",
        "ln -s {file} /trial/error.txt",
        "ln -s /etc /trial/formats",
        "mkfifo /trial/trial.json",
    ],
)
def test_what_is_no_plain_file_fails_the_trial(bench: Bench, secret: Path, line: str) -> None:
    result, folder = attacked(bench, f"line-{abs(hash(line))}", line.format(file=secret))
    assert str(result).startswith("trial: ")
    assert str(result).endswith(": must be a plain file or folder")
    assert secret.read_text() == HELD
    assert list(folder.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("what", "line"),
    [
        ("sparse", "truncate -s 100G /trial/big"),
        ("many", "mkdir /trial/many && cd /trial/many && seq 100000 | xargs touch"),
    ],
)
def test_what_a_guest_writes_has_a_limit(bench: Bench, what: str, line: str) -> None:
    result, folder = attacked(bench, what, line)
    assert str(result).startswith(("trial: ", "virtual kernel: exit status"))
    assert list(folder.parent.iterdir()) == []


def test_what_else_a_guest_leaves_is_not_stored(bench: Bench) -> None:
    result, folder = attacked(bench, "more", "touch /trial/more /trial/trial.json /trial/SHA256SUMS")
    assert isinstance(result, dict), result
    assert not (folder / "more").exists()
    assert (folder / "trial.json").stat().st_size > 0
