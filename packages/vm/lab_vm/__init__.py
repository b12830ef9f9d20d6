# SPDX-License-Identifier: GPL-2.0-or-later
"""What the VM and a provisioned machine get: a box, a kernel, modules, containerlab, an image, JupyterLab."""

from pathlib import Path

FOLDER = Path(__file__).parent  # of package lists and locks
