# SPDX-License-Identifier: GPL-2.0-or-later
"""`lab try`: build a user's own congestion control, test it for a second, and compare it with the lab's senders."""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab_compare.command import CompareOptions, compare, fetched
from lab_compare.comparison import SEED, TRIALS, Comparison, known_senders
from lab_compare.link_kinds import Link, links
from lab_vm import machine, real, stock
from rich.console import Console

from lab.backends.backend import Site
from lab.backends.choose import choose
from lab.backends.virtual import Virtual, find_built
from lab.base.choice import names
from lab.base.errors import COMMAND_LINE, field_error
from lab.base.workers import Pool, one_pool
from lab.commands.prepare import build, built, prepare, refuse
from lab.kernel.recipe import Recipe
from lab.kernel.versions import DEFAULT, VERSIONS
from lab.runs.options import RunOptions
from lab.runs.plan import needed_modules
from lab.schema.cca import Cca
from lab.senders.named import by_name, own_senders
from lab_try.confined import stock_tree, virtual_tree
from lab_try.expect import Expected, conclude, require_known
from lab_try.module.build import NotWantedError, OwnModule, build_own
from lab_try.module.builder import Tree
from lab_try.module.diagnostics import BuildError
from lab_try.module.source import OwnSource, read_sources
from lab_try.senders import Passed, module_files, read_params
from lab_try.senders import own_senders as senders_of_modules
from lab_try.smoke import SmokeTest
from lab_try.threads import map_in_threads

AGAINST = "cubic,search,bbr"
NEEDED = ("lab.runs.pool", "lab_compare.report.explained")  # by workers, which import it while the module is built
BROUGHT = ".yml"  # a file of senders that exist already, and not of code that is built


@dataclass(frozen=True)
class TryRequest:
    """What to try, against which senders, and where."""

    sources: tuple[Path, ...]
    params: tuple[str, ...] = ()  # name=value
    against: str = AGAINST
    link_names: str | None = None
    trials: int | None = None
    duration_s: int | None = None
    seed: int | None = None
    quick: bool = False
    sanitize: bool = False  # also build the sanitized kernel where the cache lacks it
    backend: str | None = None
    engine: str | None = None
    expected: Expected = field(default_factory=Expected)
    first_window_pkts: int | None = None  # of the own senders' receiver
    kernel: str = DEFAULT  # of the own modules; the lab's senders run on the default one

    @property
    def links(self) -> tuple[Link, ...]:
        return links(names(self.link_names) if self.link_names else None, self.duration_s, self.quick)

    @property
    def count(self) -> int:
        return (1 if self.quick else TRIALS) if self.trials is None else self.trials


def try_brought(request: TryRequest, how: CompareOptions, options: RunOptions, console: Console) -> None:
    """Compare all senders of users' files, which need no building, with the lab's."""
    for name, value in (("param", request.params), ("sanitize", request.sanitize), ("engine", request.engine)):
        if value:
            raise field_error(COMMAND_LINE, name, value, "absent with a .yml file: it is used with C files")
    rivals, chosen = known_senders(names(request.against)), request.links
    own = by_name(each for file in request.sources for each in own_senders(str(file), "source").values())
    seed = SEED if request.seed is None else request.seed
    comparison = Comparison(list(own), own | rivals, chosen, request.count, seed, request.duration_s)
    refuse(comparison.senders, request.backend or "virtual")
    comparison = fetched(comparison, console)
    require_known(request.expected.expectations, comparison)
    senders, virtual = built(comparison.senders, prepare(Recipe(), console), console)
    how = replace(how, reports=how.reports and not request.quick)
    _compare(request, replace(comparison, senders=senders), how, virtual.site, options, console)


def try_own(request: TryRequest, how: CompareOptions, options: RunOptions, console: Console) -> None:
    """Build, test and compare; UserError names the first fault."""
    if all(source.suffix == BROUGHT for source in request.sources):
        try_brought(request, how, options, console)
        return
    with one_pool() as pool:
        _try_sources(request, how, options, console, pool)


def _try_sources(request: TryRequest, how: CompareOptions, options: RunOptions, console: Console, pool: Pool) -> None:
    choice = choose(request.backend or "virtual", request.engine)
    if choice.backend == "host":
        raise field_error(COMMAND_LINE, "backend", "host", "virtual or vm: the host's kernel has no build tree here")
    _require_kernel(request.kernel, choice.backend)
    rivals, chosen = known_senders(names(request.against)), request.links
    refuse(rivals, choice.backend)
    sources = [source for path in request.sources for source in read_sources(path)]
    virtual = prepare(Recipe(), console)
    pool.start(min(options.workers, len(chosen) * (len(sources) + len(rivals))), NEEDED)
    under = virtual if request.kernel == DEFAULT else prepare(Recipe(request.kernel), console)
    tested = _tested(request, sources, under, console)
    settings = {"kernel": None if under is virtual else under.digest, "first_window_pkts": request.first_window_pkts}
    own = {name: sender.model_copy(update=settings) for name, sender in senders_of_modules(tested).items()}
    seed = SEED if request.seed is None else request.seed
    comparison = fetched(Comparison(list(own), own | rivals, chosen, request.count, seed, request.duration_s), console)
    require_known(request.expected.expectations, comparison)
    how = replace(how, reports=how.reports and not request.quick)
    if choice.backend == "virtual":
        files = module_files(one.module for one in tested)
        with_own = replace(virtual, own_modules=files, kernels={} if under is virtual else {under.digest: under.kernel})
        senders, virtual = built(comparison.senders, with_own, console)
        _compare(request, replace(comparison, senders=senders), how, virtual.site, options, console)
        return
    modules = _built(sources, [stock_tree(stock.ensure())], console)
    with _machine(choice.engine, comparison, modules) as site:
        _compare(request, comparison, how, site, replace(options, workers=1), console)


def own_senders_of(request: TryRequest, virtual: Virtual, console: Console) -> tuple[dict[str, Cca], Virtual]:
    """Build and test the sources of a request; return their senders, and the virtual kernel with their modules."""
    sources = [source for path in request.sources for source in read_sources(path)]
    tested = _tested(request, sources, virtual, console)
    return senders_of_modules(tested), replace(virtual, own_modules=module_files(one.module for one in tested))


def _compare(
    request: TryRequest, comparison: Comparison, how: CompareOptions, site: Site, options: RunOptions, console: Console
) -> None:
    """Compare, then judge what is expected."""
    compared = compare(comparison, how, site, options, console)
    if request.expected.expectations:
        conclude(request.expected, comparison.subjects, compared.found, console)
    compared.require_valid()


def _require_kernel(kernel: str, backend: str) -> None:
    if kernel not in VERSIONS:
        raise field_error(COMMAND_LINE, "kernel", kernel, f"one of {', '.join(VERSIONS)}")
    if kernel != DEFAULT and backend != "virtual":
        raise field_error(COMMAND_LINE, "kernel", kernel, f"{DEFAULT} with --backend {backend}")


def _tested(request: TryRequest, sources: list[OwnSource], virtual: Virtual, console: Console) -> list[Passed]:
    """Build every module and let each pass the smoke test in the plain and, where it is built, the sanitized kernel."""
    sanitized = _sanitized(request, console)
    began_s = time.monotonic()
    kernels = [virtual, sanitized] if sanitized else [virtual]
    trees = [virtual_tree(each.kernel, VERSIONS[request.kernel].socket_bytes) for each in kernels]
    modules = _built(sources, trees, console)
    own = [module for module in modules if module.tree is trees[0]]
    params = read_params(request.params, modules)
    named = ", ".join(f"{module.name} ({module.source.path})" for module in own)
    console.print(f"built {named} in {time.monotonic() - began_s:.1f} s", markup=False)
    began_s = time.monotonic()
    tests = [
        SmokeTest(module, chosen, each.kernel, each.world.root, each is sanitized)
        for each, tree in zip(kernels, trees, strict=True)
        for module in modules
        if module.tree is tree
        for chosen in [{name: value for name, value in params.items() if name in module.parameters}]
    ]
    results = map_in_threads(SmokeTest.run, tests)
    where = "the plain and the sanitized kernel" if sanitized else "the plain kernel; --sanitize adds the sanitized one"
    console.print(f"smoke test passed in {time.monotonic() - began_s:.1f} s, in {where}", soft_wrap=True, markup=False)
    passed = [Passed(test.module, test.params, result) for test, result in zip(tests, results, strict=True)]
    return passed[: len(own)]


def _built(sources: list[OwnSource], trees: list[Tree], console: Console) -> list[OwnModule]:
    """Build every source that is wanted for each tree; print what the compiler complains of, and raise its first error.

    One tree's modules come after the other's.
    """
    try:
        built = map_in_threads(_module_or_note, [(source, tree) for tree in trees for source in sources])
    except BuildError as error:
        _print_lines(console, (line for line in error.lines if line != str(error)))
        raise
    for each in built[: len(sources)]:
        _print_lines(console, each.warnings if isinstance(each, OwnModule) else [str(each)])
    if modules := [each for each in built if isinstance(each, OwnModule)]:
        return modules
    raise field_error(sources[0].path, "modules", "none", "at least one that make finds in obj-m")


def _module_or_note(wanted: tuple[OwnSource, Tree]) -> OwnModule | NotWantedError:
    try:
        return build_own(*wanted)
    except NotWantedError as error:
        return error


def _print_lines(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def _sanitized(request: TryRequest, console: Console) -> Virtual | None:
    recipe = Recipe(request.kernel, sanitize=True)
    return find_built(recipe) or (build(recipe, console) if request.sanitize else None)


@contextmanager
def _machine(engine: str, comparison: Comparison, modules: list[OwnModule]) -> Iterator[Site]:
    """Yield the VM with the modules for its kernel; UserError where its kernel is another one."""
    backend = real.real_backend(choose("vm", engine))
    with real.alone(backend):
        site = real.inspect(backend, needed_modules(comparison.experiment(comparison.links[0], 1)))
        release = f"Linux {stock.ensure().release}"
        if site.description.kernel["kernel_source"] != release:
            rule = f"{release}, which modules are built for: kernel_mode=stock"
            raise field_error(machine.NAME, "kernel", site.description.kernel["kernel_source"], rule)
        yield replace(site, backend=replace(backend, own_modules=module_files(modules)))
