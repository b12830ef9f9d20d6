# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of examples/cluster: GNU parallel on two machines, a Slurm array here, and files for other systems."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from lab_papers.same.reference import values_of

from lab.base.paths import REPO
from lab.kernel.build import Kernel
from lab.tables.stored_run import Run
from lab.tables.stored_trial import Trial
from tests.brief import put
from tests.command import lab_ok
from tests.kernel.test_experiment import LINK
from tests.own_cache import cache_with

EXAMPLES = REPO / "examples" / "cluster"
ENOUGH_S = 300
PARALLEL = "GNU parallel is not installed: apt-get install parallel"
SLURM = "Slurm is not installed, or this user is not root: apt-get install slurmctld slurmd slurm-client"
# Slot N of parallel is machine N, with a cache of its own.
MACHINE = """#!/bin/sh
[ -z "${{PARALLEL_JOBSLOT:-}}" ] || export LAB_CACHE={folder}/machine$PARALLEL_JOBSLOT/cache
exec {lab} "$@"
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, kernel: Kernel) -> Path:
    """A run of one machine, with the profile beside it."""
    assert kernel
    folder = tmp_path_factory.mktemp("alone")
    (folder / "mine.yml").write_text(LINK)
    lab_ok(folder / "results", *running(folder))
    return folder


def running(folder: Path) -> list[str]:
    return ["run", "--profile", str(folder / "mine.yml"), "--cca", "cubic", "--trials", "4", "--duration", "1"]


def require_same(results: Path, alone: Path) -> None:
    merged, whole = (folder / "try-mine" / "latest" / "trials" for folder in (results, alone / "results"))
    assert sorted(each.name for each in merged.iterdir()) == sorted(each.name for each in whole.iterdir())
    for trial in whole.iterdir():
        assert values_of(Trial(merged / trial.name)).tables == values_of(Trial(trial)).tables
    assert Run(results / "try-mine" / "latest").complete


def ran(words: list[str], folder: Path, **environment: str) -> str:
    done = subprocess.run(
        words, cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False, timeout=ENOUGH_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(not shutil.which("parallel"), reason=PARALLEL)
def test_gnu_parallel_runs_shards_on_two_machines(alone: Path, tmp_path: Path, kernel: Kernel) -> None:
    for number in (1, 2):
        (tmp_path / f"machine{number}").mkdir()
        cache_with(kernel, tmp_path / f"machine{number}" / "cache")
    machine = put(tmp_path / "lab", MACHINE.format(folder=tmp_path, lab=REPO / "scripts" / "lab"))
    machine.chmod(0o755)
    words = [str(EXAMPLES / "parallel.sh"), "4", *running(alone)]
    ran(words, tmp_path, LAB=str(machine), LAB_RESULTS=str(tmp_path / "results"))
    assert len(list(tmp_path.glob("parts/*/shard.json"))) == 4
    require_same(tmp_path / "results", alone)


@pytest.mark.skipif(not shutil.which("slurmctld", path="/usr/sbin") or os.geteuid() != 0, reason=SLURM)
def test_a_slurm_array_runs_shards(alone: Path, tmp_path: Path) -> None:
    array = ["sbatch", "--wait", "--array=1-4", f"--output={tmp_path}/%a.txt", str(EXAMPLES / "slurm.sbatch")]
    words = [str(EXAMPLES / "slurm-here.sh"), str(tmp_path / "slurm"), *array, *running(alone)]
    ran(words, REPO, LAB_OUT=str(tmp_path / "parts"))
    parts = sorted(tmp_path.glob("parts/*"))
    assert len(parts) == 4
    lab_ok(tmp_path / "results", "merge", *map(str, parts))
    require_same(tmp_path / "results", alone)


@pytest.mark.parametrize(
    ("array", "shards", "found"),
    [
        ("1 16 16", "", "--shard 3/16 --out parts/3"),
        ("3 3 1", "16", "--shard 3/16 --out parts/3"),
        ("3 3 1", "", "slurm.sbatch: array=3-3: must be 1-N, or LAB_SHARDS=N must be given"),
        ("3 7 2", "", "slurm.sbatch: array=3-7: must be 1-N, or LAB_SHARDS=N must be given"),
        ("0 15 16", "", "slurm.sbatch: array=0-15: must be 1-N, or LAB_SHARDS=N must be given"),
    ],
)
def test_a_job_of_an_array_that_goes_on_runs_its_shard(tmp_path: Path, array: str, shards: str, found: str) -> None:
    """Slurm counts the jobs of the array that was submitted: of --array=3 one."""
    put(tmp_path / "scripts" / "lab", '#!/bin/sh\necho "$@"\n')
    (tmp_path / "scripts" / "lab").chmod(0o755)
    names = ("SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_COUNT")
    slurm = dict(zip(names, array.split(), strict=True)) | {"SLURM_ARRAY_TASK_ID": "3", "LAB_SHARDS": shards}
    words = ["bash", str(EXAMPLES / "slurm.sbatch"), "run", "geo"]
    done = subprocess.run(words, cwd=tmp_path, env=os.environ | slurm, capture_output=True, text=True, check=False)
    assert (done.stdout or done.stderr).strip().endswith(found)
    assert done.returncode == (0 if done.stdout else 2)


@pytest.mark.parametrize("name", ["kubernetes.yml", "ci-matrix.yml"])
def test_files_that_are_not_run_here_are_yaml_with_a_whole_set_of_shards(name: str) -> None:
    content = yaml.safe_load((EXAMPLES / name).read_text())
    if name == "kubernetes.yml":
        (line,) = content["spec"]["template"]["spec"]["containers"][0]["args"]
        assert f"$shard/{content['spec']['completions']}" in line
    else:
        shards = content["jobs"]["shard"]["strategy"]["matrix"]["shard"]
        assert shards == list(range(1, len(shards) + 1))
        assert any(f"/{len(shards)} " in step.get("run", "") for step in content["jobs"]["shard"]["steps"])
