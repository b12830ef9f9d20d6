# SPDX-License-Identifier: GPL-2.0-or-later
"""From a visitor to a sender that trials can run: what its built and tested module, and its kernel, add."""

from lab.base.errors import field_error
from lab.kernel.own.build import OwnModule
from lab.node.smoke import Smoke
from lab.runs.own.senders import REPORTS
from lab.schema.cca import Cca
from lab.schema.load import shown
from lab.schema.visitor import visitor_files


def as_built(sender: Cca, module: OwnModule) -> Cca:
    """Return a visitor's sender with what its module needs; UserError where the module lacks a parameter."""
    for param in sender.params:
        if param not in module.parameters:
            rule = f"a parameter of the module: {', '.join(module.parameters) or 'none'}"
            raise field_error(shown(visitor_files()[sender.name]), "params", param, rule)
    needs = {
        "module": module.name,
        "module_digest": module.source.digest,
        "depends": list(module.depends),
        "reports_exit": REPORTS in module.depends,
    }
    return sender.model_copy(update=needs)


def require_algorithm(sender: Cca, smoke: Smoke) -> None:
    """Refuse a visitor whose module registers another algorithm than its file names."""
    if sender.algorithm not in smoke["algorithms"]:
        rule = f"what the module registers: {', '.join(smoke['algorithms'])}"
        raise field_error(shown(visitor_files()[sender.name]), "algorithm", sender.algorithm, rule)
