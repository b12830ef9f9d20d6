# SPDX-License-Identifier: GPL-2.0-or-later
"""The bundle: one file with everything that the lab builds or downloads, for places without network and rights."""
