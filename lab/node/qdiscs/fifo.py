# SPDX-License-Identifier: GPL-2.0-or-later
"""FIFOs that drop at the tail, of bytes or of packets."""

from lab.node.qdiscs.kind import ByTc

BYTES = ByTc(lambda spec: ["limit", str(spec["limit_bytes"])], lambda options: {"limit_bytes": options["limit"]})
PACKETS = ByTc(lambda spec: ["limit", str(spec["limit_pkts"])], lambda options: {"limit_pkts": options["limit"]})
