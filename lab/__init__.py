# SPDX-License-Identifier: GPL-2.0-or-later
"""An emulation lab that asks: does this sender leave slow start at the right moment?"""
