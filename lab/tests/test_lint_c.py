# SPDX-License-Identifier: GPL-2.0-or-later
"""The C of the modules is clean for the kernel's own checkers."""

from lab.kernel import lint
from lab.kernel.build import Kernel


def test_checkpatch_has_no_complaint(kernel: Kernel) -> None:
    assert lint.checkpatch(kernel) == []


def test_gcc_with_all_of_the_kernels_warnings_and_sparse_have_no_complaint(kernel: Kernel) -> None:
    assert lint.compilers(kernel) == []
