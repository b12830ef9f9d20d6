# SPDX-License-Identifier: GPL-2.0-or-later
"""The way of SEARCH as BPF in trials: its source is a module of the virtual kernel, built when it is first used."""

from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.errors import field_error
from lab.base.named_files import shown
from lab.schema.cca import Cca
from lab.senders.way import Progress, Senders
from lab.senders.ways import OwnModule

if TYPE_CHECKING:
    from lab.backends.virtual import Virtual

MODULE = "tcp_search_bpf"


class Bpf(OwnModule):
    """Senders that are the source of a BPF program."""

    file = Path(__file__).with_name("bpf.yml")
    order = 2
    only_virtual = "{} is a module of the virtual kernel ('lab senders load' is for stock ones)"

    def check(self, cca: Cca) -> None:
        """Refuse a stanza without the module."""
        if not self.owns(cca):
            raise field_error(shown(self.file), "name", cca.name, f"given with module: {MODULE}")

    def owns(self, cca: Cca) -> bool:
        """Return whether it is the module of the program's source."""
        return cca.module == MODULE

    def prepare(self, senders: Senders, virtual: "Virtual", _progress: Progress) -> "tuple[Senders, Virtual]":
        """Build the module for the virtual kernel."""
        from lab_bpf.prepare import with_module

        return with_module(MODULE, senders, virtual)


BPF = Bpf()
