# SPDX-License-Identifier: GPL-2.0-or-later
"""A user's own module: built alone, tested for a second, each mistake in one line; and one with large state."""

import json
import os
from pathlib import Path

import pytest
from lab_bundle.content import folders
from lab_try.confined import virtual_tree
from lab_try.module.build import NotWantedError, OwnModule, build_own
from lab_try.module.diagnostics import BuildError
from lab_try.module.source import read_source, read_sources
from lab_try.node.smoke import Smoke
from lab_try.senders import Passed, own_senders
from lab_try.smoke import SmokeError, SmokeTest

from lab.backends.virtual import Virtual, find_built
from lab.base.paths import REPO
from lab.images.image import Image
from lab.kernel.build import Kernel
from lab.kernel.recipe import Recipe
from lab.kernel.versions import LARGE_SOCKETS
from lab.runs.trial import Job, run_trial
from lab.schema.cca import Value
from lab.tables.stored_trial import Trial
from tests.brief import error_of, put
from tests.command import lab, lab_ok, refused
from tests.conftest import SMALL, Bench, experiment_on
from tests.own_modules import (
    FAULTY,
    HEAD,
    LICENCE,
    REGISTER,
    REPORTING,
    UNBUILDABLE,
    UNCLEAN,
    UNREGISTER,
    source,
    start,
    written,
)

BY_LOSS = "it calls neither slow_start_reduced() nor slow_start_cause()"
FIELD = REPO / "tests/data/field/modules"


def built(path: Path, kernel: Kernel) -> OwnModule:
    return build_own(read_source(path), virtual_tree(kernel))


def smoked(path: Path, kernel: Kernel, world: Image, **params: Value) -> Smoke:
    return SmokeTest(built(path, kernel), params, kernel, world.root).run()


@pytest.fixture(scope="module")
def sanitized() -> Virtual:
    found = find_built(Recipe(sanitize=True))
    if found is None:
        pytest.skip("the sanitized kernel is not built: 'lab kernel build --sanitize' builds it")
    return found


def test_a_module_is_named_by_what_it_registers_and_may_report_exits(
    tmp_path: Path, kernel: Kernel, world: Image
) -> None:
    smoke = smoked(written(tmp_path, source(name="my_own")), kernel, world)
    assert list(smoke["algorithms"]) == ["my_own"]
    assert all(flow["got_bytes"] > 0 for flow in smoke["algorithms"]["my_own"])
    long, _, _ = smoked(written(tmp_path, source()), kernel, world)["algorithms"]["own"]
    assert long["least_cwnd_pkts"] < 11 < 100 < long["most_cwnd_pkts"]
    file = written(tmp_path, REPORTING)
    reporting = built(file, kernel)
    assert reporting.depends == ("tcp_slow_start",)
    assert reporting.warnings == (f"{file}: warning: it may report no exit by a loss: {BY_LOSS}",)
    assert list(smoked(file, kernel, world)["algorithms"]) == ["own"]


@pytest.mark.parametrize(("flags", "sysctls"), [("TCP_CONG_NEEDS_ECN", {"net.ipv4.tcp_ecn": "1"}), (None, {})])
def test_a_module_that_reacts_to_marks_has_ends_that_negotiate_them(
    tmp_path: Path, kernel: Kernel, world: Image, flags: str | None, sysctls: dict[str, str]
) -> None:
    file = written(tmp_path, source(flags=flags))
    passed = Passed(built(file, kernel), {}, smoked(file, kernel, world))
    assert own_senders([passed])["own"].sysctls == sysctls


def test_a_folder_is_built_by_its_kbuild(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    written(tmp_path, "obj-m := both.o\nboth-y := one.o two.o\n", "Kbuild")
    written(tmp_path, '#include "shared.h"\nu32 half(u32 cwnd_pkts)\n{\n\treturn max(cwnd_pkts / 2, 2U);\n}\n', "two.c")
    written(tmp_path, "#include <linux/kernel.h>\nu32 half(u32 cwnd_pkts);\n", "shared.h")
    hook = '#include "shared.h"\nstatic u32 hook(struct sock *sk)\n{\n\treturn half(tcp_snd_cwnd(tcp_sk(sk)));\n}\n'
    written(tmp_path, source(name="both", code=hook, ssthresh="hook"), "one.c")
    assert list(smoked(tmp_path, kernel, world)["algorithms"]) == ["both"]


def test_parameters_are_passed_and_read_back(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    meaning = 'MODULE_PARM_DESC(gain, "of growth\\nin thousandths");\n'
    param = "static uint gain = 2;\nmodule_param(gain, uint, 0444);\n"
    file = written(tmp_path, source(code=param + meaning))
    assert built(file, kernel).parameters == {"gain": "uint"}
    assert smoked(file, kernel, world, gain=3)["parameters"] == {"gain": "3"}


def test_a_flag_is_read_back_and_what_cannot_be_is_named(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    params = "static bool fast;\nmodule_param(fast, bool, 0444);\nstatic int secret;\nmodule_param(secret, int, 0);\n"
    params += 'static char *label = "none";\nmodule_param(label, charp, 0444);\n'
    params += "static uint gains[2], count;\nmodule_param_array(gains, uint, &count, 0444);\n"
    params += "static int steps[3] = {1, 2, 3};\nmodule_param_array(steps, int, NULL, 0444);\n"
    file = written(tmp_path, source(code=params))
    assert {*built(file, kernel).parameters.items()} == {
        ("fast", "bool"),
        ("secret", "int"),
        ("label", "charp"),
        ("gains", "array of uint"),
        ("steps", "array of int"),
    }
    for given in ({"fast": 1}, {"fast": "Y", "label": "a=/b", "gains": "3,4"}, {"fast": 1, "steps": "7,8"}):
        shown = {"label": "none", "gains": ""} | given | {"fast": "Y"}
        shown["steps"] = "7,8,3" if "steps" in given else "1,2,3"
        assert smoked(file, kernel, world, **given)["parameters"] == shown
    with pytest.raises(SmokeError, match=r"secret: must be a readable parameter: module_param\(.., 0444\)"):
        smoked(file, kernel, world, secret=1)


def test_a_parameter_that_the_module_itself_changes_is_refused(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    param = "static uint gain = 2;\nmodule_param(gain, uint, 0444);\n"
    bounded = REGISTER.replace("return", "gain = min(gain, 4U);\n\treturn")
    file = written(tmp_path, source(code=param, end=bounded + UNREGISTER + LICENCE))
    assert smoked(file, kernel, world, gain=3)["parameters"] == {"gain": "3"}
    with pytest.raises(SmokeError, match="gain=4: must be 9: the module itself changed it"):
        smoked(file, kernel, world, gain=9)


@pytest.mark.parametrize(("content", "line"), UNBUILDABLE.values(), ids=UNBUILDABLE)
def test_what_does_not_build_is_named_by_its_place(tmp_path: Path, kernel: Kernel, content: str, line: str) -> None:
    with pytest.raises(BuildError, match=line) as refused:
        built(written(tmp_path, content), kernel)
    assert str(refused.value).startswith(str(tmp_path))
    assert "/tmp/own" not in "".join(refused.value.lines)


@pytest.mark.parametrize(("content", "line"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_module_is_refused(tmp_path: Path, kernel: Kernel, world: Image, content: str, line: str) -> None:
    with pytest.raises(SmokeError, match=line) as refused:
        smoked(written(tmp_path, content), kernel, world)
    assert "Linux version" in refused.value.log_file.read_text()


@pytest.mark.parametrize(("content", "line"), UNCLEAN.values(), ids=UNCLEAN)
def test_the_sanitized_kernel_notices_what_the_plain_one_does_not(
    tmp_path: Path, sanitized: Virtual, content: str, line: str
) -> None:
    module = built(written(tmp_path, content), sanitized.kernel)
    with pytest.raises(SmokeError, match=line):
        SmokeTest(module, {}, sanitized.kernel, sanitized.world.root, sanitized=True).run()


def test_a_clean_module_passes_in_the_sanitized_kernel(tmp_path: Path, sanitized: Virtual) -> None:
    module = built(written(tmp_path, source()), sanitized.kernel)
    assert SmokeTest(module, {}, sanitized.kernel, sanitized.world.root, sanitized=True).run()["leaks"] == []


def test_a_umask_that_shuts_others_out_fails_no_build(tmp_path: Path, kernel: Kernel) -> None:
    own = written(tmp_path, REPORTING.replace("window_of_64", "under_umask"))
    before = os.umask(0o077)
    try:
        assert built(own, kernel).depends == ("tcp_slow_start",)
    finally:
        os.umask(before)


def test_two_modules_of_one_folder_are_refused(tmp_path: Path, kernel: Kernel) -> None:
    written(tmp_path, "obj-m := a.o b.o\n", "Kbuild")
    for name in ("a.c", "b.c"):
        written(tmp_path, source(), name)
    assert "modules=a.ko, b.ko: must be one module" in error_of(built, tmp_path, kernel)


def test_a_module_may_register_two_algorithms(tmp_path: Path, kernel: Kernel, world: Image) -> None:
    second = source(name="second", end="").removeprefix(HEAD).replace(" own = ", " other = ")
    register = REGISTER.replace("(&own)", "(&own) ?: tcp_register_congestion_control(&other)")
    unregister = UNREGISTER.replace("(&own);", "(&own);\n\ttcp_unregister_congestion_control(&other);")
    content = source(name="first", end=second + register + unregister + LICENCE)
    assert list(smoked(written(tmp_path, content), kernel, world)["algorithms"]) == ["first", "second"]


@pytest.mark.parametrize(
    ("file", "hint"),
    [
        ("old-pkts-acked.c", r"\(\.pkts_acked is void .* const struct ack_sample \*sample\), since Linux 4\.7\)$"),
        ("old-time-stamp.c", r"use tcp_jiffies32 .*, since Linux 4\.13\)$"),
    ],
)
def test_a_module_for_an_older_kernel_gets_the_hint_of_what_changed(file: str, hint: str, kernel: Kernel) -> None:
    with pytest.raises(BuildError, match=hint):
        built(FIELD / file, kernel)


def test_a_file_whose_name_has_dots_is_built_as_a_module_without_them(tmp_path: Path, kernel: Kernel) -> None:
    assert built(written(tmp_path, source(), "cc-3.1.c"), kernel).name == "cc_3_1"


def test_each_module_of_a_kbuild_is_built(tmp_path: Path, kernel: Kernel) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text(source(name=name))
    (tmp_path / "Kbuild").write_text("obj-m := one.o two.o\n")
    tree = virtual_tree(kernel)
    assert [build_own(each, tree).name for each in read_sources(tmp_path)] == ["one", "two"]


def test_what_the_conditions_of_a_kbuild_leave_out_is_not_built(tmp_path: Path, kernel: Kernel) -> None:
    written(tmp_path, source(), "one.c")
    written(tmp_path, "this is not C\n", "two.c")
    rules = "ifneq ($(KERNELRELEASE),)\nobj-m := one.o\nendif\nifdef DEBUG\nobj-m += two.o\nendif\n"
    written(tmp_path, rules, "Makefile")
    tree = virtual_tree(kernel)
    one, two = read_sources(tmp_path)
    assert build_own(one, tree).name == "one"
    with pytest.raises(NotWantedError, match="warning: module two: the conditions of obj-m leave it out"):
        build_own(two, tree)


def test_a_module_has_the_pacing_of_the_files_that_it_is_built_of(tmp_path: Path, kernel: Kernel) -> None:
    paced = "sk->sk_pacing_rate = 1 << 20;"
    written(tmp_path, source("one", code='#include "sub/rate.h"\n' + start("rate(sk);"), init="hook"), "one.c")
    (tmp_path / "sub").mkdir()
    written(tmp_path, f"static void rate(struct sock *sk)\n{{\n\t{paced}\n}}\n", "sub/rate.h")
    written(tmp_path, source("two", code=f"// {paced}\n"), "two.c")
    written(tmp_path, paced, "README.md")
    written(tmp_path, "obj-m := one.o two.o\n", "Kbuild")
    tree = virtual_tree(kernel)
    assert [build_own(each, tree).paces for each in read_sources(tmp_path)] == [True, False]


LARGE = source(
    "mine",
    "struct state {\n\tchar bytes[700];\n};\n"
    + start(
        "struct state *s = inet_csk_ca(sk);\n\n\tBUILD_BUG_ON(sizeof(*s) > ICSK_CA_PRIV_SIZE);\n\ts->bytes[699] = 1;"
    ),
    init="hook",
)
SHORT = ("--links", "wired", "--against", "cubic", "--trials", "1", "--duration", "2", "--jobs", "1")


@pytest.fixture
def module(tmp_path: Path) -> Path:
    return put(tmp_path / "mine.c", LARGE)


@pytest.mark.usefixtures("kernel")
def test_a_large_state_is_refused_on_the_default_kernel(tmp_path: Path, module: Path) -> None:
    line = refused(lab(tmp_path / "results", "try", str(module), *SHORT))
    assert "mine.c:" in line
    assert "BUILD_BUG_ON failed" in line


@pytest.mark.skipif(
    find_built(Recipe(LARGE_SOCKETS)) is None,
    reason="kernel large-sockets is not built: lab kernel build --kernel large-sockets",
)
class TestOnTheKernelWithLargeSockets:
    """What needs the second kernel."""

    def test_a_large_state_runs_there_beside_a_rival_on_the_default_kernel(self, tmp_path: Path, module: Path) -> None:
        options = ("--kernel", LARGE_SOCKETS, "--first-window", "8192")
        lab_ok(tmp_path / "results", "try", str(module), *SHORT, *options)
        trials = next((tmp_path / "results/compare-wired").glob("[0-9]*")) / "trials"
        own, rival = Trial(trials / "mine-001").meta, Trial(trials / "cubic-001").meta
        assert "-large-sockets" in own["kernel"]
        assert "-large-sockets" not in rival["kernel"]
        assert own["certificate"]["valid"]
        plan = json.loads((trials / "mine-001/plan.json").read_text())
        assert plan["sysctls"]["route"]["initrwnd"] == "8192"

    def test_cubic_sends_the_same_packets_there(self, tmp_path: Path, bench: Bench) -> None:
        other = find_built(Recipe(LARGE_SOCKETS))
        assert other
        experiment = experiment_on(SMALL, "cubic", duration_s=2)
        for place, backend in (("default", bench.backend), ("other", other)):
            run_trial(Job(experiment, "cubic", 1, tmp_path / place / "cubic-001", backend))
        default, there = (Trial(tmp_path / place / "cubic-001") for place in ("default", "other"))
        assert "-large-sockets" not in default.meta["kernel"]
        random = ("tsval", "tsecr")  # TCP's timestamps begin at a number that the kernel draws
        assert default.packets.drop(random).equals(there.packets.drop(random))
        assert default.packets.height > 1000
        assert default.acks.equals(there.acks)

    def test_no_bundle_holds_it(self) -> None:
        other = find_built(Recipe(LARGE_SOCKETS))
        assert other
        held = {folder.path for folder in folders(recordings=False)}
        assert held
        assert not held & {*other.kernel.folders}
