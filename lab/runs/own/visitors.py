# SPDX-License-Identifier: GPL-2.0-or-later
"""From a visitor to a sender that trials can run: its stanza, and what its built and tested module adds."""

from collections.abc import Mapping

from lab.base.errors import field_error
from lab.kernel.own.build import OwnModule
from lab.kernel.own.source import OwnSource
from lab.node.smoke import Smoke
from lab.runs.own.senders import REPORTS
from lab.schema.cca import Cca, Stanza, load_senders, looks
from lab.schema.load import shown
from lab.schema.visitor import Visitor, visitor_files


def visitor_senders(visitors: Mapping[str, Visitor], sources: Mapping[str, OwnSource]) -> dict[str, Cca]:
    """Return the sender of each visitor; none looks like another, or like one of the lab's."""
    free = looks({cca.look for cca in load_senders().values()})
    return {name: _sender(name, visitor, sources[name], next(free)) for name, visitor in visitors.items()}


def _sender(name: str, visitor: Visitor, source: OwnSource, look: Stanza) -> Cca:
    return Cca(
        name=name,
        label=visitor.label,
        algorithm=visitor.algorithm,
        module=visitor.module_file.removesuffix(".c"),
        module_digest=source.digest,
        params=visitor.params,
        allocates_bytes=visitor.allocates_bytes,
        qdisc=visitor.qdisc,
        slow_start_exit=visitor.slow_start_exit,
        exit_label=visitor.exit_label,
        exit_enters_cwr=visitor.exit_enters_cwr,
        **look,
    )


def as_built(sender: Cca, module: OwnModule) -> Cca:
    """Return a visitor's sender with what its module needs; UserError where the module lacks a parameter."""
    for param in sender.params:
        if param not in module.parameters:
            rule = f"a parameter of the module: {', '.join(module.parameters) or 'none'}"
            raise field_error(shown(visitor_files()[sender.name]), "params", param, rule)
    needs = {"module": module.name, "depends": list(module.depends), "reports_exit": REPORTS in module.depends}
    return sender.model_copy(update=needs)


def require_algorithm(sender: Cca, smoke: Smoke) -> None:
    """Refuse a visitor whose module registers another algorithm than its file names."""
    if sender.algorithm not in smoke["algorithms"]:
        rule = f"what the module registers: {', '.join(smoke['algorithms'])}"
        raise field_error(shown(visitor_files()[sender.name]), "algorithm", sender.algorithm, rule)
